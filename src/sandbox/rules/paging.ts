import { invalid } from "./values.ts";

const readWhole = (query: URLSearchParams, name: string, fallback: number): number => {
  const text = query.get(name);
  if (text === null) return fallback;
  if (!/^\d{1,15}$/.test(text)) throw invalid(name, "must be a whole number");
  return Number(text);
};

/** Reads `skip` (default 0) and `limit` (1 to 200, default 50). @throws Refusal 400 */
export const readPaging = (query: URLSearchParams): { readonly skip: number; readonly limit: number } => {
  const skip = readWhole(query, "skip", 0);
  const limit = readWhole(query, "limit", 50);
  if (limit < 1 || limit > 200) throw invalid("limit", "must be from 1 to 200");
  return { skip, limit };
};

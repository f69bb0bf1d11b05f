import { createRequire } from "node:module";
import { tokenIn } from "./keys.ts";

/**
 * MSW handlers, typed to fit `setupServer` and `setupWorker` of any version. With MSW's own type, this package's types
 * would not compile unless msw is installed.
 */
export type MswHandlers = never[];

const load = (): typeof import("msw") => {
  // The CommonJS build has no import.meta, and the ESM build no __filename.
  const here = typeof __filename === "string" ? __filename : import.meta.url;
  try {
    // `require` is untyped.
    return createRequire(here)("msw") as typeof import("msw");
  } catch (cause) {
    throw new Error("sandbox.handlers needs the package msw, version 2 or 3: npm install --save-dev msw", {
      cause,
    });
  }
};

/** Creates request handlers that call the sandbox. Loads msw only when called. */
export const createHandlers = (
  sandboxFetch: typeof fetch,
  baseUrl: string | undefined,
  hasKey: (key: string) => boolean,
): MswHandlers => {
  const { http } = load();
  // Other services may have the same paths.
  const isOwn = ({ url, headers }: Request): boolean =>
    baseUrl === undefined
      ? hasKey(tokenIn(headers.get("authorization") ?? undefined) ?? "")
      : url.startsWith(`${new URL(baseUrl).href.replace(/\/$/, "")}/api/v1/`);
  const handler = http.all("*/api/v1/*", async ({ request }) => {
    try {
      return await sandboxFetch(request);
    } catch (error) {
      // MSW can only report a failed network.
      if (error instanceof TypeError) return Response.error();
      throw error;
    }
  });
  // MSW sends a request to the network if a handler matches it without a response, so the handler must not match it.
  const { predicate } = handler;
  handler.predicate = async (matched) => isOwn(matched.request) && predicate.call(handler, matched);
  const handlers: unknown[] = [handler];
  // The comment on MswHandlers explains this cast.
  return handlers as MswHandlers;
};

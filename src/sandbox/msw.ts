import { createRequire } from "node:module";
import { tokenIn } from "./keys.ts";

/**
 * MSW handlers, typed to fit `setupServer` and `setupWorker` of any version: named by its own type, msw would have
 * to be installed for this package's types to be read at all.
 */
export type MswHandlers = never[];

const load = (): typeof import("msw") => {
  // The CommonJS build has no import.meta, and the ESM build no __filename.
  const here = typeof __filename === "string" ? __filename : import.meta.url;
  try {
    // `require` has no types; this is the module of that name.
    return createRequire(here)("msw") as typeof import("msw");
  } catch (cause) {
    throw new Error("sandbox.handlers needs the package msw, version 2: npm install --save-dev msw", {
      cause,
    });
  }
};

/** Whether MSW can stand in for this error: it has one way to say that the network failed. */
const isNetworkFailure = (error: unknown): boolean => error instanceof TypeError;

/** Tells the service's requests from those of others, whose paths may look the same: by where they go, or by their key. */
export const isOwnRequest = (
  { url, headers }: Request,
  baseUrl: string | undefined,
  keys: ReadonlyMap<string, unknown>,
): boolean => {
  if (baseUrl !== undefined) return url.startsWith(`${new URL(baseUrl).href.replace(/\/$/, "")}/api/v1/`);
  return keys.has(tokenIn(headers.get("authorization") ?? undefined) ?? "");
};

/** Request handlers that lead to the sandbox; msw is loaded here, not with the module. */
export const createHandlers = (
  sandboxFetch: typeof fetch,
  isOwn: (request: Request) => boolean,
): MswHandlers => {
  const { http } = load();
  const handlers: unknown[] = [
    http.all("*/api/v1/*", async ({ request }) => {
      // Nothing returned: the next handler is asked.
      if (!isOwn(request)) return;
      try {
        return await sandboxFetch(request);
      } catch (error) {
        if (isNetworkFailure(error)) return Response.error();
        throw error;
      }
    }),
  ];
  // See MswHandlers.
  return handlers as MswHandlers;
};

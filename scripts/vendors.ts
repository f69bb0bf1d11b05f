import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";
import { transportName } from "./entries.ts";

/** The packages that are compiled into `dist/`, with what they bring along; all others stay outside. */
export const bundled: readonly string[] = ["undici", "zod", "p-retry", "is-network-error", "bottleneck"];

/** Matches an import of a bundled package, or of a file in it. */
export const bundledImport = new RegExp(`^(${bundled.join("|")})(/|$)`);

/**
 * Gives the bundled zod an object of its own in place of `globalThis`: importing the package then changes nothing
 * there, and the host's `z.config` does not reach into our checks.
 */
export const ownGlobals: Plugin = {
  name: "own-globals",
  setup: (build) => {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]core[\\/](core|registries)\.js$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      return { contents: `const ownGlobals = {};\n${source.replaceAll("globalThis", "ownGlobals")}` };
    });
  },
};

interface Part {
  /** Its file in undici. */
  readonly filter: RegExp;
  /** What takes its place. */
  readonly contents: string;
}

const unused: readonly Part[] = [
  // The library turns HTTP/2 off.
  {
    filter: /undici[\\/]lib[\\/]dispatcher[\\/]client-h2\.js$/,
    contents: 'module.exports = () => { throw new Error("HTTP/2 is off"); };',
  },
  // A proxy speaks HTTP: any other URL is refused.
  {
    filter: /undici[\\/]lib[\\/]dispatcher[\\/]socks5-proxy-agent\.js$/,
    contents: 'module.exports = () => { throw new Error("SOCKS is off"); };',
  },
  // Reads forms and blobs as bodies; the library sends text.
  {
    filter: /undici[\\/]lib[\\/]web[\\/]fetch[\\/]body\.js$/,
    contents: 'exports.extractBody = () => { throw new TypeError("A body is text"); };',
  },
];

// What undici asks of Node's own modules, where that is less than loading them.
const standIns: Readonly<Record<string, string>> = {
  // The largest size of an answer's headers, which is Node's own, and the class of old streams.
  http: "{ maxHeaderSize: 16384, IncomingMessage: class {} }",
  assert:
    '((holds, message) => { if (!holds) throw new Error(message ?? "undici met an impossible state"); })',
};

const lean = (source: string): string =>
  source.replace(/require\('node:(http|assert)'\)/g, (whole, name: string) => standIns[name] ?? whole);

/**
 * Any client has to read past an interim answer that it did not ask for (RFC 9110, 15.2), and some servers send
 * `100 Continue` to every POST; undici reads past all others and breaks the connection for this one.
 */
const withoutRefusalOf100 = (source: string): string => {
  const refusal = /if \(statusCode === 100\) \{[^}]*\}/;
  if (!refusal.test(source))
    throw new Error("client-h1.js of undici refuses 100 Continue in another way now");
  return source.replace(refusal, "");
};

/** Leaves out of the bundle what the library never reaches of undici: together a tenth of a first call's cost. */
export const leanUndici: Plugin = {
  name: "lean-undici",
  setup: ({ onLoad }) => {
    for (const { filter, contents } of unused) onLoad({ filter }, () => ({ contents, loader: "js" }));
    onLoad({ filter: /[\\/]undici[\\/]lib[\\/].*\.js$/ }, async ({ path }) => {
      const contents = lean(await readFile(path, "utf8"));
      return {
        contents: path.endsWith("client-h1.js") ? withoutRefusalOf100(contents) : contents,
        loader: "js",
      };
    });
  },
};

// Each step of a job waits for a timer of 0 ms, and when the wall clock is set back, for the time until it catches up.
const ownTimers = `
const setTimeout = (callback) => {
  const timer = { callback };
  void Promise.resolve().then(() => timer.callback());
  return timer;
};
const clearTimeout = (timer) => {
  if (timer) timer.callback = () => {};
};
const module = { exports: {} };
const { exports } = module;
`;

/** Matches the file of bottleneck that is bundled. */
export const bottleneckFile = /[\\/]bottleneck[\\/]light\.js$/;

/**
 * Makes bottleneck a module with timers of its own: its jobs follow one another without a wait, whatever happens to the
 * wall clock, and fake timers of a user's test do not hold them.
 */
export const withOwnTimers = (source: string): string =>
  `${ownTimers}${source}\nexport default module.exports;\n`;

export const timelessBottleneck: Plugin = {
  name: "timeless-bottleneck",
  setup: ({ onLoad }) =>
    onLoad({ filter: bottleneckFile }, async ({ path }) => ({
      contents: withOwnTimers(await readFile(path, "utf8")),
      loader: "js",
    })),
};

/** Leaves it to `imports` in package.json which transport is loaded: a bundle for workerd then holds nothing of undici. */
export const transportByCondition: Plugin = {
  name: "transport-by-condition",
  setup: ({ onResolve }) => {
    onResolve({ filter: /\/transport\/undici\.ts$/ }, ({ kind }) =>
      kind === "dynamic-import" ? { path: transportName, external: true } : undefined,
    );
  },
};

import type { Plugin } from "esbuild";

/**
 * Leaves undici's HTTP/2 client out of the bundle: the library turns HTTP/2 off, and loading Node's own part of it
 * would cost a tenth of a first call.
 */
export const noHttp2: Plugin = {
  name: "no-http2",
  setup: ({ onLoad }) => {
    const contents = 'module.exports = () => { throw new Error("HTTP/2 is off"); };';
    onLoad({ filter: /undici[\\/]lib[\\/]dispatcher[\\/]client-h2\.js$/ }, () => ({
      contents,
      loader: "js",
    }));
  },
};

// Needs the program: varnishd
import { varnish } from "./support/programs.ts";
import { walkBehind } from "./support/suite.ts";

walkBehind(varnish, {
  lost: ["ServiceUnavailableError", 503],
  refused: ["ServiceUnavailableError", 503],
  stalled: ["ServiceUnavailableError", 503],
  // Whether it had begun to pass the response on.
  cut: [
    ["ConnectionError", undefined],
    ["ServiceUnavailableError", 503],
  ],
  large: ["sent", 200],
});

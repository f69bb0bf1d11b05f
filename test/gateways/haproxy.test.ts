// Needs the program: haproxy
import { haproxy } from "./support/programs.ts";
import { walkBehind } from "./support/suite.ts";

walkBehind(haproxy, {
  lost: ["BadGatewayError", 502],
  refused: ["ServiceUnavailableError", 503],
  stalled: ["GatewayTimeoutError", 504],
  large: ["sent", 200],
});

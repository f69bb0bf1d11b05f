// Needs the program: caddy
import { caddy } from "./support/programs.ts";
import { walkBehind } from "./support/suite.ts";

walkBehind(caddy, {
  lost: ["BadGatewayError", 502],
  refused: ["BadGatewayError", 502],
  stalled: ["GatewayTimeoutError", 504],
  large: ["BadGatewayError", 502],
});

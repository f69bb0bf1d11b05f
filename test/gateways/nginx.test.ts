// Needs the program: nginx
import { nginx } from "./support/programs.ts";
import { walkBehind } from "./support/suite.ts";

walkBehind(nginx, {
  lost: ["BadGatewayError", 502],
  refused: ["BadGatewayError", 502],
  stalled: ["GatewayTimeoutError", 504],
  large: ["ApiError", 413],
});

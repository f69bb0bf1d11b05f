// Needs the program: squid
import { squid } from "./support/programs.ts";
import { walkBehind } from "./support/suite.ts";

walkBehind(squid, {
  lost: ["BadGatewayError", 502],
  refused: ["ServiceUnavailableError", 503],
  stalled: ["GatewayTimeoutError", 504],
  large: ["sent", 200],
});

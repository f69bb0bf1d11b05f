// Needs the program: apache2
import { apache } from "./support/programs.ts";
import { walkBehind } from "./support/suite.ts";

walkBehind(apache, {
  lost: ["BadGatewayError", 502],
  refused: ["ServiceUnavailableError", 503],
  stalled: ["BadGatewayError", 502],
  large: ["sent", 200],
});

import { expect, test } from "vitest";
import { jsonProblem } from "../../../src/files/read-ndjson.ts";

test.each([
  [`Unexpected token 'a', "ann@example.com" is not valid JSON`, "Unexpected token 'a'"],
  [`Unexpected token 'x', ..."n@example.com" x\n"... is not valid JSON`, "Unexpected token 'x'"],
  [`Unexpected token ',', "[,]" is not valid JSON`, "Unexpected token ','"],
  [
    "Unterminated string in JSON at position 3 (line 1 column 4)",
    "Unterminated string in JSON at position 3",
  ],
  ["Unexpected end of JSON input", "Unexpected end of JSON input"],
])("%s", (message, problem) => {
  expect(jsonProblem(message)).toBe(problem);
});

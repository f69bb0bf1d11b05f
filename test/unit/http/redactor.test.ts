import { expect, test } from "vitest";
import { Redactor } from "../../../src/http/auth.ts";

const key = "tp_live/a+b=&'c\"<d>\\e";
const inHtml = (byNumber: boolean): string =>
  key.replace(/[^A-Za-z0-9]/g, (sign) =>
    byNumber ? `&#${sign.charCodeAt(0)};` : `&#x${sign.charCodeAt(0).toString(16)};`,
  );

test.each([
  ["as it is", key],
  ["in JSON", JSON.stringify(key).slice(1, -1)],
  ["in JSON with escaped slashes", JSON.stringify(key).slice(1, -1).replaceAll("/", "\\/")],
  [
    "in JSON with code points",
    key.replace(/[^A-Za-z0-9]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`),
  ],
  ["in a URL", encodeURIComponent(key)],
  ["in a form", new URLSearchParams({ key }).toString().slice("key=".length)],
  ["in HTML by decimal references", inHtml(true)],
  ["in HTML by hexadecimal references", inHtml(false)],
  [
    "in HTML by names",
    key
      .replaceAll("&", "&amp;")
      .replaceAll('"', "&quot;")
      .replaceAll("'", "&#39;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;"),
  ],
])("a key that comes back %s is removed", (_, form) => {
  const redactor = new Redactor();
  redactor.learn(key);
  expect(redactor.text(`the key ${form} is unknown`)).toBe("the key [redacted] is unknown");
});

test("a key is still removed after ninety others", () => {
  const redactor = new Redactor();
  for (let at = 0; at <= 90; at += 1) redactor.learn(`rotated-key-${at}`);
  expect(redactor.text("rotated-key-0, rotated-key-90!")).toBe("[redacted], [redacted]!");
});

test("what is not the key stays", () => {
  const redactor = new Redactor();
  redactor.learn("short");
  expect(redactor.text("a short sentence; Bearer short")).toBe("a short sentence; Bearer [redacted]");
});

import { expect, test } from "vitest";
import { proxyRoute } from "../../../src/options/proxy.ts";

const [upper, lower, secure] = ["http://upper:1", "http://lower:1", "http://secure:1"];

const routeFor = (
  given: unknown,
  env: Readonly<Record<string, string>>,
  origin = "https://service.test",
): unknown => {
  const faults: string[] = [];
  const route = proxyRoute(given, { origin, environment: env }, faults);
  return faults.length > 0 ? faults : route;
};

const direct = { proxy: undefined, noProxy: "" };
const through = (proxy: string, noProxy = ""): object => ({ proxy, noProxy });

test.each<[string, unknown, Readonly<Record<string, string>>, unknown]>([
  ["https takes its own", "env", { HTTP_PROXY: upper, HTTPS_PROXY: secure }, through(secure)],
  ["https takes that of http where it has none", "env", { HTTP_PROXY: upper }, through(upper)],
  ["lower case goes first", "env", { HTTPS_PROXY: upper, https_proxy: lower }, through(lower)],
  ["an empty variable is none", "env", { HTTPS_PROXY: "" }, direct],
  ["NO_PROXY goes with it", "env", { HTTPS_PROXY: upper, NO_PROXY: "a,b" }, through(upper, "a,b")],
  ["a URL does not look at NO_PROXY", upper, { HTTPS_PROXY: secure, NO_PROXY: "*" }, through(upper)],
  ["nothing is taken unasked", undefined, { HTTPS_PROXY: upper }, direct],
  ["unless Node takes it", undefined, { HTTPS_PROXY: upper, NODE_USE_ENV_PROXY: "1" }, through(upper)],
  ["which it does for 1 only", undefined, { HTTPS_PROXY: upper, NODE_USE_ENV_PROXY: "0" }, direct],
  [
    "a variable that is no URL is named, not shown",
    "env",
    { HTTPS_PROXY: "me:secret@proxy:3128" },
    [
      "HTTPS_PROXY must be the URL of a proxy, http://host:port or https://host:port; a user name and password before the host must be percent-encoded",
    ],
  ],
])("%s", (_rule, given, env, expected) => {
  expect(routeFor(given, env)).toEqual(expected);
});

test("plain http takes the proxy of http, and to this machine none", () => {
  const env = { HTTP_PROXY: upper, HTTPS_PROXY: secure };
  expect(routeFor("env", env, "http://service.test")).toEqual(through(upper));
  for (const host of ["localhost", "127.0.0.1:4010", "[::1]"])
    for (const given of ["env", upper]) expect(routeFor(given, env, `http://${host}`)).toEqual(direct);
  expect(routeFor("env", env, "https://localhost")).toEqual(through(secure));
});

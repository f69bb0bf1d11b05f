import { expect, test } from "vitest";
import { proxyFor } from "../../../src/options/proxy.ts";

const [upper, lower, secure] = ["http://upper:1", "http://lower:1", "http://secure:1"];

const routeFor = (
  given: unknown,
  env: Readonly<Record<string, string>>,
  origin = "https://service.test",
): unknown => {
  const faults: string[] = [];
  const route = proxyFor(given, { origin, environment: env }, faults);
  return faults.length > 0 ? faults : route;
};

test.each<[string, unknown, Readonly<Record<string, string>>, unknown]>([
  ["https takes its own", "env", { HTTP_PROXY: upper, HTTPS_PROXY: secure }, secure],
  ["https takes that of http where it has none", "env", { HTTP_PROXY: upper }, upper],
  ["lower case goes first", "env", { HTTPS_PROXY: upper, https_proxy: lower }, lower],
  ["an empty variable is none", "env", { HTTPS_PROXY: "" }, undefined],
  ["NO_PROXY with other hosts", "env", { HTTPS_PROXY: upper, NO_PROXY: "a,vice.test" }, upper],
  ["a URL does not look at NO_PROXY", upper, { HTTPS_PROXY: secure, NO_PROXY: "*" }, upper],
  ["nothing is taken unasked", undefined, { HTTPS_PROXY: upper }, undefined],
  ["unless Node takes it", undefined, { HTTPS_PROXY: upper, NODE_USE_ENV_PROXY: "1" }, upper],
  ["which it does for 1 only", undefined, { HTTPS_PROXY: upper, NODE_USE_ENV_PROXY: "0" }, undefined],
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
  expect(routeFor("env", env, "http://service.test")).toEqual(upper);
  for (const host of ["localhost", "127.0.0.1:4010", "[::1]"])
    for (const given of ["env", upper]) expect(routeFor(given, env, `http://${host}`)).toBeUndefined();
  expect(routeFor("env", env, "https://localhost")).toEqual(secure);
});

test.each<[string, boolean]>([
  ["service.test", true],
  ["SERVICE.TEST", true],
  [".test", true],
  ["*.test", true],
  ["other.test, service.test", true],
  ["other.test service.test", true],
  ["*", true],
  ["service.test:443", true],
  ["service.test:8443", false],
  ["vice.test", false],
  ["a.service.test", false],
  ["", false],
  [".", false],
])("NO_PROXY=%s excludes the service: %s", (noProxy, isExcluded) => {
  const env = { HTTPS_PROXY: upper, NO_PROXY: noProxy };
  expect(routeFor("env", env)).toBe(isExcluded ? undefined : upper);
});

test("NO_PROXY excludes an IPv6 address in brackets", () => {
  const env = { HTTPS_PROXY: upper, NO_PROXY: "[2001:db8::1]:8443" };
  expect(routeFor("env", env, "https://[2001:db8::1]:8443")).toBeUndefined();
  expect(routeFor("env", env, "https://[2001:db8::1]")).toBe(upper);
});

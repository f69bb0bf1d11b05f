import { expect, onTestFinished, test } from "vitest";
import { Client, ConfigurationError, fileLedger, memoryLedger, ValidationError } from "../../../src/index.ts";
import { documentedLimits } from "../../../src/options/limits.ts";

// What JavaScript lets through, and the types do not.
const loose = (value: unknown): never => value as never;

const make = (options: object) => () =>
  new Client(loose({ apiKey: "key", baseUrl: "https://service.test", ...options }));

const hooks = "onRequest, onResponse, onRetry, onWait, onValidationIssue";
const plainHeaders = "headers must be a plain object of strings";
const plainLimits = "limits must be a plain object, or false";
const noNumbers = "limits.numbers must be a plain object with every limit";

test.each<[object, string]>([
  [{ headers: new Headers({ "x-a": "1" }) }, `${plainHeaders}: pass Object.fromEntries(headers)`],
  [{ headers: new Map([["x-a", "1"]]) }, `${plainHeaders}: pass Object.fromEntries(headers)`],
  [{ headers: [["x-a", "1"]] }, `${plainHeaders}: pass Object.fromEntries(headers)`],
  [{ headers: null }, plainHeaders],
  [
    { hooks: { onRetrys: () => undefined } },
    `hooks: there is no option "onRetrys" (did you mean "onRetry"?); the options are ${hooks}`,
  ],
  [{ hooks: { onRetry: 1 } }, "hooks.onRetry must be a function"],
  [{ hooks: 5 }, `hooks must be an object of functions: ${hooks}`],
  [{ hooks: null }, `hooks must be an object of functions: ${hooks}`],
  [{ hooks: new Map() }, `hooks must be an object of functions: ${hooks}`],
  [{ limits: null }, plainLimits],
  [{ limits: new Map() }, plainLimits],
  [{ limits: [] }, plainLimits],
  [
    { limits: { constructor: 1 } },
    'limits: there is no option "constructor"; the options are requests, requestsPerDay, emails',
  ],
  [
    { limits: { requests: { max: 1, windowMs: 1, foo: 1 } } },
    'limits.requests: there is no option "foo"; the options are max, windowMs',
  ],
  [{ limits: { events: null } }, "limits.events must be { max, windowMs }"],
  [{ limits: { events: undefined } }, "limits.events must be { max, windowMs }"],
  [{ limits: { events: { max: 1 } } }, "limits.events.windowMs must be a number above 0, got undefined"],
  [
    { limits: { events: { max: 1, windowMs: "1" } } },
    'limits.events.windowMs must be a number above 0, got "1"',
  ],
  [
    { limits: { events: { max: 0, windowMs: 1 } } },
    "limits.events.max must be a whole number of at least 1, got 0",
  ],
  [
    { limits: { requestsPerDay: { max: 1, windowMs: 1 } } },
    "limits.requestsPerDay must be a whole number of at least 1, got an object",
  ],
  [{ limitScopes: null }, "limitScopes must be a plain object of names by limit"],
  [
    { limitScopes: { contacts: "a" } },
    'limitScopes: there is no option "contacts"; the options are requests, emails, events',
  ],
  [{ limitScopes: { events: "" } }, 'limitScopes.events must be a non-empty string, got ""'],
  [{ limits: { open: 1 } }, 'limits: there is no option "open"; the options are'],
  [{ limits: { open: () => undefined } }, noNumbers],
  [
    { limits: { open: () => undefined, numbers: {} } },
    "limits.numbers.requests must be { max, windowMs }; limits.numbers.requestsPerDay must be a whole number of " +
      "at least 1, got undefined; limits.numbers.emails must be { max, windowMs }; limits.numbers.emailsPerDay",
  ],
  [
    { limits: { open: () => undefined, numbers: { ...documentedLimits, requests: 1, emials: 1 } } },
    'limits.numbers: there is no option "emials" (did you mean "emails"?); the options are requests, requestsPerDay, ' +
      "emails, emailsPerDay, events, eventsPerDay; limits.numbers.requests must be { max, windowMs }",
  ],
  [{ limits: { open: () => undefined, numbers: new (class extends Object {})() } }, noNumbers],
  [{ routes: null }, "routes must be a plain object of paths by operation id"],
  [{ routes: new Map() }, "routes must be a plain object of paths by operation id"],
  [{ dispatcher: null }, "dispatcher must be an undici Dispatcher"],
  ...[5, "", "proxy.internal:3128", "socks5://127.0.0.1", "http://"].map((proxy): [object, string] => [
    { proxy },
    'proxy must be "env" or the URL of a proxy, http://host:port or https://host:port',
  ]),
  [{ proxy: "http://100%:me@127.0.0.1" }, "a user name and password before the host must be percent-encoded"],
  [{ proxy: "http://me%:20@127.0.0.1" }, "a user name and password before the host must be percent-encoded"],
  [
    { responseValidation: "strickt" },
    'responseValidation must be "warn", "strict" or "off", got "strickt" (did you mean "strict"?)',
  ],
  [{ responseValidation: 5 }, 'responseValidation must be "warn", "strict" or "off", got 5'],
  [{ logger: null }, "logger must have debug, info, warn and error, like console"],
  [{ ledger: null }, "ledger must be memoryLedger(), fileLedger(path), or an object with claim and settle"],
  [{ fetch: null }, "fetch must be a function"],
  [{ logLevel: null }, 'logLevel must be "debug", "info", "warn", "error" or "silent", got null'],
  [{ responseValidation: Object.create(null) }, 'must be "warn", "strict" or "off", got an object'],
  [{ concurrency: Object.create(null) }, "concurrency must be a whole number of at least 1, got an object"],
  [{ allowInsecureHttp: "yes" }, 'allowInsecureHttp must be true or false, got "yes"'],
  [{ dangerouslyAllowBrowser: 1 }, "dangerouslyAllowBrowser must be true or false, got 1"],
])("the options %o are refused, in one error with every other fault", (options, message) => {
  expect(make({ ...options, timeoutMs: 0, foo: 1 })).toThrow(ConfigurationError);
  expect(make({ ...options, timeoutMs: 0, foo: 1 })).toThrow(message);
  expect(make({ ...options, timeoutMs: 0, foo: 1 })).toThrow('there is no option "foo"; timeoutMs must be');
});

test("hooks and a logger that are instances of a class are taken", () => {
  class Watcher {
    count = 0;
    onRetry(): void {}
    debug(): void {}
    info(): void {}
    warn(): void {}
    error(): void {}
  }
  expect(make({ hooks: new Watcher(), logger: new Watcher() })).not.toThrow();
});

test("headers that hide what they hold are refused by a call as well, and nothing is sent", async () => {
  const client = new Client({
    apiKey: "key",
    baseUrl: "https://service.test",
    fetch: async () => Response.json({ data: [], total: 0 }),
  });
  const call = client.contacts.list({}, loose({ headers: new Headers({ "x-a": "1" }) }));
  await expect(call).rejects.toThrow(ValidationError);
  await expect(call).rejects.toThrow(`contacts.list: ${plainHeaders}: pass Object.fromEntries(headers)`);
});

test.each(["welcome:42", 5, true])(
  "options that are %j and no object are refused, and nothing is sent",
  async (given) => {
    let sent = 0;
    const fetch = async () => Response.json({ data: [], total: sent++ });
    const client = new Client({ apiKey: "key", baseUrl: "https://service.test", fetch });
    const { contacts, events, emails } = client;
    const [email, contact] = [{ to: "a@x.test", subject: "s", text: "t" }, { email: "a@x.test" }];
    const options = loose(given);
    const calls = [
      () => contacts.create(contact, options),
      () => contacts.list({}, options),
      () => contacts.import([], options),
      () => events.ingest([], options),
      () => emails.send(email, options),
      async () => events.recorder(options),
    ];
    for (const call of calls) await expect(call()).rejects.toThrow(/options:? must be an object/);
    expect(sent).toBe(0);
  },
);

test.each(["", 5, undefined])("fileLedger refuses %j for a path", (path) => {
  const message = `fileLedger: path must be a non-empty string, got ${JSON.stringify(path)}`;
  expect(() => fileLedger(loose(path))).toThrow(new ConfigurationError(message));
});

test("what is given to a ledger as options is refused at once", () => {
  const message =
    "it takes no options here. Leave the last argument out, or pass a clock: an object with a wallTime() method";
  const both = `fileLedger: path must be a non-empty string, got 5; ${message}`;
  expect(() => fileLedger(loose(5), loose({ prefix: "sent:" }))).toThrow(new ConfigurationError(both));
  expect(() => memoryLedger(loose({}))).toThrow(new ConfigurationError(`memoryLedger: ${message}`));
});

test("a process without Headers is refused before anything is sent, because responses need them", () => {
  const headers = Object.getOwnPropertyDescriptor(globalThis, "Headers") ?? {};
  Reflect.deleteProperty(globalThis, "Headers");
  onTestFinished(() => void Object.defineProperty(globalThis, "Headers", headers));
  expect(make({})).toThrow("this process has no global Headers: start Node without --no-experimental-fetch");
});

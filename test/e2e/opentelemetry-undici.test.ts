import {
  UndiciInstrumentation,
  type UndiciInstrumentationConfig,
} from "@opentelemetry/instrumentation-undici";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Client } from "../../src/index.ts";
import { createSandbox, type Listening } from "../../src/sandbox/index.ts";

const ada = "ada@example.com";
let server: Listening;

beforeEach(async () => {
  server = await createSandbox({ apiKeys: ["key"] }).listen();
});
afterEach(() => server.close());

/** The attributes of the spans that OpenTelemetry's own instrumentation of undici makes of a search. */
const seen = async (config: UndiciInstrumentationConfig): Promise<readonly object[]> => {
  const spans = new InMemorySpanExporter();
  const instrumentation = new UndiciInstrumentation(config);
  instrumentation.setTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }),
  );
  try {
    await using client = new Client({ apiKey: "key", baseUrl: server.url });
    await client.contacts.find(ada);
  } finally {
    instrumentation.disable();
  }
  return spans.getFinishedSpans().map(({ attributes }) => attributes);
};

test("it shows the query of a search, and with it the address", async () => {
  const query = expect.stringContaining("search=ada%40example.com");
  expect(await seen({})).toMatchObject([{ "url.full": query, "url.query": query }]);
});

test("the hook in the guide keeps the query out", async () => {
  const spans = await seen({
    startSpanHook: ({ origin, path }) => ({
      "url.full": origin + (path.split("?")[0] ?? ""),
      "url.query": "",
    }),
  });
  expect(spans).toMatchObject([{ "url.full": `${server.url}/api/v1/contacts`, "url.query": "" }]);
  expect(JSON.stringify(spans)).not.toMatch(/ada/);
});

test("the other hook in the guide leaves the client out", async () => {
  expect(await seen({ ignoreRequestHook: ({ origin }) => origin === server.url })).toEqual([]);
});

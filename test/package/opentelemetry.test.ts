import { cp } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { strict } from "./support/consumer.ts";
import { root, run, type Scratch, scratch } from "./support/scratch.ts";

let project: Scratch;
beforeAll(async () => {
  const linked = ["typescript", "@types/node", "undici-types"];
  project = await scratch([...linked, "@opentelemetry/api", "@opentelemetry/sdk-trace-base"]);
  // This project needs its own copy: from its folder, the installed package does not find the optional peer.
  await cp(project.installed, join(project.folder, "node_modules/touchpoint-sdk"), { recursive: true });
});
afterAll(() => project.remove());

test.each([
  [
    "mjs",
    `import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
     import { Client } from "touchpoint-sdk";
     import { instrument } from "touchpoint-sdk/opentelemetry";`,
  ],
  [
    "cjs",
    `const { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } = require("@opentelemetry/sdk-trace-base");
     const { Client } = require("touchpoint-sdk");
     const { instrument } = require("touchpoint-sdk/opentelemetry");`,
  ],
])("one line traces the calls of a program (%s)", async (kind, load) => {
  const program = `${load}
    const spans = new InMemorySpanExporter();
    const spanProcessors = [new SimpleSpanProcessor(spans)];
    instrument({ tracerProvider: new BasicTracerProvider({ spanProcessors }) });
    const fetch = async () => Response.json({ data: [], total: 0 });
    const client = new Client({ apiKey: "tp_key", baseUrl: "http://localhost", fetch });
    client.contacts.list().then(() => {
      const [attempt, call] = spans.getFinishedSpans();
      const isBelow = attempt.parentSpanContext.spanId === call.spanContext().spanId;
      console.log(call.name, isBelow ? "above" : "beside", attempt.name);
    });
  `;
  expect(await project.node(`traced.${kind}`, program)).toEqual({
    code: 0,
    stdout: "contacts.list above GET /api/v1/contacts",
    stderr: "",
  });
});

test("its types compile, and reject a misspelt option", async () => {
  const program = `
    import { metrics, trace } from "@opentelemetry/api";
    import { instrument } from "touchpoint-sdk/opentelemetry";

    export const stop: () => void = instrument();
    instrument({ tracerProvider: trace.getTracerProvider(), meterProvider: metrics.getMeterProvider() });
    // @ts-expect-error a misspelt option
    instrument({ tracer: undefined });
  `;
  await Promise.all([project.write("traced.mts", program), project.write("traced.cts", program)]);
  const compilerOptions = { ...strict, module: "node16", moduleResolution: "node16", types: ["node"] };
  const tsconfig = { compilerOptions, files: ["traced.mts", "traced.cts"] };
  await project.write("tsconfig.json", JSON.stringify(tsconfig));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  expect(await run(process.execPath, [tsc, "-p", "."], project.folder)).toEqual({
    code: 0,
    stdout: "",
    stderr: "",
  });
});

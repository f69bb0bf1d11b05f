// One span for each call, one below it for each attempt, through Node's tracing channels.
import { tracingChannel } from "node:diagnostics_channel";
import { type Span, SpanStatusCode, trace } from "@opentelemetry/api";
import { BasicTracerProvider, ConsoleSpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { Client } from "touchpoint-sdk";

const exporter = new SimpleSpanProcessor(new ConsoleSpanExporter());
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [exporter] }));
const tracer = trace.getTracer("touchpoint");
const spans = new WeakMap<object, Span>();

for (const name of ["touchpoint:call", "touchpoint:attempt"]) {
  tracingChannel<object, { operation: string; error?: unknown; status?: number }>(name).subscribe({
    start: (call) => void spans.set(call, tracer.startSpan(`${name} ${call.operation}`)),
    end: () => undefined,
    asyncStart: () => undefined,
    error: (call) =>
      void spans.get(call)?.setStatus({ code: SpanStatusCode.ERROR, message: String(call.error) }),
    asyncEnd: (call) => {
      const { operation, status, ...rest } = call;
      spans
        .get(call)
        ?.setAttributes({ operation, ...(status && { status }), fields: Object.keys(rest) })
        .end();
    },
  });
}

await using client = new Client();
await client.contacts.upsert({ email: "ada@example.com", name: "Ada" });

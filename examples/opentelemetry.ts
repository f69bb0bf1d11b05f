// Prints a span for each call, a child span for each attempt, and metrics to the console.
import {
  ConsoleMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, ConsoleSpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { Client } from "touchpoint-sdk";
import { instrument } from "touchpoint-sdk/opentelemetry";

const tracerProvider = new BasicTracerProvider({
  spanProcessors: [new SimpleSpanProcessor(new ConsoleSpanExporter())],
});
const meterProvider = new MeterProvider({
  readers: [new PeriodicExportingMetricReader({ exporter: new ConsoleMetricExporter() })],
});
instrument({ tracerProvider, meterProvider }); // without arguments, it uses the global providers

await using client = new Client();
await client.contacts.upsert({ email: "ada@example.com", name: "Ada" });
await meterProvider.shutdown(); // exports the remaining metrics

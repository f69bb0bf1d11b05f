// Writes examples/demo/events.ndjson anew: npx tsx examples/demo/make-events.ts
import { writeFile } from "node:fs/promises";
import { makeLines } from "./events.ts";

await writeFile(new URL("events.ndjson", import.meta.url), `${makeLines().join("\n")}\n`);

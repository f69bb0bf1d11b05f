import { once } from "node:events";
import { asUsage, type CliCommand, countOf, exitCode, listOf, print } from "./command.ts";
import { limitsOf, limitsOption } from "./connect.ts";
import { grouped, shellWord } from "./terminal.ts";

const defaults = { port: 4010, key: "sandbox-key", contacts: 0 };

export const sandbox: CliCommand = {
  name: "sandbox",
  about:
    "Serves the entire service from memory on this machine, until Ctrl+C. Nothing is stored.\n" +
    "It enforces the documented rate limits. The client stays within them without any setup. On the page at /,\n" +
    "you can see the requests, make calls fail and advance the clock.",
  example: "touchpoint sandbox --contacts 1000",
  operands: [],
  options: {
    "-p, --port <n>": `the port; default ${defaults.port}; 0 for any free port`,
    "--host <address>":
      "the address to listen on; default 127.0.0.1, this machine only; 0.0.0.0 for all addresses, as in a container",
    "--allow-host <names>":
      "other host names that requests may use in their Host header, separated by commas",
    "--workbench":
      "serve the workbench, the page at /, even if --host lets other machines connect. Anyone who can connect can then read and change everything",
    "--key <text>": `the API key to accept; default ${defaults.key}`,
    "--contacts <n>": "the number of contacts to make up; default 0",
    "--load <file>":
      "start with the records of a snapshot file, written by sandbox.save or by the button Save snapshot",
    "--latency <ms>": "how long each response takes; default 0",
    ...limitsOption,
    "--json": "print the URL and the key as one line of JSON",
  },
  run: async (request) => {
    const port = countOf(request, "port", { least: 0, most: 65_535 }) ?? defaults.port;
    const contacts = countOf(request, "contacts", { least: 0, most: 1_000_000 }) ?? defaults.contacts;
    const { key = defaults.key, host, load: file } = request.values;
    const allowedHosts = listOf(request, "allow-host");
    const latencyMs = countOf(request, "latency", { least: 0, most: 3_600_000 }) ?? 0;
    const limits = await limitsOf(request);
    const { createSandbox } = await import("../sandbox/index.ts");
    const service = asUsage(() => createSandbox({ apiKeys: [key], latencyMs, limits }));
    if (file !== undefined) await service.load(file);
    service.seedContacts(contacts);
    const workbench = request.flags.has("workbench") || undefined;
    const { url, close } = await service.listen({ port, host, allowedHosts, workbench });
    const { length } = service.state.contacts;
    try {
      await print(
        request,
        { url, key, contacts: length },
        `Touchpoint sandbox at ${url} with ${grouped(length)} contacts. Press Ctrl+C to stop it.\n\n` +
          `export TOUCHPOINT_BASE_URL=${shellWord(url)}\nexport TOUCHPOINT_API_KEY=${shellWord(key)}\n`,
      );
      if (!request.interrupt.aborted) await once(request.interrupt, "abort");
    } finally {
      await close();
    }
    return exitCode.ok;
  },
};

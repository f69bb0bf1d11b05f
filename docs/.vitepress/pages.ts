/** A page that people write, by its path below `docs/`. */
export interface SitePage {
  readonly path: string;
  readonly title: string;
  /** One sentence for `llms.txt`. */
  readonly about: string;
}

/** The written pages in the order in which they are read: the side bar, `llms.txt` and the tests go by this list. */
export const sections: readonly { readonly text: string; readonly pages: readonly SitePage[] }[] = [
  {
    text: "Getting started",
    pages: [
      {
        path: "guide/first-call",
        title: "First call, without an account",
        about: "Install, start the sandbox, send an email and see it in the workbench.",
      },
      {
        path: "guide/quickstarts",
        title: "Next.js, Hono, Fastify, Express",
        about: "A sign-up route in each of four frameworks, with 429 and shutdown.",
      },
      {
        path: "guide/pagination",
        title: "Pagination and exports",
        about: "Iterate every contact once while others add and delete; resume; write CSV and NDJSON.",
      },
      {
        path: "guide/events",
        title: "Events and ingestion",
        about:
          "Record one, a batch, from request handlers, or a file of any size that can be killed and resumed.",
      },
      {
        path: "guide/contacts",
        title: "Contacts, companies, lists",
        about: "Create, find, update, upsert and import people; companies and list membership.",
      },
      {
        path: "guide/emails",
        title: "Emails",
        about: "Send, schedule, list, change, cancel; signatures, refused stages, tracking, errors.",
      },
      {
        path: "guide/sending-once",
        title: "Sending an email once",
        about: "once keys, ledgers, scheduled emails, and what to do when the outcome is unknown.",
      },
      {
        path: "guide/delivery-promises",
        title: "Delivery promises",
        about:
          "At most once, at least once or exactly once, for each call; what can break a promise, and how to detect it.",
      },
      {
        path: "guide/typed-workspace",
        title: "A typed workspace",
        about: "Types and checks for custom fields and events from any Standard Schema library.",
      },
    ],
  },
  {
    text: "In production",
    pages: [
      { path: "guide/errors", title: "Handling errors", about: "outcome, retries, timeouts and aborts." },
      {
        path: "guide/rate-limits",
        title: "Rate limits and priority",
        about: "The documented limits, waiting, 429s and budgets().",
      },
      {
        path: "guide/servers",
        title: "Servers and shutdown",
        about: "One client per process, recorders, graceful close.",
      },
      {
        path: "guide/key-rotation",
        title: "Rotate a key",
        about: "How to pass the key as a function, and what a rotation affects.",
      },
      {
        path: "guide/serverless",
        title: "Serverless",
        about: "Cold starts, one call per invocation, flush before the end.",
      },
      {
        path: "guide/fleets",
        title: "Fleets on one Redis",
        about: "Limits and send-once keys that many processes share.",
      },
      {
        path: "guide/sql",
        title: "Your own database",
        about: "Send-once keys, checkpoints and shared limits in PostgreSQL or SQLite.",
      },
      {
        path: "guide/jobs",
        title: "Job runners",
        about:
          "BullMQ, pg-boss, Inngest, Temporal, Trigger.dev: what to retry and what not to; the outbox pattern.",
      },
      {
        path: "guide/network",
        title: "Proxies and certificates",
        about: "HTTP proxies, private and client certificates, dispatchers, your own fetch.",
      },
      {
        path: "guide/opentelemetry",
        title: "OpenTelemetry and logs",
        about: "instrument(), tracing channels, hooks and loggers.",
      },
      {
        path: "guide/incremental-export",
        title: "Incremental export",
        about: "Only what has changed since the last export.",
      },
      {
        path: "guide/warehouse",
        title: "Copy contacts into a warehouse",
        about: "All contacts or only the changes, in PostgreSQL, DuckDB, dlt and Kafka.",
      },
    ],
  },
  {
    text: "Test and operate",
    pages: [
      {
        path: "guide/testing",
        title: "Testing",
        about: "The sandbox in process, MSW and fake timers; faults on demand.",
      },
      {
        path: "guide/workbench",
        title: "Sandbox and workbench",
        about: "The workbench, the controls over HTTP, and docker compose.",
      },
      {
        path: "guide/command-line",
        title: "Command line",
        about: "Every command of touchpoint, its progress and its exit codes.",
      },
      {
        path: "guide/glossary",
        title: "Glossary",
        about:
          "Other names for each term (retry, duplicate, webhook, lambda, cron, …), and what is not supported.",
      },
      { path: "guide/troubleshooting", title: "Troubleshooting", about: "Symptoms, causes and what to do." },
      {
        path: "guide/upgrading",
        title: "Upgrading",
        about: "Versions, and what counts as a breaking change.",
      },
    ],
  },
  {
    text: "Reference",
    pages: [
      {
        path: "guide/methods",
        title: "Methods and what they cost",
        about: "Every method with its requests, and client.request for any other path.",
      },
      {
        path: "guide/options",
        title: "Client options",
        about: "Every option of the client: access, limits, time, safety, network, hooks and logs.",
      },
      {
        path: "errors",
        title: "Error codes",
        about: "Every error class with its code, status, outcome and remedy.",
      },
      {
        path: "runtimes",
        title: "Runtimes and bundlers",
        about: "What was tested on Node 20 to 26, Bun, Deno and workerd, and with each bundler.",
      },
      {
        path: "examples",
        title: "Examples",
        about: "The runnable programs of the repository, with their source.",
      },
      {
        path: "migration",
        title: "Migration",
        about: "From axios, fetch or your own HTTP code, and from version to version.",
      },
      { path: "changelog", title: "Changelog", about: "What each version changed." },
    ],
  },
];

/** All of them, in order. */
export const pages: readonly SitePage[] = sections.flatMap((section) => section.pages);

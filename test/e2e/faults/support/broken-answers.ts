import type { ServerResponse } from "node:http";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { Sandbox } from "../../../../src/sandbox/index.ts";
import { type FaultCase, type Place, planned, type Times } from "./fault-case.ts";
import { type Deliver, openFront, type Truth, whole } from "./front.ts";

/** Spoils the way back of the first answer, or of every one. */
const spoilt =
  (deliver: Deliver) =>
  async (sandbox: Sandbox, times: Times): Promise<Place> => {
    let spoiltSoFar = 0;
    const front = await openFront(sandbox, {
      deliver: (response, truth, nth) => {
        if (times === "once" && nth > 1) return whole(response, truth, nth);
        spoiltSoFar += 1;
        deliver(response, truth, nth);
      },
    });
    return { ...front, stalled: () => spoiltSoFar };
  };

const slowDrip: Deliver = (response, truth, nth) => {
  if (truth.status === 204) return whole(response, truth, nth);
  response.writeHead(truth.status, { "content-type": "application/json" });
  let at = 0;
  const drip = setInterval(() => {
    response.write(truth.body.slice(at, at + 1));
    at += 1;
    if (at >= truth.body.length || response.destroyed) response.end();
  }, 150);
  response.once("close", () => clearInterval(drip));
};

const hugeBytes = 200 * 1024 * 1024;
const piece = Buffer.alloc(64 * 1024, "x");

const huge =
  (headers: Record<string, string>): Deliver =>
  (response, truth, nth) => {
    if (truth.status === 204) return whole(response, truth, nth);
    response.writeHead(truth.status, { "content-type": "application/json", ...headers });
    response.write('{"id":"');
    let left = hugeBytes;
    const more = (): void => {
      while (left > 0 && !response.destroyed) {
        left -= piece.length;
        if (!response.write(piece)) return void response.once("drain", more);
      }
      response.end();
    };
    more();
  };

const corruptBrotli: Deliver = (response, truth, nth) => {
  if (truth.status === 204) return whole(response, truth, nth);
  const packed = brotliCompressSync(truth.body);
  response.writeHead(truth.status, { "content-type": "application/json", "content-encoding": "br" });
  response.end(packed.subarray(0, packed.length >> 1));
};

// Unpacks to more than the cap of these cells.
const bomb = brotliCompressSync(Buffer.from(`{"id":"${"x".repeat(8 * 1024 * 1024)}"}`));

const packedBomb: Deliver = (response, truth, nth) => {
  if (truth.status === 204) return whole(response, truth, nth);
  response.writeHead(truth.status, { "content-type": "application/json", "content-encoding": "br" });
  response.end(bomb);
};

/** Sends an answer that has a body in another way; one without a body goes out as it is. */
const withBody =
  (deliver: (response: ServerResponse, truth: Truth) => void): Deliver =>
  (response, truth, nth) =>
    truth.body === "" ? whole(response, truth, nth) : deliver(response, truth);

/** Sends half of the body, and nothing at all where there is no body. */
const halfOnly: Deliver = (response, { status, headers, body }) => {
  if (body === "") return;
  response.writeHead(status, { ...headers, "content-length": body.length });
  response.write(body.slice(0, body.length >> 1));
};

const quickDrip = withBody((response, { status, headers, body }) => {
  response.writeHead(status, headers);
  const pieces = body.match(/[\s\S]{1,8}/g) ?? [];
  const drip = setInterval(() => {
    const piece = pieces.shift();
    if (piece === undefined) response.end();
    else response.write(piece);
  }, 1);
  response.once("close", () => clearInterval(drip));
});

const packed = (encoding: string, pack: (text: string) => Buffer): Deliver =>
  withBody((response, { status, headers, body }) => {
    response.writeHead(status, { ...headers, "content-encoding": encoding }).end(pack(body));
  });

// The first ten bytes are gzip's header; a damaged byte after it breaks the stream or its checksum.
const damagedGzip = (text: string): Buffer => gzipSync(text).fill(0xff, 12);

const withHeaders =
  (more: Readonly<Record<string, string | string[]>>): Deliver =>
  (response, { status, headers, body }) => {
    response.writeHead(status, { ...headers, ...more }).end(body);
  };

const earlyHints: Deliver = (response, truth, nth) => {
  response.writeEarlyHints({ link: "</>; rel=preload" }, () => whole(response, truth, nth));
};

const closingAfter: Deliver = (response, { status, headers, body }) => {
  response.writeHead(status, headers).end(body, () => response.socket?.destroySoon());
};

/** Changes each record of the answer, also those inside of a page or a batch's results. */
const changed = (change: (record: object) => object): Deliver => {
  const changeIn = (value: object): object => {
    const [list, records] =
      Object.entries(value).find(([name]) => name === "data" || name === "results") ?? [];
    return list === undefined ? change(value) : { ...value, [list]: records.map(changeIn) };
  };
  return withBody((response, { status, headers, body }) => {
    response.writeHead(status, headers).end(JSON.stringify(changeIn(JSON.parse(body))));
  });
};

const mapFields = (change: (value: unknown) => unknown) =>
  changed((record) =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)])),
  );

const unknownFields = changed((record) => ({ ...record, aNewField: { nested: true }, another: ["x"] }));
const nullFields = mapFields(() => null);
const wrongTypes = mapFields((value) => {
  if (typeof value === "string") return 7;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : value;
});

const deepJson = {
  status: 200,
  applied: true,
  body: `{"deep":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
};

const silent: Deliver = (response, { status, headers }) => {
  response.writeHead(status, headers).end('{"results":[{},{}]}');
};

const applied = { applies: true } as const;
const inBody = { ...applied, isInBody: true } as const;
const broken = { ...inBody, says: "unclear", error: "ResponseValidationError" } as const;
const readable = { ...applied, says: "a response" } as const;
const tooLarge = {
  ...inBody,
  says: "unclear for good",
  error: "ResponseValidationError",
  options: { maxResponseBytes: 1024 * 1024 },
} as const;

const shortAttempt = { timeoutMs: 400 };

const strict = { ...readable, options: { responseValidation: "strict" } } as const;

/** Under `responseValidation: "strict"` an answer has to have the shape that the document gives it. */
const strictAnswers: readonly FaultCase[] = [
  { ...strict, name: "strict: unknown fields", arrange: spoilt(unknownFields) },
  {
    ...strict,
    name: "strict: missing fields",
    // The sandbox leaves the first field, which is the id but where the record lies under another one.
    misfits: ({ needs = [], operation }) =>
      operation === "events.recordBatch" || needs.length > (operation === "emails.schedule" ? 0 : 1),
    arrange: planned("missing-fields"),
  },
  {
    ...strict,
    name: "strict: null in every field",
    misfits: ({ needs = [] }) => needs.length > 0,
    arrange: spoilt(nullFields),
  },
  {
    ...strict,
    name: "strict: wrong types",
    // It does not go into the record that the sandbox answers under a key of its own; and an id may be a number.
    misfits: ({ fitsAnything, hasNoBody, operation }) =>
      !fitsAnything && !hasNoBody && operation !== "companies.create",
    arrange: spoilt(wrongTypes),
  },
  {
    ...strict,
    name: "strict: JSON nested 100,000 deep",
    // The document does not describe the responses to these updates, so any record fits.
    misfits: ({ fitsAnything, hasNoBody, operation }) =>
      !fitsAnything && !hasNoBody && !["companies.update", "emails.scheduled.update"].includes(operation),
    arrange: planned(deepJson),
  },
];

/** The request is applied, and its answer comes spoilt. */
export const brokenAnswers: readonly FaultCase[] = [
  {
    ...inBody,
    says: "unclear",
    error: "ConnectionError",
    isCut: true,
    name: "the body breaks off",
    arrange: planned("truncate"),
  },
  {
    ...inBody,
    says: "unclear",
    error: "TimeoutError",
    isCut: true,
    name: "the body stalls halfway",
    options: shortAttempt,
    arrange: spoilt(halfOnly),
  },
  {
    ...inBody,
    says: "unclear",
    error: "TimeoutError",
    name: "a body that arrives slowly, for longer than timeoutMs",
    options: shortAttempt,
    arrange: spoilt(slowDrip),
  },
  {
    ...inBody,
    says: "a response",
    name: "a body that arrives slowly, but in time",
    arrange: spoilt(quickDrip),
  },
  { ...broken, name: "invalid JSON with the content type of JSON", arrange: planned("garbage") },
  { ...broken, name: "a corrupt gzip body", arrange: spoilt(packed("gzip", damagedGzip)) },
  { ...broken, name: "a corrupt br body", arrange: spoilt(corruptBrotli) },
  {
    ...broken,
    isInBody: false,
    isEmpty: true,
    name: "status 204 without a body",
    arrange: planned({ status: 204, applied: true }),
  },
  {
    ...tooLarge,
    name: "a body of 200 MB with a Content-Length",
    arrange: spoilt(huge({ "content-length": `${hugeBytes}` })),
  },
  { ...tooLarge, name: "a body of 200 MB without a Content-Length", arrange: spoilt(huge({})) },
  {
    ...tooLarge,
    name: "a small body that decompresses to 8 MB, over maxResponseBytes",
    arrange: spoilt(packedBomb),
  },
  { ...readable, name: "a valid gzip body", arrange: spoilt(packed("gzip", gzipSync)) },
  { ...readable, name: "a valid br body", arrange: spoilt(packed("br", brotliCompressSync)) },
  {
    ...readable,
    name: "JSON with the content type of text",
    arrange: spoilt(withHeaders({ "content-type": "text/plain" })),
  },
  { ...readable, name: "a 103 before the response", arrange: spoilt(earlyHints) },
  {
    ...readable,
    name: "duplicate headers",
    arrange: spoilt(withHeaders({ "retry-after": ["1", "2"], "x-request-id": ["a", "b"] })),
  },
  { ...readable, name: "the connection closes after the response", arrange: spoilt(closingAfter) },
  { ...readable, name: "unknown fields", arrange: spoilt(unknownFields) },
  { ...readable, name: "missing fields", arrange: planned("missing-fields") },
  { ...readable, name: "null in every field", arrange: spoilt(nullFields) },
  { ...readable, name: "wrong types", arrange: spoilt(wrongTypes) },
  {
    ...readable,
    name: "JSON nested 100,000 deep",
    // Of a list in place of a batch's answer no item says which event it is about.
    misfits: ({ operation }) => operation === "events.recordBatch",
    arrange: planned(deepJson),
  },
  {
    ...readable,
    isSilent: true,
    name: "a batch response whose results are empty",
    only: "events.recordBatch",
    arrange: spoilt(silent),
  },
  ...strictAnswers,
];

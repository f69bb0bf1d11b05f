type Done = (error: Error | undefined, text: string) => void;

const toText = (bytes: Buffer): string => {
  const text = bytes.toString("utf8");
  // JSON.parse refuses a byte order mark.
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
};

const join = (chunks: readonly Uint8Array[]): Buffer => {
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined)
    return Buffer.from(first.buffer, first.byteOffset, first.byteLength);
  return Buffer.concat(chunks);
};

const decompress = async (bytes: Buffer, codings: readonly string[], maxBytes: number): Promise<Buffer> => {
  const [zlib, { promisify }] = await Promise.all([import("node:zlib"), import("node:util")]);
  const decoders: Readonly<Record<string, (input: Buffer) => Promise<Buffer>>> = {
    gzip: (input) => promisify<Buffer, object, Buffer>(zlib.gunzip)(input, options),
    deflate: (input) => promisify<Buffer, object, Buffer>(zlib.inflate)(input, options),
    br: (input) => promisify<Buffer, object, Buffer>(zlib.brotliDecompress)(input, options),
  };
  // zlib stops at the cap: a small bomb never becomes a large buffer.
  const options = { maxOutputLength: maxBytes };
  let plain = bytes;
  for (const coding of [...codings].reverse()) {
    const decode = decoders[coding.replace(/^x-/, "")];
    if (decode === undefined) throw new Error(`content-encoding ${coding} is not known`);
    plain = await decode(plain);
  }
  return plain;
};

/**
 * Joins, decompresses and decodes a body. The library asks for no compression, but reads gzip, deflate and br
 * from a service or proxy that compresses all the same.
 */
export const decodeBody = (
  chunks: readonly Uint8Array[],
  contentEncoding: string | undefined,
  maxBytes: number,
  done: Done,
): void => {
  const codings = (contentEncoding ?? "")
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity");
  const bytes = join(chunks);
  if (codings.length === 0 || bytes.byteLength === 0) return done(undefined, toText(bytes));
  decompress(bytes, codings, maxBytes).then(
    (plain) => done(undefined, toText(plain)),
    (error: unknown) => done(error instanceof Error ? error : new Error(String(error)), ""),
  );
};

const minBytes = 4_096;

/**
 * Appends a chunk to the first `length` bytes of a buffer. Allocates a larger buffer if the chunk doesn't fit. A list
 * of separate chunks would take a hundred bytes more per chunk.
 */
export const appended = (bytes: Uint8Array, length: number, chunk: Uint8Array): Uint8Array => {
  const newLength = length + chunk.byteLength;
  let target = bytes;
  // The first chunk's buffer belongs to the socket. It has no free bytes, so this code never writes to it.
  if (newLength > bytes.byteLength) {
    target = Buffer.allocUnsafeSlow(Math.max(newLength, 2 * bytes.byteLength, minBytes));
    target.set(bytes.subarray(0, length));
  }
  target.set(chunk, length);
  return target;
};

/**
 * Decompresses gzip, deflate and br. The library doesn't request compression, but a service or proxy may compress
 * anyway.
 */
export const decompress = async (
  bytes: Buffer,
  codings: readonly string[],
  maxBytes: number,
): Promise<Buffer> => {
  const [zlib, { promisify }] = await Promise.all([import("node:zlib"), import("node:util")]);
  const decoders: Readonly<Record<string, (input: Buffer) => Promise<Buffer>>> = {
    gzip: (input) => promisify<Buffer, object, Buffer>(zlib.gunzip)(input, options),
    deflate: (input) => promisify<Buffer, object, Buffer>(zlib.inflate)(input, options),
    br: (input) => promisify<Buffer, object, Buffer>(zlib.brotliDecompress)(input, options),
  };
  // zlib stops at this length, so a decompression bomb never creates a large buffer.
  const options = { maxOutputLength: maxBytes };
  let plain = bytes;
  for (const coding of [...codings].reverse()) {
    const decode = decoders[coding.replace(/^x-/, "")];
    if (decode === undefined) throw new Error(`content-encoding ${coding} is not known`);
    plain = await decode(plain);
  }
  return plain;
};

/** The content codings of a body that have to be decoded. */
export const codingsOf = (contentEncoding: string): readonly string[] =>
  contentEncoding
    .toLowerCase()
    .trim()
    .split(/\s*,\s*/)
    .filter((name) => name !== "" && name !== "identity");

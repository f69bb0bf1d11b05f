const smallest = 4_096;

/**
 * Appends a chunk to the first `length` bytes, in the same buffer if it has room, because each separate chunk would
 * take a hundred bytes more.
 */
export const appended = (bytes: Uint8Array, length: number, chunk: Uint8Array): Uint8Array => {
  const least = length + chunk.byteLength;
  let target = bytes;
  // The buffer of a first chunk belongs to the socket. It has no free bytes, so it is never written to.
  if (least > bytes.byteLength) {
    target = Buffer.allocUnsafeSlow(Math.max(least, 2 * bytes.byteLength, smallest));
    target.set(bytes.subarray(0, length));
  }
  target.set(chunk, length);
  return target;
};

/** The library does not request compression, but a service or proxy may compress anyway: gzip, deflate and br. */
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

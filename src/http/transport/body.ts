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
  const decoders = new Map([
    ["gzip", promisify(zlib.gunzip)],
    ["deflate", promisify(zlib.inflate)],
    ["br", promisify(zlib.brotliDecompress)],
  ]);
  let plain = bytes;
  for (const coding of codings.toReversed()) {
    const decode = decoders.get(coding.replace(/^x-/, ""));
    if (decode === undefined) throw new Error(`content-encoding ${coding} is not known`);
    // zlib stops at this length, so a decompression bomb never creates a large buffer.
    plain = await decode(plain, { maxOutputLength: maxBytes });
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

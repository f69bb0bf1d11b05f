type Done = (error: Error | undefined, text: string) => void;

const toText = (bytes: Buffer): string => {
  const text = bytes.toString("utf8");
  // JSON.parse refuses a byte order mark.
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
};

const none = new Uint8Array(0);
const smallest = 4_096;

/** The bytes of a body. Pieces are copied together: one that is kept as it came costs a hundred bytes beside its own. */
export class BodyBytes {
  #bytes: Uint8Array = none;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(piece: Uint8Array): void {
    const length = this.#length + piece.byteLength;
    // Most answers come in one piece, which is not copied.
    if (this.#length === 0) this.#bytes = piece;
    else {
      if (length > this.#bytes.byteLength) this.#grow(length);
      this.#bytes.set(piece, this.#length);
    }
    this.#length = length;
  }

  joined(): Buffer {
    return Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset, this.#length);
  }

  #grow(least: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(least, 2 * this.#bytes.byteLength, smallest));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

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
 * Decompresses and decodes a body. The library asks for no compression, but reads gzip, deflate and br
 * from a service or proxy that compresses all the same.
 */
export const decodeBody = (
  bytes: Buffer,
  contentEncoding: string | undefined,
  maxBytes: number,
  done: Done,
): void => {
  const codings = (contentEncoding ?? "")
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity");
  if (codings.length === 0 || bytes.byteLength === 0) return done(undefined, toText(bytes));
  decompress(bytes, codings, maxBytes).then(
    (plain) => done(undefined, toText(plain)),
    (error: unknown) => done(error instanceof Error ? error : new Error(String(error)), ""),
  );
};

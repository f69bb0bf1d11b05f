// What the way of a call uses of Node's Buffer: bytes, UTF-8 and base64url.
const bytesOf = (text: string, encoding: string | undefined): Uint8Array => {
  if (encoding !== "base64url") return new TextEncoder().encode(text);
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (character) => character.charCodeAt(0));
};

class PageBuffer extends Uint8Array {
  static override from(given: unknown, more?: unknown, length?: number): PageBuffer {
    if (given instanceof ArrayBuffer) return new PageBuffer(given, Number(more ?? 0), length);
    const bytes =
      given instanceof Uint8Array
        ? given
        : bytesOf(String(given), typeof more === "string" ? more : undefined);
    return new PageBuffer(bytes);
  }
  static alloc = (size: number): PageBuffer => new PageBuffer(size);
  static allocUnsafe = PageBuffer.alloc;
  static allocUnsafeSlow = PageBuffer.alloc;
  static concat = (chunks: readonly Uint8Array[]): PageBuffer => {
    const whole = new PageBuffer(chunks.reduce((length, chunk) => length + chunk.length, 0));
    let length = 0;
    for (const chunk of chunks) {
      whole.set(chunk, length);
      length += chunk.length;
    }
    return whole;
  };
  static byteLength = (text: string): number => new TextEncoder().encode(text).length;
  override toString(encoding?: string): string {
    if (encoding !== "base64url") return new TextDecoder().decode(this);
    const text = btoa(String.fromCharCode(...this));
    return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  }
}

/** Sets the globals of Node that the client and the sandbox expect. A call, because the package has no side effects. */
export const installGlobals = (): void => {
  if (!("Buffer" in globalThis)) Object.assign(globalThis, { Buffer: PageBuffer });
  if (!("process" in globalThis)) Object.assign(globalThis, { process: { env: {}, versions: {} } });
};

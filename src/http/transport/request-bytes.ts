import type { Log } from "../../options/logger.ts";

/** The socket that a client of undici has now, and the request on it. */
export interface Line {
  readonly carried: {
    /** The header line with the key; empty if undici writes the key itself. */
    readonly keyLine: string;
    readonly request: { readonly body: string | undefined };
    /** Ends it as if it had never started: none of its bytes was written. */
    giveBack(): void;
  };
}

const requestLine = /^[A-Z]+ \/[^ ]* HTTP\/1\.1\r\n/;

/**
 * Changes the bytes that undici writes: adds the key to each request, and joins head and body in one write. undici
 * publishes its requests, headers and sockets on its diagnostics channels, so it must never see the key.
 *
 * This depends on how undici writes a request: its head as one string that ends in an empty line, then a body as bytes.
 * If a head looks different, it is not written, and from then on undici gets the key.
 */
export class RequestBytes {
  readonly #log: Pick<Log, "warn"> | undefined;
  /** Whether undici has to write the key itself. */
  isOff = false;

  constructor(log: Pick<Log, "warn"> | undefined) {
    this.#log = log;
  }

  /** Changes what is written to a new socket. */
  change(socket: { write(...given: unknown[]): boolean; cork(): void; uncork(): void }, line: Line): void {
    const write = socket.write.bind(socket);
    const cork = socket.cork.bind(socket);
    const uncork = socket.uncork.bind(socket);
    // undici corks the socket for each request; a single write needs none, and costs less without.
    socket.cork = () => undefined;
    socket.uncork = () => undefined;
    let head: string | undefined;
    socket.write = (data: unknown, ...rest: unknown[]): boolean => {
      const { keyLine, request } = line.carried;
      const { body } = request;
      if (head !== undefined) {
        const before = head;
        head = undefined;
        // A body of one byte per character has the same bytes in both encodings.
        if (ArrayBuffer.isView(data) && body?.length === data.byteLength)
          return write(before + body, "latin1", ...rest);
        cork();
        write(before, "latin1");
        const hasRoom = write(data, ...rest);
        uncork();
        return hasRoom;
      }
      if (keyLine === "") return write(data, ...rest);
      const isHead = typeof data === "string" && requestLine.test(data) && data.endsWith("\r\n\r\n");
      if (!isHead) this.#turnOff();
      if (this.isOff || !isHead) {
        line.carried.giveBack();
        return false;
      }
      const withKey = `${data.slice(0, -2)}${keyLine}\r\n`;
      if (!body) return write(withKey, ...rest);
      head = withKey;
      return true;
    };
  }

  #turnOff(): void {
    this.isOff = true;
    this.#log?.warn("undici writes requests differently than expected: it is given the key", {});
  }
}

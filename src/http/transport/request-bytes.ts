import type { Socket } from "node:net";
import type { Log } from "../../options/logger.ts";

/** A request whose bytes undici writes to a socket. */
export interface Written {
  /** The header line with the key, including its line break; empty if undici writes the key itself. */
  readonly keyLine: string;
  readonly body: string | undefined;
  /** Ends it as if it had never started: none of its bytes was written. */
  giveBack(): void;
}

/** The socket that a client of undici has now, and the request on it. */
export interface Line {
  readonly carried: Written;
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
  change(socket: Pick<Socket, "write">, line: Line): void {
    const write = socket.write.bind(socket);
    // TypeScript cannot tell the overloads of `write` apart here; the arguments are passed on unchanged.
    const pass = (...given: unknown[]): boolean => Reflect.apply(write, socket, given);
    let head: string | undefined;
    socket.write = (data: string | Uint8Array, ...rest: unknown[]): boolean => {
      const { keyLine, body } = line.carried;
      if (head !== undefined) {
        const before = head;
        head = undefined;
        // A body of one byte per character has the same bytes in both encodings.
        if (typeof data !== "string" && body?.length === data.byteLength)
          return pass(before + body, "latin1", ...rest);
        pass(before, "latin1");
        return pass(data, ...rest);
      }
      if (keyLine === "") return pass(data, ...rest);
      if (this.isOff || !this.#isHead(data)) {
        line.carried.giveBack();
        return false;
      }
      const withKey = `${data.slice(0, -2)}${keyLine}\r\n`;
      if (!body) return pass(withKey, ...rest);
      head = withKey;
      return true;
    };
  }

  #isHead(data: string | Uint8Array): data is string {
    if (typeof data === "string" && requestLine.test(data) && data.endsWith("\r\n\r\n")) return true;
    this.isOff = true;
    this.#log?.warn("undici writes requests differently than expected: it is given the key", {});
    return false;
  }
}

import { expect, test } from "vitest";
import { type Line, RequestBytes } from "../../../../src/http/transport/request-bytes.ts";

const head = "POST /api/v1/contacts HTTP/1.1\r\nhost: service\r\ncontent-length: 7\r\n\r\n";
const keyed = `${head.slice(0, -2)}authorization: Bearer secret\r\n\r\n`;

const line = (body?: string) => {
  const writes: unknown[][] = [];
  const warnings: string[] = [];
  let givenBack = 0;
  const bytes = new RequestBytes({ warn: (message) => warnings.push(message) });
  const carried: Line["carried"] = {
    keyLine: "authorization: Bearer secret\r\n",
    request: { body },
    giveBack: () => {
      givenBack += 1;
    },
  };
  const socket = {
    write: (...given: unknown[]) => {
      writes.push(given);
      return true;
    },
    cork: () => {
      writes.push(["cork"]);
    },
    uncork: () => {
      writes.push(["uncork"]);
    },
  };
  bytes.change(socket, { carried });
  return { socket, writes, warnings, bytes, givenBack: () => givenBack };
};

test("the key is added to the head, and the body is written with it, without a cork", () => {
  const { socket, writes, warnings } = line('{"a":1}');
  socket.cork();
  socket.write(head, "latin1");
  socket.write(Buffer.from('{"a":1}'));
  socket.uncork();
  expect(writes).toEqual([[`${keyed}{"a":1}`, "latin1"]]);
  socket.write(head, "latin1");
  socket.write(Buffer.from('{"a":1}'));
  expect(writes).toHaveLength(2);
  expect(warnings).toEqual([]);
});

test("a body with characters of several bytes is written as bytes, in one piece with the head", () => {
  const body = '{"a":"Zoë"}';
  const { socket, writes } = line(body);
  socket.write(head, "latin1");
  socket.write(Buffer.from(body));
  expect(writes).toEqual([["cork"], [keyed, "latin1"], [Buffer.from(body)], ["uncork"]]);
});

test("a request without a body is written at once", () => {
  const { socket, writes } = line();
  socket.write(head, "latin1");
  expect(writes).toEqual([[keyed, "latin1"]]);
});

test.each([
  ["as bytes", Buffer.from(head)],
  ["without an end", head.slice(0, -2)],
  ["with another first line", `:method: POST\r\n${head}`],
])("a head that looks different (%s) is not written, and undici gets the key from then on", (_, given) => {
  const { socket, writes, warnings, bytes, givenBack } = line("{}");
  expect(bytes.isOff).toBe(false);
  socket.write(given);
  expect([writes, givenBack(), bytes.isOff]).toEqual([[], 1, true]);
  // A request that was dispatched before, without its key.
  socket.write(head, "latin1");
  expect([writes, givenBack()]).toEqual([[], 2]);
  expect(warnings).toEqual(["undici writes requests differently than expected: it is given the key"]);
});

import { expect, test } from "vitest";
import { appended } from "../../../../src/http/transport/body.ts";

test("a body in one-byte pieces is copied into one buffer, and no piece is kept", () => {
  const piece = Buffer.alloc(1, "a");
  let [bytes, length]: [Uint8Array, number] = [Buffer.from("a"), 1];
  for (; length < 10_000; length += 1) {
    piece.write(length < 9_999 ? "a" : "b");
    bytes = appended(bytes, length, piece.subarray());
  }
  piece.write("!");
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, length);
  expect([whole.byteLength, whole.toString().slice(-3)]).toEqual([10_000, "aab"]);
  expect(whole.buffer.byteLength).toBeLessThan(2 * whole.byteLength);
});

test("a first piece is never written to", () => {
  const first = Buffer.from('{"a":');
  expect(
    Buffer.from(appended(first, first.byteLength, Buffer.from("1}")))
      .toString()
      .slice(0, 7),
  ).toBe('{"a":1}');
  expect(first.toString()).toBe('{"a":');
});

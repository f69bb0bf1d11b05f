import { expect, test } from "vitest";
import { BodyBytes } from "../../../../src/http/transport/attempt.ts";

test("a body in one-byte pieces is copied into one buffer, and no piece is kept", () => {
  const body = new BodyBytes();
  const piece = Buffer.alloc(1);
  for (const letter of `${"a".repeat(9_999)}b`) {
    piece.write(letter);
    body.add(piece.subarray());
  }
  piece.write("!");
  const whole = body.joined();
  expect([whole.byteLength, whole.toString().slice(-3), body.length]).toEqual([10_000, "aab", 10_000]);
  expect(whole.buffer.byteLength).toBeLessThan(2 * whole.byteLength);
});

test("a body in one piece is not copied, and no piece at all is an empty body", () => {
  const piece = Buffer.from('{"a":1}');
  const body = new BodyBytes();
  expect(body.joined().byteLength).toBe(0);
  body.add(piece);
  expect(body.joined().buffer).toBe(piece.buffer);
});

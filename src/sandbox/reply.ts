import { type Answer, Refusal, type Reply } from "./answer.ts";

const json = { "content-type": "application/json; charset=utf-8" };

/** Turns the result of a rule into an answer. */
export const replyTo = (reply: Reply | Refusal): Answer => {
  const delivery = { kind: "whole" } as const;
  if (reply instanceof Refusal) {
    // Rounded up: a retry at the named second must never be too early.
    const seconds = reply.retryAfterMs === undefined ? undefined : Math.ceil(reply.retryAfterMs / 1_000);
    const headers = seconds === undefined ? json : { ...json, "retry-after": String(seconds) };
    return { status: reply.status, headers, body: JSON.stringify({ error: reply.message }), delivery };
  }
  if (reply.body === undefined) return { status: reply.status, headers: {}, body: "", delivery };
  return { status: reply.status, headers: json, body: JSON.stringify(reply.body), delivery };
};

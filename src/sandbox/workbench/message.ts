import type { EmailRecord } from "../store/records.ts";

// A line break in a subject would start another header.
const oneLine = (text: string): string => text.replace(/[\r\n]+/g, " ");

export const messageHeaders = (email: EmailRecord): (readonly [name: string, value: string])[] => [
  ["From", oneLine(email.from)],
  ["To", oneLine(email.to)],
  ["Subject", oneLine(email.subject)],
  ["Date", new Date(email.sentAt).toUTCString().replace("GMT", "+0000")],
  ["Message-ID", `<${email.id}@touchpoint.example>`],
  ["MIME-Version", "1.0"],
];

const part = (type: string, text: string): string =>
  `Content-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n${text.replace(/\r?\n/g, "\r\n")}\r\n`;

/** The complete message in the format of RFC 5322 and RFC 6532. Nothing is encoded, so that people can read it. */
export const messageSource = (email: EmailRecord): string => {
  const lines = messageHeaders(email).map(([name, value]) => `${name}: ${value}\r\n`);
  if (email.html === undefined) return lines.join("") + part("text/plain", email.text);
  const boundary = `part-${email.id}`;
  const parts = [part("text/plain", email.text), part("text/html", email.html)];
  return [
    ...lines,
    `Content-Type: multipart/alternative; boundary="${boundary}"\r\n\r\n`,
    ...parts.map((text) => `--${boundary}\r\n${text}`),
    `--${boundary}--\r\n`,
  ].join("");
};

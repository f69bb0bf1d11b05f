import type { EmailRecord } from "../store/records.ts";

// A line break in a subject would start another header.
const oneLine = (text: string): string => text.replace(/[\r\n]+/g, " ");

/** RFC 2047: text that is not ASCII becomes encoded words of at most 75 characters. No word splits a character. */
const encoded = (text: string): string => {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  // At most 44 bytes each.
  const words = text.match(/.{1,11}/gsu) ?? [];
  return words.map((word) => `=?utf-8?B?${Buffer.from(word).toString("base64")}?=`).join("\r\n ");
};

const address = (from: string): string => {
  const [, name = "", at = from] = /^(.*?)\s*(<[^>]*>)$/.exec(from) ?? [];
  return name === "" ? at : `${encoded(name)} ${at}`;
};

/** The headers of a sent email, not encoded. */
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

/** The whole message as mail programs read it (RFC 5322). The bodies are not encoded, so that people can read them. */
export const messageSource = (email: EmailRecord): string => {
  const lines = messageHeaders(email).map(([name, value]) => {
    const written = name === "From" || name === "To" ? address(value) : encoded(value);
    return `${name}: ${written}\r\n`;
  });
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

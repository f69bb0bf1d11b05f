import { createHash } from "node:crypto";

/** The scripts that stand in a page itself: VitePress writes the choice of the theme and the list of its files so. */
const inlineScript = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g;

/**
 * Puts a Content-Security-Policy into a built page: everything comes from the site, and of the scripts in the page only
 * those that the build wrote run.
 */
export const withPolicy = (html: string): string => {
  const hashes = [...html.matchAll(inlineScript)].map(
    ([, script = ""]) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`,
  );
  const policy = [
    "default-src 'self'",
    `script-src 'self' ${[...new Set(hashes)].join(" ")}`,
    // The colors of code are style attributes.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ];
  const meta = `<meta http-equiv="Content-Security-Policy" content="${policy.join("; ")}">`;
  return html.replace(/<meta charset="[^"]*">/, (charset) => `${charset}\n    ${meta}`);
};

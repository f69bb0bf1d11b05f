/**
 * A text with its ASCII letters in lower case. Two addresses are equal if they are equal so, and in no other way:
 * `toLowerCase` makes an ASCII `k` of U+212A, the Kelvin sign, and so one person of two.
 */
export const foldAscii = (text: string): string =>
  text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

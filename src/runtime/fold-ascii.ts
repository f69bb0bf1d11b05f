/**
 * Converts the ASCII letters of a text to lower case. Two addresses are equal only if this makes them equal.
 * `toLowerCase` would also convert U+212A, the Kelvin sign, to an ASCII `k`, and so confuse two persons.
 */
export const foldAscii = (text: string): string =>
  text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

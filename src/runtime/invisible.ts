// A screen shows none of these: soft hyphen, zero-width and directional marks, joiners, fillers, variation selectors, tags,
// the empty Braille pattern, control characters.
const invisible = /[\p{Cf}\p{Cc}\u115F\u1160\u2800\u3164\uFFA0]|\p{Default_Ignorable_Code_Point}/u;

/** The first invisible character of a text as `U+200B`; undefined if there is none. */
export const invisibleIn = (text: string): string | undefined => {
  const code = invisible.exec(text)?.[0].codePointAt(0);
  return code === undefined ? undefined : `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
};

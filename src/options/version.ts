/** The version in package.json; a test keeps the two the same. */
export const version = "0.1.0";

import { expect, test } from "vitest";
import { UsageError } from "../../../src/cli/command.ts";
import { checkHeader, readMap } from "../../../src/cli/contact-columns.ts";
import { guessedMap } from "../../../src/cli/guessed-columns.ts";
import { scratch } from "../files/scratch.ts";

const mapOf = (...map: readonly string[]) => readMap({ values: {}, lists: { map } });

const refusal = (names: readonly string[], ...map: readonly string[]) => {
  try {
    checkHeader("people.csv", names, mapOf(...map));
    return undefined;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { message: error.message, command: error.command };
  }
};

test.each([
  [["id", "email", "name", "linkedIn", "listIds", "customFields.plan", "createdAt", ""]],
  [["EMAIL", "Name", "linked_in", "created-at", "CUSTOMFIELDS.plan"]],
])("%j are fields of a contact, however they are spelt", (names) => {
  expect(refusal(names)).toBeUndefined();
});

test("other columns are refused with a command that maps what is recognized", () => {
  const names = ["Record ID", "First Name", "Last Name", "Email Address", "Phone Number", "Owner", "It's"];
  expect(refusal(names)).toEqual({
    message:
      'people.csv: "Record ID", "First Name", "Last Name", "Email Address" and 3 more are not fields of a contact. To map the columns that are recognized and leave out the others, run',
    command:
      "touchpoint contacts import people.csv --map 'Email Address=email' --map 'Phone Number=phone' --map 'First Name+Last Name=name' --map '*='",
  });
});

test("a command keeps what was mapped already", () => {
  expect(refusal(["Mail", "Given", "Score"], "Score=customFields.score")?.command).toBe(
    "touchpoint contacts import people.csv --map 'Score=customFields.score' --map 'Mail=email' --map '*='",
  );
});

test("every column is mapped, or left out, or joined", () => {
  expect(refusal(["E", "F", "L", "Tags"], "E=email", "F+L=name", "Tags=")).toBeUndefined();
  expect(refusal(["E", "F"], "E=email", "*=")).toBeUndefined();
});

test("the error for a file without an email column quotes its first row and suggests --skip-lines", () => {
  expect(refusal(["Contacts of 2026"])).toEqual({
    message:
      'people.csv: "Contacts of 2026" is not a field of a contact. The first row that was read is: Contacts of 2026. If the header is further down, add --skip-lines <n>. Otherwise, map a column to email',
    command: 'touchpoint contacts import people.csv --map "<column>=email" --map "*="',
  });
});

test.each([
  ["E-mail 1 - Value", "email"],
  ["Primary Email", "email"],
  ["E-mail", "email"],
  ["Courriel", "email"],
  ["Adresse de messagerie", "email"],
  ["Direcci\u00f3n de correo electr\u00f3nico", "email"],
  ["Indirizzo posta elettronica", "email"],
  ["T\u00e9l\u00e9phone mobile", "phone"],
  ["T\u00e9l\u00e9phone (bureau)", "phone"],
  ["Adresse \u00e9lectronique", "email"],
  ["Indirizzo di posta elettronica", "email"],
  ["Endere\u00e7o de correio electr\u00f3nico", "email"],
  ["Anmerkungen", "notes"],
  ["Observaciones", "notes"],
  ["Observa\u00e7\u00f5es", "notes"],
  ["Tel\u00e9fono m\u00f3vil", "phone"],
  ["Puesto", "title"],
  ["Remarques", "notes"],
  ["Nombre", "name"],
  ["Display Name", "name"],
  ["Job Title", "title"],
  ["Mobile", "phone"],
  ["Téléphone", "phone"],
  ["Owner", undefined],
  ["LinkedIn URL", "linkedIn"],
  ["Notes", "notes"],
])("%j is guessed to be %j", (column, field) => {
  expect(guessedMap([column]).get(column)).toBe(field);
});

test("of several columns for one field, the better name is guessed", () => {
  expect([...guessedMap(["Work Email", "Email", "Name", "First Name"])]).toEqual([
    ["Email", "email"],
    ["Name", "name"],
  ]);
});

test("a map is read from a file, and joined with those on the command line", () => {
  const path = scratch().put("columns.json", '{ "Email Address": "EMAIL", "*": false }');
  expect(mapOf(`@${path}`, "A=B=name").columns).toEqual({
    "Email Address": "email",
    "*": false,
    "A=B": "name",
  });
});

test.each([
  ["Email", '--map must be "File column=field", or "File column=" to leave out the column, got "Email"'],
  ["Email=mail", '"mail" is not a field of a contact (did you mean "email"?)'],
  ["@/does/not/exist.json", "--map @/does/not/exist.json: cannot be read as JSON"],
])("--map %s is refused", (map, message) => {
  expect(() => mapOf(map)).toThrow(message);
});

test("--types gives each custom field one of four types", () => {
  const types = (text: string) => readMap({ values: { types: text }, lists: {} }).types;
  expect(types("score=number, customFields.zip=text")).toEqual({ score: "number", zip: "text" });
  expect(() => types("score=float")).toThrow("--types must be like score=number,zip=text");
});

test.each([
  [["Nombre", "Apellidos"], "Nombre+Apellidos"],
  [["Pr\u00e9nom", "Nom"], "Pr\u00e9nom+Nom"],
  [["Nome", "Cognome"], "Nome+Cognome"],
  [["Voornaam", "Achternaam"], "Voornaam+Achternaam"],
  [["Nom"], "Nom"],
  [["Vorname", "Name"], "Vorname+Name"],
  [["Voornaam", "Naam"], "Voornaam+Naam"],
])("%j are the parts of a name", (columns, joined) => {
  expect([...guessedMap(columns)]).toEqual([[joined, "name"]]);
});

test("the salutation of an address book is not the title of a contact", () => {
  const names = [
    "Title",
    "First Name",
    "Middle Name",
    "Last Name",
    "Suffix",
    "Company",
    "Job Title",
    "E-mail Address",
  ];
  expect(refusal(names)?.command).toBe(
    "touchpoint contacts import people.csv --map 'Title=' --map 'E-mail Address=email' --map 'Job Title=title' --map 'First Name+Last Name=name' --map '*='",
  );
});

test("Title before the first name is left out, and elsewhere it is the title of a contact", () => {
  const command = (...names: readonly string[]) => refusal(names)?.command;
  expect(command("E-mail", "Title", "First Name", "Last Name")).toContain("--map 'Title='");
  expect(command("E-mail", "First Name", "Last Name", "Title")).not.toContain("Title=");
});

test("Name beside Vorname is the last name, although Name alone is a field", () => {
  expect(refusal(["Vorname", "Name", "E-Mail"])?.command).toBe(
    "touchpoint contacts import people.csv --map 'Vorname+Name=name' --map '*='",
  );
});

/**
 * The names that other systems give the fields of a contact, in lower case, without blanks and punctuation. Preferred
 * names come first.
 */
const aliases: Readonly<Record<string, string>> = {
  email:
    "email emailaddress email1 emailaddress1 email1value emailvalue primaryemail workemail businessemail " +
    "emailwork mail mailaddress contactemail useremail subscriberemail personemailwork correo " +
    "correoelectronico direcciondecorreoelectronico courriel adresseemail adressemail " +
    "adressedemessagerie adresseelectronique emailadresse emailadres indirizzoemail " +
    "indirizzopostaelettronica indirizzodipostaelettronica enderecodeemail enderecodecorreioeletronico " +
    "enderecodecorreioelectronico",
  name: "name fullname displayname contactname personname contact nombrecompleto nomcomplet",
  title:
    "jobtitle position role organizationtitle organization1title function fonction poste cargo puesto " +
    "berufsbezeichnung qualifica posizione functie title",
  phone:
    "phone phonenumber mobile mobilephone mobilephonenumber telephone tel phone1 phone1value " +
    "businessphone workphone primaryphone phonework personphonework telefon telefonnummer mobiltelefon " +
    "handy telefongeschaftlich telephonemobile telephoneportable portable telefono telefonomovil movil " +
    "celular cellulare telefone telemovel telefoon telephonebureau telephonedomicile telefonotrabajo",
  linkedIn: "linkedin linkedinurl linkedinprofile personlinkedinurl linkedinprofileurl",
  notes:
    "notes note comments comment description notizen bemerkungen anmerkungen remarques notas " +
    "observaciones observacoes opmerkingen annotazioni",
  firstName: "firstname givenname first forename vorname prenom fname voornaam",
  lastName:
    "lastname familyname last surname nachname apellidos apellido lname nomdefamille cognome sobrenome " +
    "achternaam",
  // In some languages, one word means both a part of the name and the full name. In a file with `nombre` and
  // `apellidos`, `nombre` is the first name. Without a column for the other part, `nombre` is the full name.
  firstOrName: "nombre nome",
  lastOrName: "nom",
  // In a file with `Vorname` and `Name` and no other column for the last name, `Name` is the last name.
  firstBesideName: "vorname voornaam",
  lastBesideFirst: "name naam",
};

const namesOf = (field: string): readonly string[] => aliases[field]?.split(" ") ?? [];

const letters = (name: string): string =>
  name
    .normalize("NFD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "");

/** Guesses which columns of a file from another system map to which fields. Each field gets at most one column. */
export const guessedMap = (columns: readonly string[]): ReadonlyMap<string, string> => {
  const columnOf = (field: string): string | undefined => {
    const names = namesOf(field);
    // `names` is in order of preference.
    const ranked = columns
      .map((column) => ({ column, rank: names.indexOf(letters(column)) }))
      .filter(({ rank }) => rank >= 0)
      .sort((a, b) => a.rank - b.rank);
    return ranked[0]?.column;
  };
  const map = new Map<string, string>();
  for (const field of ["email", "name", "title", "phone", "linkedIn", "notes"]) {
    const column = columnOf(field);
    if (column !== undefined) map.set(column, field);
  }
  const isNameLastName = columnOf("firstBesideName") !== undefined && columnOf("lastName") === undefined;
  const last = columnOf("lastName") ?? columnOf(isNameLastName ? "lastBesideFirst" : "lastOrName");
  const first = columnOf("firstName") ?? columnOf("firstOrName");
  const nameColumn = columnOf("name");
  if (
    (nameColumn === undefined || (isNameLastName && nameColumn === last)) &&
    (first ?? last) !== undefined
  ) {
    if (nameColumn !== undefined) map.delete(nameColumn);
    map.set([first, last].filter((part) => part !== undefined).join("+"), "name");
  }
  return map;
};

/**
 * Finds a column `Title` that contains `Mr` or `Ms`, as in an address book. In such a file, `Title` is directly before
 * the first name, or there is a column for a suffix, a middle name or a job title. In other files, `Title` is a job
 * title.
 */
export const salutationIn = (names: readonly string[]): string | undefined => {
  const columns = names.map(letters);
  const index = columns.indexOf("title");
  const hasAddressBookColumn = columns.some((column) =>
    ["suffix", "middlename", "jobtitle"].includes(column),
  );
  const isBeforeName = namesOf("firstName").includes(columns[index + 1] ?? "");
  return hasAddressBookColumn || isBeforeName ? names[index] : undefined;
};

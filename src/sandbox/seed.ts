import type { ContactRecord } from "./store/records.ts";
import { addContact, type Workspace } from "./store/workspace.ts";

const firstNames = (
  "Ada Alan Amara Björn Chen Chloé Daniel Elif Emeka Fatima Grace Hana Ivan Jana José Kofi Lena Linus Mei Nia " +
  "Noor Olga Paolo Priya Rosa Sven Tomás Uma Yuki Zoë"
).split(" ");
const lastNames = (
  "Abara Bauer Costa Demir Eriksson Fischer García Haddad Ito Jansen Kowalski Lovelace Moreau Nakamura Okafor " +
  "Petrov Quispe Rossi Singh Tanaka Ueda Varga Wang Xu Yilmaz Zhou Hopper Turing Núñez Ångström O'Brien"
).split(" ");
const titles = ["Buyer", "Head of Sales", "Engineer", "Founder", "Office Manager", "Head of Support"];
const domains = ["example.com", "example.org", "example.net"];

const pick = <T>(from: readonly T[], index: number, fallback: T): T => from[index % from.length] ?? fallback;

const slug = (name: string): string =>
  name
    .normalize("NFD")
    .replace(/[^A-Za-z]/g, "")
    .toLowerCase();

/**
 * Adds `count` contacts with names from many languages, in Latin letters, and addresses under reserved example domains.
 * The same count gives the same contacts; `change` may set fields of each.
 */
export const seedContacts = (
  workspace: Workspace,
  count: number,
  change?: (index: number) => Partial<Omit<ContactRecord, "id">>,
): void => {
  const { contacts } = workspace;
  const goal = contacts.all.length + count;
  for (let index = contacts.all.length; contacts.all.length < goal; index += 1) {
    const first = pick(firstNames, index, "Ada");
    const last = pick(lastNames, Math.floor(index / firstNames.length) + index, "Lovelace");
    const domain = pick(domains, Math.floor(index / 7), "example.com");
    const email = `${slug(first)}.${slug(last)}.${index}@${domain}`;
    // The address may exist if contacts were removed after an earlier seed.
    if (contacts.byEmail(email) !== undefined) continue;
    const title = pick(titles, Math.floor(index / 3), "Buyer");
    addContact(workspace, { email, name: `${first} ${last}`, title, ...change?.(index) });
  }
};

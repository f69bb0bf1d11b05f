import type { ContactRecord } from "./store/records.ts";
import { addContact, type Workspace } from "./store/workspace.ts";

const names = (
  "Ada Abara, Alan Bauer, Amara Costa, Björn Demir, Chen Eriksson, Chloé Fischer, Daniel García, " +
  "Elif Haddad, Emeka Ito, Fatima Jansen, Grace Kowalski, Hana Lovelace, Ivan Moreau, Jana Nakamura, " +
  "José Okafor, Kofi Petrov, Lena Quispe, Linus Rossi, Mei Singh, Nia Tanaka, Noor Ueda, Olga Varga, " +
  "Paolo Wang, Priya Xu, Rosa Yilmaz, Sven Zhou, Tomás Hopper, Uma Turing, Yuki Núñez, Zoë Ångström"
).split(", ");
const titles = ["Buyer", "Head of Sales", "Engineer", "Founder", "Office Manager", "Head of Support"];
const domains = ["example.com", "example.org", "example.net"];

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
    const name = names[index % names.length] ?? "";
    const domain = domains[Math.floor(index / 7) % domains.length];
    const email = `${name.split(" ").map(slug).join(".")}.${index}@${domain}`;
    // The address may exist if contacts were removed after an earlier seed.
    if (contacts.byEmail(email) !== undefined) continue;
    const title = titles[Math.floor(index / 3) % titles.length] ?? "";
    addContact(workspace, { email, name, title, ...change?.(index) });
  }
};

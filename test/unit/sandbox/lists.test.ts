import { expect, test } from "vitest";
import { open } from "./client.ts";

const path = "/api/v1/lists";

const withList = async () => {
  const opened = open();
  const { body } = await opened.call("POST", path, { name: "Newsletter" });
  // Checked as a whole in the first test.
  const { id } = body as { id: string };
  return { ...opened, id, members: `${path}/${id}/contacts` };
};

test("a list has a name that no other has", async () => {
  const { call, id, sandbox } = await withList();
  expect([...sandbox.state.lists.values()]).toEqual([
    { id, name: "Newsletter", createdAt: "2026-03-01T12:00:00.000Z" },
  ]);
  expect((await call("POST", path, { name: "Newsletter" })).status).toBe(409);
  expect((await call("POST", path, { name: " " })).status).toBe(400);
});

test("adding creates missing contacts, and adds none twice", async () => {
  const { call, members, id, sandbox } = await withList();
  sandbox.addContact({ email: "ada@example.com" });
  const emails = ["ada@example.com", "bob@example.com", "ADA@example.com"];
  expect((await call("POST", members, { emails })).body).toEqual({ added: 2, created: 1 });
  expect((await call("POST", members, { emails })).body).toEqual({ added: 0, created: 0 });
  expect(sandbox.state.contacts.map(({ listIds }) => listIds)).toEqual([[id], [id]]);
});

test("removing leaves the people and their other lists", async () => {
  const { call, members, id, sandbox } = await withList();
  const other = await call("POST", path, { name: "Other" });
  // As above.
  const otherId = (other.body as { id: string }).id;
  sandbox.addContact({ email: "ada@example.com", listIds: [id, otherId] });
  const emails = ["ada@example.com", "nobody@example.com"];
  expect((await call("DELETE", members, { emails })).body).toEqual({ removed: 1 });
  expect(sandbox.state.contacts.map(({ listIds }) => listIds)).toEqual([[otherId]]);
});

test.each([
  [{}, "emails must be an array of addresses."],
  [{ emails: [] }, "emails must be an array of addresses."],
  [{ emails: Array(1_001).fill("a@example.com") }, "emails must hold at most 1000 addresses."],
  [{ emails: ["ada"] }, "emails[0] is not a valid email address."],
])("wrong addresses are a 400 (%#)", async (body, error) => {
  const { call, members, sandbox } = await withList();
  for (const method of ["POST", "DELETE"]) {
    const reply = await call(method, members, body);
    expect([reply.status, reply.body]).toEqual([400, { error }]);
  }
  expect(sandbox.state.contacts).toEqual([]);
});

test("a thousand addresses pass", async () => {
  const { call, members } = await withList();
  const emails = Array.from({ length: 1_000 }, (_, index) => `p${index}@example.com`);
  expect((await call("POST", members, { emails })).body).toEqual({ added: 1_000, created: 1_000 });
});

test("a list that is not there is a 404", async () => {
  const { call } = open();
  expect((await call("POST", `${path}/li_none/contacts`, { emails: ["a@example.com"] })).status).toBe(404);
});

test("listIds of a contact replaces its lists entirely", async () => {
  const { call, id, sandbox } = await withList();
  const ada = sandbox.addContact({ email: "ada@example.com" });
  await call("PATCH", `/api/v1/contacts/${ada.id}`, { listIds: [id, id] });
  expect(ada.listIds).toEqual([id]);
  await call("PATCH", `/api/v1/contacts/${ada.id}`, { listIds: [] });
  expect(ada.listIds).toEqual([]);
});

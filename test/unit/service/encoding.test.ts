import { expect, test } from "vitest";
import { served } from "../resources/served.ts";

const addresses = [
  "o'brien+x&y=1%2f@ex-ample.org",
  '"ada lovelace"@example.com',
  "ärger@exämple.de",
  "a#b?c/d@x.y",
];

test.each(addresses)(
  "%s is searched for as it is, and found among near ones on a later page",
  async (email) => {
    const near = Array.from({ length: 200 }, (_, at) => ({ id: `n-${at}`, email: `${at}${email}` }));
    const wanted = { id: "c-1", email: email.replace(/[a-z]/g, (letter) => letter.toUpperCase()) };
    const later = { data: [...near.slice(-2), wanted], total: 201, skip: 198, limit: 200 };
    const { client, requests } = served([
      [200, { data: near, total: 201, skip: 0, limit: 200 }],
      [200, later],
    ]);
    expect(await client.contacts.find(email)).toEqual(wanted);
    for (const { path } of requests) {
      const query = path.slice(path.indexOf("?") + 1);
      // Read by a decoder that knows no plus sign for a blank, too.
      const search = query.split("&").find((pair) => pair.startsWith("search=")) ?? "";
      expect(decodeURIComponent(search.slice("search=".length))).toBe(email);
    }
  },
);

test("nobody is found where the search matches only near addresses", async () => {
  const { client } = served([
    [200, { data: [{ id: "c-1", email: "xada@example.com" }], total: 1 }],
    [200, []],
  ]);
  expect(await client.contacts.find("ada@example.com")).toBeNull();
});

test.each(["a/b", "a b", "ü", "%2e", "%2e%2e", ":id", "#", "?x=1", "a\\b", "..a"])(
  "the id %s stays one segment of the path",
  async (id) => {
    const { client, requests } = served([[200, { id, email: "ada@example.com" }]]);
    await client.contacts.update(id, { name: "Ada" });
    expect(requests[0]?.path).toBe(`/api/v1/contacts/${encodeURIComponent(id)}`);
  },
);

test.each([".", "..", ""])("the id %j is refused", async (id) => {
  const { client, requests } = served([]);
  await expect(client.contacts.update(id, { name: "Ada" })).rejects.toThrow("contacts.update: id: must");
  expect(requests).toEqual([]);
});

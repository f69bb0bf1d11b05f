import dayjs from "dayjs";
import { DateTime } from "luxon";
import moment from "moment";
import { expect, test } from "vitest";
import { Client } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const scene = () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch });
  return { sandbox, client };
};

const email = { to: "ada@example.com", subject: "Reminder", text: "Tomorrow." };
const time = "2099-01-31T08:00:00.000Z";

// What JavaScript lets through, and the types do not.
const loose = (value: unknown): never => value as never;

test.each([
  ["dayjs", dayjs(time), ".toDate()"],
  ["moment", moment(time), ".toDate()"],
  ["luxon", DateTime.fromISO(time), ".toJSDate()"],
])("a time of %s is refused with the call that helps", async (_name, sendAt, call) => {
  const { sandbox, client } = scene();
  await expect(client.emails.schedule(loose({ ...email, sendAt }))).rejects.toMatchObject({
    issues: [
      {
        path: "sendAt",
        message: expect.stringMatching(`call ${call.replace(/[.()]/g, "\\$&")} on it$`),
      },
    ],
  });
  expect(sandbox.state.counts.requests).toBe(0);
});

test.each([
  ["dayjs", dayjs(time).toDate()],
  ["moment", moment(time).toDate()],
  ["luxon", DateTime.fromISO(time).toJSDate()],
])("what that call of %s returns is taken", async (_name, sendAt) => {
  const { client } = scene();
  expect(await client.emails.schedule({ ...email, sendAt })).toMatchObject({ sendAt: time });
});

test.each([
  ["dayjs", dayjs("none")],
  ["moment", moment(Number.NaN)],
  ["luxon", DateTime.fromISO("none")],
])("an invalid time of %s clears no custom field", async (_name, renewsAt) => {
  const { sandbox, client } = scene();
  await expect(client.contacts.update("id", { customFields: { renewsAt } })).rejects.toMatchObject({
    issues: [{ path: "customFields.renewsAt", message: expect.stringContaining("its toJSON returns null") }],
  });
  expect(sandbox.state.counts.requests).toBe(0);
});

// A service with constant responses: one contact for any write, a page of 200 contacts for any read. The benchmarks start it
// in another process, so that they measure only the client. It sends its port to its parent.
import { createServer } from "node:http";

const contact = {
  email: "ada@example.com",
  name: "Ada Lovelace",
  title: "Engineer",
  phone: "+44 20 7946 0000",
  linkedIn: "https://www.linkedin.com/in/ada",
  notes: null,
  stage: "NEW",
  source: "MANUAL",
  verified: true,
  emailConfidence: 0.97,
  customFields: { plan: "pro", seats: 4 },
  leadId: "lead_1",
  listIds: ["list_1", "list_2"],
  createdAt: "2026-01-31T09:00:00.000Z",
  updatedAt: "2026-01-31T09:00:00.000Z",
};
const people = Array.from({ length: 200 }, (_, i) => ({ id: `contact_${i}`, ...contact }));
const one = JSON.stringify(people[0]);
const page = JSON.stringify({ data: people, total: 200, skip: 0, limit: 200 });

const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    response.setHeader("content-type", "application/json");
    response.end(request.method === "GET" ? page : one);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.send?.(server.address().port));
process.on("disconnect", () => process.exit());

// A worker whose requests each come to the end of their budget: more calls than a window allows.
import { Client } from "touchpoint-sdk";

export default {
  async fetch(_request, { PLAIN_URL }) {
    const requests = { max: 2, windowMs: 200 };
    const client = new Client({ apiKey: "tp_key", baseUrl: PLAIN_URL, limits: { requests } });
    const pages = [];
    for (let page = 0; page < 3; page++) pages.push((await client.contacts.list({ limit: 1 })).data.length);
    return new Response(JSON.stringify(pages));
  },
};

// One email to one person. A send is never repeated when its response is lost: it may have gone out.
import { BadRequestError, Client, isTouchpointError, MailAccountError } from "touchpoint-sdk";

const client = new Client();

const send = async (to: string, force = false): Promise<string> => {
  try {
    const { sentAt, tracked } = await client.emails.send({
      to,
      subject: "Your invoice",
      html: "<p>Thank you for your order.</p>",
      force,
    });
    return `sent at ${sentAt}${tracked ? ", tracked" : ""}`;
  } catch (error) {
    if (error instanceof BadRequestError) return `refused: ${error.message}`;
    if (error instanceof MailAccountError)
      return `the mail account failed, nothing went out: ${error.message}`;
    if (isTouchpointError(error) && error.outcome === "unknown")
      return "it may have gone out: look before you send";
    throw error;
  }
};

await client.contacts.upsert({ email: "ada@example.com", stage: "UNSUBSCRIBED" });
console.log(await send("grace@example.com"));
console.log(await send("ada@example.com"));
console.log(await send("ada@example.com", true));
await client.close();

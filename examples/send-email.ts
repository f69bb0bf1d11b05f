// Sends one email to one person. If the response is lost, the client does not retry: the email may have been sent.
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
      return `the mail account refused it, nothing was sent: ${error.message}`;
    if (isTouchpointError(error) && error.outcome === "unknown")
      return "it may have been sent: look in the mail account";
    throw error;
  }
};

await client.contacts.upsert({ email: "ada@example.com", stage: "UNSUBSCRIBED" });
console.log(await send("grace@example.com"));
console.log(await send("ada@example.com"));
console.log(await send("ada@example.com", true));
await client.close();

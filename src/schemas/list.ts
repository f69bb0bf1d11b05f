import * as z from "zod/mini";
import { deferred, EmailAddress, inputObject, maybe, Text } from "./common.ts";

/** A named group of contacts. Other fields than these are not documented. */
export const List = deferred(() => z.looseObject({ id: z.string(), name: maybe(z.string()) }));
export type List = z.infer<typeof List>;

/** A new list; its name is unique in the workspace. */
export const ListInput = deferred(() => inputObject({ name: Text }));
export type ListInput = z.infer<typeof ListInput>;

/** The most addresses one membership request may carry. */
export const maxAddressesPerRequest = 1_000;

/** The people to add to or remove from a list in one request. */
export const ListMembers = deferred(() =>
  inputObject({
    emails: z
      .array(EmailAddress, "must be an array of email addresses")
      .check(
        z.minLength(1, "must hold at least one address"),
        z.maxLength(maxAddressesPerRequest, "must hold at most 1000 addresses"),
      ),
  }),
);
export type ListMembers = z.infer<typeof ListMembers>;

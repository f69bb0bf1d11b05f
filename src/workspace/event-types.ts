import type { StandardSchema } from "../runtime/standard-schema.ts";
import type { FreeFields, ReadableFields } from "../service/common.ts";
import type { ContactPatch } from "../service/contacts.ts";
import type { EventFields, EventInput } from "../service/events.ts";
import type { ContactPatchOf, OpenFields } from "./contact-types.ts";

/** No schemas for events: every name that is not reserved is accepted, with all properties that are not refused. */
// biome-ignore lint/suspicious/noEmptyInterface: the name is what an editor shows.
export interface OpenEvents {}

// Sentences as types: the compiler prints them as they are where a value does not fit.
type ReservedEventName = "Names that start with service. are for events of the service itself.";
type RefusedPropertyName = "The service refuses an event with this property.";

/** The refused names. A name that is known only at run time is refused there. */
type RefusedProperties = {
  password?: RefusedPropertyName;
  card_number?: RefusedPropertyName;
  ssn?: RefusedPropertyName;
};

/** An event of a workspace that has no schemas for its events. */
export interface OpenEvent<Name, Patch = ContactPatch> extends EventFields {
  /** The event's name: not blank, and not starting with `service.`. */
  name: Name extends `service.${string}` ? ReservedEventName : Name;
  /** Data of the event. Names such as `password`, `card_number` or `ssn` are refused. */
  properties?: (FreeFields & RefusedProperties) | undefined;
  /** Contact fields to set on the person, for example `name`. */
  contactFields?: Patch | undefined;
}

/** An event with optional properties. */
export interface EventWithOptional<Name, Properties, Patch = ContactPatch> extends EventFields {
  /** One of the names that have a schema. */
  name: Name;
  /** Data of the event; matches the schema of its name. */
  properties?: Properties | undefined;
  /** Contact fields to set on the person, for example `name`. */
  contactFields?: Patch | undefined;
}

/** An event with required properties. */
export interface EventWith<Name, Properties, Patch = ContactPatch>
  extends EventWithOptional<Name, Properties, Patch> {
  /** Data of the event; matches the schema of its name. */
  properties: Properties;
}

/** The event names; any string if there are no schemas. */
export type EventName<Events> = [keyof Events] extends [never] ? string : keyof Events & string;

type PropertiesOf<Given> = string extends keyof Given ? Given & RefusedProperties : Given;

type EventNamed<Name, Given, Patch> =
  Record<never, never> extends Given
    ? EventWithOptional<Name, PropertiesOf<Given>, Patch>
    : undefined extends Given
      ? EventWithOptional<Name, Given, Patch>
      : EventWith<Name, PropertiesOf<Given>, Patch>;

/** An event with one of the names, as `events.record` takes it. */
export type EventOf<Events, Name = EventName<Events>, Fields = OpenFields> = [keyof Events] extends [never]
  ? OpenEvent<Name, ContactPatchOf<Fields>>
  : Name extends keyof Events
    ? EventNamed<Name, Events[Name], ContactPatchOf<Fields>>
    : never;

/** An event from a source, as a callback gets it. */
export type GivenEvent = EventInput & {
  /** Data of the event. */
  properties?: ReadableFields | undefined;
};

/** The events that the callbacks of `events.ingest` get. */
export type GivenEventOf<Events, Name> = [keyof Events] extends [never] ? GivenEvent : EventOf<Events, Name>;

/** A schema for the properties of each event, by the event's name. */
export type EventSchemas<Events> = {
  readonly [Name in keyof Events]: Name extends `service.${string}`
    ? ReservedEventName
    : StandardSchema<Events[Name]>;
};

import type { FreeFields, ReadableFields } from "../service/common.ts";
import type { EventContact, EventInput } from "../service/events.ts";
import type { StandardSchema } from "./standard-schema.ts";

/** No schemas for events: every name that is not reserved is accepted, with all properties that are not refused. */
// biome-ignore lint/suspicious/noEmptyInterface: the name is what an editor shows.
export interface OpenEvents {}

declare const refusal: unique symbol;

/** Replaces names that start with `service.`: they are reserved for events that the service records itself. */
export interface ReservedEventName {
  /** No value has this property, so the name does not compile. */
  readonly [refusal]: never;
}

/** Replaces the property names `password`, `card_number` and `ssn`: the service refuses an event with one. */
export interface RefusedPropertyName {
  /** No value has this property, so the name does not compile. */
  readonly [refusal]: never;
}

/** The refused names. A name that is known only at run time is refused there. */
type RefusedProperties = {
  password?: RefusedPropertyName;
  card_number?: RefusedPropertyName;
  ssn?: RefusedPropertyName;
};

/** What every event has besides its name and properties. */
interface EventBase {
  /** Your event id, not blank. A repeated id is recorded once. A missing id is generated. */
  id?: string | undefined;
  /** The person: an email, an externalId or a contact id. */
  contact: EventContact;
  /** Contact fields to set on the person, for example `name`. */
  contactFields?: FreeFields | undefined;
  /** The time of the event: a `Date`, or an ISO 8601 string with a time zone. The service refuses a future time. */
  occurredAt?: Date | string | undefined;
  /** `false`: an unknown email does not create a contact. */
  createContact?: boolean | undefined;
}

/** An event of a workspace that has no schemas for its events. */
export interface OpenEvent<Name> extends EventBase {
  /** The event's name: not blank, and not starting with `service.`. */
  name: Name extends `service.${string}` ? ReservedEventName : Name;
  /** Data of the event. Names such as `password`, `card_number` or `ssn` are refused. */
  properties?: (FreeFields & RefusedProperties) | undefined;
}

/** An event with required properties. */
export interface EventWith<Name, Properties> extends EventBase {
  /** One of the names that have a schema. */
  name: Name;
  /** Data of the event; matches the schema of its name. */
  properties: Properties;
}

/** An event with optional properties. */
export interface EventWithOptional<Name, Properties> extends EventBase {
  /** One of the names that have a schema. */
  name: Name;
  /** Data of the event; matches the schema of its name. */
  properties?: Properties | undefined;
}

/** The event names; any string if there are no schemas. */
export type EventName<Events> = [keyof Events] extends [never] ? string : keyof Events & string;

type PropertiesOf<Given> = string extends keyof Given ? Given & RefusedProperties : Given;

type EventNamed<Name, Given> =
  Record<never, never> extends Given
    ? EventWithOptional<Name, PropertiesOf<Given>>
    : undefined extends Given
      ? EventWithOptional<Name, Given>
      : EventWith<Name, PropertiesOf<Given>>;

/** An event with one of the names, as `events.record` takes it. */
export type EventOf<Events, Name = EventName<Events>> = [keyof Events] extends [never]
  ? OpenEvent<Name>
  : Name extends keyof Events
    ? EventNamed<Name, Events[Name]>
    : never;

/** An event from a source, as a callback gets it. */
export type GivenEvent = EventInput & {
  /** Data of the event. */
  properties?: ReadableFields | undefined;
  /** Contact fields to set on the person, for example `name`. */
  contactFields?: ReadableFields | undefined;
};

/** The events that the callbacks of `events.ingest` get. */
export type GivenEventOf<Events, Name> = [keyof Events] extends [never] ? GivenEvent : EventOf<Events, Name>;

/** A schema for the properties of each event, by the event's name. */
export type EventSchemas<Events> = {
  readonly [Name in keyof Events]: Name extends `service.${string}`
    ? ReservedEventName
    : StandardSchema<Events[Name]>;
};

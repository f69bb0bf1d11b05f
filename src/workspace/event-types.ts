import type { FreeFields, ReadableFields } from "../service/common.ts";
import type { EventContact, EventInput } from "../service/events.ts";
import type { StandardSchema } from "./standard-schema.ts";

/** No schemas for events, so every name that is not reserved will do, with all properties that are not refused. */
// biome-ignore lint/suspicious/noEmptyInterface: the name is what an editor shows.
export interface OpenEvents {}

declare const refusal: unique symbol;

/** Stands where a name starts with `service.`: those are for events the service records itself. */
export interface ReservedEventName {
  /** No value has it. */
  readonly [refusal]: never;
}

/** Stands at the property names `password`, `card_number` and `ssn`: the service refuses an event with one. */
export interface RefusedPropertyName {
  /** No value has it. */
  readonly [refusal]: never;
}

/** The refused names where any other would do. A name that is only known at run time is refused there. */
type RefusedProperties = {
  password?: RefusedPropertyName;
  card_number?: RefusedPropertyName;
  ssn?: RefusedPropertyName;
};

/** What every event has beside its name and properties. */
interface EventBase {
  /** The caller's event id, not blank: a repeated id is recorded once. One is given where there is none. */
  id?: string | undefined;
  /** Whom it is about: an email, an externalId or a contact id. */
  contact: EventContact;
  /** Contact fields to set on the person, for example `name`. */
  contactFields?: FreeFields | undefined;
  /** When it happened: a `Date`, or an ISO 8601 string with a time zone. The service refuses a time in its future. */
  occurredAt?: Date | string | undefined;
  /** `false`: an unknown email does not create a contact. */
  createContact?: boolean | undefined;
}

/** An event of a workspace that has no schemas for its events. */
export interface OpenEvent<Name> extends EventBase {
  /** The event's name: not blank, and not beginning with `service.`. */
  name: Name extends `service.${string}` ? ReservedEventName : Name;
  /** Data of the event; not under names such as `password`, `card_number` or `ssn`. */
  properties?: (FreeFields & RefusedProperties) | undefined;
}

/** An event with properties that must be given. */
export interface EventWith<Name, Properties> extends EventBase {
  /** One of the names that the workspace's schemas are given for. */
  name: Name;
  /** Data of the event; fits the schema of its name. */
  properties: Properties;
}

/** An event with properties that may be left out. */
export interface EventWithOptional<Name, Properties> extends EventBase {
  /** One of the names that the workspace's schemas are given for. */
  name: Name;
  /** Data of the event; fits the schema of its name. */
  properties?: Properties | undefined;
}

/** The names of the events; any string where no schemas are given. */
export type EventName<Events> = [keyof Events] extends [never] ? string : keyof Events & string;

type PropertiesOf<Given> = string extends keyof Given ? Given & RefusedProperties : Given;

type EventNamed<Name, Given> =
  Record<never, never> extends Given
    ? EventWithOptional<Name, PropertiesOf<Given>>
    : undefined extends Given
      ? EventWithOptional<Name, Given>
      : EventWith<Name, PropertiesOf<Given>>;

/** An event of one of the names: what `events.record` takes. */
export type EventOf<Events, Name = EventName<Events>> = [keyof Events] extends [never]
  ? OpenEvent<Name>
  : Name extends keyof Events
    ? EventNamed<Name, Events[Name]>
    : never;

/** An event of a source, as a callback is handed it. */
export type GivenEvent = EventInput & {
  /** Data of the event. */
  properties?: ReadableFields | undefined;
  /** Contact fields to set on the person, for example `name`. */
  contactFields?: ReadableFields | undefined;
};

/** What the callbacks of `events.ingest` are handed. */
export type GivenEventOf<Events, Name> = [keyof Events] extends [never] ? GivenEvent : EventOf<Events, Name>;

/** A schema for the properties of each event, by the event's name. */
export type EventSchemas<Events> = {
  readonly [Name in keyof Events]: Name extends `service.${string}`
    ? ReservedEventName
    : StandardSchema<Events[Name]>;
};

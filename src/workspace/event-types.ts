import type { StandardSchema } from "../runtime/standard-schema.ts";
import type { FreeFields, ReadableFields } from "../service/common.ts";
import type { ContactPatch } from "../service/contacts.ts";
import type { EventFields, EventInput } from "../service/events.ts";
import type { ContactPatchOf, OpenFields } from "./contact-types.ts";

/** The events of a workspace without event schemas. Only reserved names and refused properties are excluded. */
// biome-ignore lint/suspicious/noEmptyInterface: the name is what an editor shows.
export interface OpenEvents {}

// The compiler prints these types in its error messages, so they are sentences.
type ReservedEventName = "Names that start with service. are for events of the service itself.";
type RefusedPropertyName = "The service refuses an event with this property.";

/** The property names that the service refuses. A name that the compiler cannot see is refused at run time. */
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

/** Adds the refused names if the properties may have any name. */
type PropertiesOf<Typed> = string extends keyof Typed ? Typed & RefusedProperties : Typed;

/** An event whose properties are optional if the type accepts an empty object or undefined. */
type EventNamed<Name, Typed, Patch> =
  Record<never, never> extends Typed
    ? EventWithOptional<Name, PropertiesOf<Typed>, Patch>
    : undefined extends Typed
      ? EventWithOptional<Name, Typed, Patch>
      : EventWith<Name, PropertiesOf<Typed>, Patch>;

/** An event with one of the names, as `events.record` takes it. */
export type EventOf<Events, Name = EventName<Events>, Fields = OpenFields> = [keyof Events] extends [never]
  ? OpenEvent<Name, ContactPatchOf<Fields>>
  : Name extends keyof Events
    ? EventNamed<Name, Events[Name], ContactPatchOf<Fields>>
    : never;

/** An event from a source, as callbacks get it. */
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

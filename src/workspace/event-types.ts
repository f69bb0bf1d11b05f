import type { EventInput } from "../schemas/event.ts";
import type { StandardSchema } from "./standard-schema.ts";

/** No schemas for events: any name that is not reserved, any properties that are not refused. */
// biome-ignore lint/suspicious/noEmptyInterface: the name is what an editor shows.
export interface OpenEvents {}

declare const refusal: unique symbol;

/** Stands where a name starts with `service.`: those are for events the service records itself. */
export interface ReservedEventName {
  readonly [refusal]: never;
}

/** Stands at the property names `password`, `card_number` and `ssn`: the service refuses an event with one. */
export interface RefusedPropertyName {
  readonly [refusal]: never;
}

/** The refused names where any other would do. A name that is only known at run time is refused there. */
export type RefusedProperties = {
  password?: RefusedPropertyName;
  card_number?: RefusedPropertyName;
  ssn?: RefusedPropertyName;
};

interface EventBase extends Omit<EventInput, "name" | "properties"> {}

/** An event of a workspace that has no schemas for its events. */
export interface OpenEvent<Name> extends EventBase {
  name: Name extends `service.${string}` ? ReservedEventName : Name;
  /** Data of the event. */
  properties?: ({ [property: string]: unknown } & RefusedProperties) | undefined;
}

/** An event with properties that must be given. */
export interface EventWith<Name, Properties> extends EventBase {
  name: Name;
  properties: Properties;
}

/** An event with properties that may be left out. */
export interface EventWithOptional<Name, Properties> extends EventBase {
  name: Name;
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

/** A schema for the properties of each event, by the event's name. */
export type EventSchemas<Events> = {
  readonly [Name in keyof Events]: Name extends `service.${string}`
    ? ReservedEventName
    : StandardSchema<Events[Name]>;
};

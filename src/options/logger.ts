import { can } from "../runtime/rules.ts";

/** The log levels, from the most to the fewest lines. The library never logs at `error`, because it throws errors. */
export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/**
 * A logger with the methods of `console`. Loggers with the methods of pino or bunyan get the fields as first argument.
 *
 * @example
 * ```ts
 * import { Client } from "touchpoint-sdk";
 *
 * await using logged = new Client({ logger: console, logLevel: "info" });
 * ```
 */
export interface Logger {
  /** Details for debugging: attempts, responses, waits. May contain personal data. */
  debug(message: string, fields: object): void;
  /** Normal events, for example a retry. */
  info(message: string, fields: object): void;
  /** Something to check, for example an invalid response. */
  warn(message: string, fields: object): void;
  /** Never called, because the library throws errors. */
  error(message: string, fields: object): void;
}

/** The logger with its level applied. */
export interface Log extends Omit<Logger, "error"> {
  isOn(level: Exclude<LogLevel, "silent">): boolean;
}

export const logLevels: readonly LogLevel[] = ["debug", "info", "warn", "error", "silent"];

const ignore = (): void => undefined;

/** Calls an observer. A failure of the observer, at once or later, doesn't affect the observed call. */
export const callSafely = (observer: () => unknown): void => {
  try {
    const result = observer();
    // Accept any thenable, because a promise of another realm or library could also reject without a handler.
    if (typeof result === "object" && result !== null && "then" in result)
      Promise.resolve(result).then(ignore, ignore);
  } catch {
    // Ignore the failure: the observed call continues.
  }
};

/**
 * Recognizes pino and bunyan, which take the fields first and drop arguments after the message. `child` is not enough,
 * because winston also has it.
 */
const takesFieldsFirst = (logger: Logger): boolean =>
  can(logger, "child") && (can(logger, "bindings") || can(logger, "addStream"));

/**
 * Creates a log. Without a logger, it logs nothing. Callers must log paths, which may contain an address, only at
 * `debug`, and must never log the key.
 */
export const logTo = (logger: Logger | undefined, level: LogLevel): Log => {
  const isOn = (lineLevel: LogLevel): boolean =>
    logger !== undefined && logLevels.indexOf(lineLevel) >= logLevels.indexOf(level) && level !== "silent";
  const isFieldsFirst = logger !== undefined && takesFieldsFirst(logger);
  const writeAt =
    (lineLevel: "debug" | "info" | "warn") =>
    (message: string, fields: object): void => {
      if (logger === undefined || !isOn(lineLevel)) return;
      const text = `touchpoint: ${message}`;
      const args = isFieldsFirst ? [fields, text] : [text, fields];
      callSafely(() => Reflect.apply(logger[lineLevel], logger, args));
    };
  return { isOn, debug: writeAt("debug"), info: writeAt("info"), warn: writeAt("warn") };
};

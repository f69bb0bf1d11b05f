/** From the most to the least said: a logger is told what is at its level or behind it. `error` says nothing. */
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
  /** What helps to find a fault: attempts, answers, waits. It may hold personal data. */
  debug(message: string, fields: object): void;
  /** What happens in normal work: a retry. */
  info(message: string, fields: object): void;
  /** What somebody should look at: an answer that does not fit. */
  warn(message: string, fields: object): void;
  /** Not called: what fails is thrown. */
  error(message: string, fields: object): void;
}

/** The logger behind its level. */
export interface Log {
  isOn(level: Exclude<LogLevel, "silent">): boolean;
  debug(message: string, fields: object): void;
  info(message: string, fields: object): void;
  warn(message: string, fields: object): void;
}

export const logLevels: readonly LogLevel[] = ["debug", "info", "warn", "error", "silent"];

const ignore = (): void => undefined;

/** Tells a watcher, whose own failures, at once or later, are nobody's but its author's. */
export const callSafely = (watcher: () => unknown): void => {
  try {
    const told = watcher();
    // As `await` takes it: a promise of another realm or library rejects unheard as well.
    if (typeof told === "object" && told !== null && "then" in told)
      Promise.resolve(told).then(ignore, ignore);
  } catch {
    // What is being told of goes on.
  }
};

// Without types anything may be given; what is no logger is reported with the other faults.
const can = (logger: Logger, method: string): boolean =>
  typeof Reflect.get(Object(logger), method) === "function";

/** pino and bunyan take the fields first, and drop what comes behind the message. winston has `child` too. */
const takesFieldsFirst = (logger: Logger): boolean =>
  can(logger, "child") && (can(logger, "bindings") || can(logger, "addStream"));

/** Says nothing without a logger. Paths, which may hold an address, are passed at `debug` only; the key never. */
export const logTo = (logger: Logger | undefined, level: LogLevel): Log => {
  const isOn = (wanted: LogLevel): boolean =>
    logger !== undefined && logLevels.indexOf(wanted) >= logLevels.indexOf(level) && level !== "silent";
  const isFieldsFirst = logger !== undefined && takesFieldsFirst(logger);
  const say =
    (at: "debug" | "info" | "warn") =>
    (message: string, fields: object): void => {
      if (logger === undefined || !isOn(at)) return;
      const text = `touchpoint: ${message}`;
      const args = isFieldsFirst ? [fields, text] : [text, fields];
      callSafely(() => Reflect.apply(logger[at], logger, args));
    };
  return { isOn, debug: say("debug"), info: say("info"), warn: say("warn") };
};

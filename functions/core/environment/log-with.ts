import type { Log, LogFields } from './log.ts';

/** The same log, with these fields in every line. */
export const logWith = (always: LogFields, log: Log): Log => ({
  info: (message, fields) => log.info(message, { ...always, ...fields }),
  warn: (message, fields) => log.warn(message, { ...always, ...fields }),
  error: (message, fields) => log.error(message, { ...always, ...fields }),
});

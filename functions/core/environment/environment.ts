export interface LedgerClock {
  nowMs(): number;
  monotonicMs(): number;
  sleep(ms: number): Promise<void>;
}

export const systemClock: LedgerClock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (delayMs) => new Promise((resolve) => setTimeout(resolve, delayMs)),
};

/** One JSON line per fact, named fields only: events, requests and errors are never logged whole. */
export interface Log {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export type LogFields = Readonly<Record<string, string | number | boolean | undefined | readonly string[]>>;

export const consoleLog: Log = {
  info: (message, fields) => write('info', message, fields),
  warn: (message, fields) => write('warn', message, fields),
  error: (message, fields) => write('error', message, fields),
};

/** For tests and for `npm start`, where the terminal belongs to the decisions. */
export const silentLog: Log = {
  info: () => {},
  warn: () => {},
  error: () => {},
};

function write(level: string, message: string, fields: LogFields = {}): void {
  // Not `console.log`: Lambda's runtime replaces it, and would put our line as escaped text into one of its own.
  process.stdout.write(`${JSON.stringify({ level, time: new Date().toISOString(), message, ...fields })}\n`);
}

export const logWith = (always: LogFields, log: Log): Log => ({
  info: (message, fields) => log.info(message, { ...always, ...fields }),
  warn: (message, fields) => log.warn(message, { ...always, ...fields }),
  error: (message, fields) => log.error(message, { ...always, ...fields }),
});

/** Calls `work` for every item, at most `width` at a time, in their order. The first failure ends it and is thrown. */
export async function atOnce<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  let failed = false;
  const worker = async (): Promise<void> => {
    for (let next = queue.next(); !failed && next.done !== true; next = queue.next()) {
      try {
        await work(next.value);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
}

/** Returns the name of an error. Its message may quote an answer or a secret, so it goes into no log. */
export const errorName = (error: unknown): string =>
  error instanceof Error ? error.name : 'unknown failure';

import { costMicros } from '../prices/price.ts';
import type { UnitRow } from './unit-row.ts';

/** Every unit limits are counted in, in the order people are told them. To add one, add a row. */
export const UNITS = {
  /** Millionths of the deployment's one currency. */
  micros: {
    kind: 'money',
    letter: 'm',
    askedBy: 'budget',
    inCurrency: true,
    guessed: true,
    asked: (terms) => terms?.costMicros,
    settled: (seconds, { microsPerMinute, round }) => costMicros(microsPerMinute, seconds, round),
    usedOn: ({ settledMicros, heldMicros }) => settledMicros + heldMicros,
    usageHasHeld: true,
    perWhole: 1_000_000,
  },
  /** Seconds that jobs run. */
  seconds: {
    kind: 'minutes',
    letter: 's',
    askedBy: 'budget',
    guessed: true,
    asked: (terms) => terms?.estimateSeconds,
    settled: (seconds) => seconds,
    usedOn: ({ seconds }) => seconds,
    perWhole: 60,
  },
  jobs: {
    kind: 'jobs',
    letter: 'j',
    askedBy: 'concurrency',
    atOnce: true,
    asked: () => 1,
  },
  millicpu: {
    kind: 'cpu',
    letter: 'c',
    askedBy: 'capacity',
    atOnce: true,
    requested: 'cpu',
  },
  /** Bytes of memory. */
  bytes: {
    kind: 'memory',
    letter: 'b',
    askedBy: 'capacity',
    atOnce: true,
    requested: 'memory',
  },
  /** Jobs that were started: a job that ran was started, whether or not it held one. */
  starts: {
    kind: 'starts',
    letter: 'n',
    askedBy: 'window',
    asked: () => 1,
    settled: () => 1,
    usedOn: ({ admitted, ranRejected, released }) => admitted + ranRejected - released,
  },
} as const satisfies Readonly<Record<string, UnitRow>>;

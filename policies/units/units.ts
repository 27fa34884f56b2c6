import { costMicros } from '../price.ts';
import { bytesText } from '../text/bytes-text.ts';
import { countText } from '../text/digits.ts';
import { durationText } from '../text/duration-text.ts';
import { moneyText, type Rounding } from '../text/money-text.ts';
import type { UnitRow } from './unit-row.ts';

const timeText = (seconds: number, rounding?: Rounding): string =>
  durationText(seconds, rounding === 'down' ? 'down' : 'up');

const PER_PERIOD = { atOnce: false, inCurrency: false, guessed: false, usageHasHeld: false } as const;
const AT_ONCE = { ...PER_PERIOD, atOnce: true } as const;

/** Every unit limits are counted in, in the order people are told them. To add one, add a row. */
export const UNITS = {
  /** Millionths of the deployment's one currency. */
  micros: {
    ...PER_PERIOD,
    kind: 'money',
    letter: 'm',
    askedBy: 'budget',
    inCurrency: true,
    guessed: true,
    asked: (terms) => terms?.costMicros,
    settled: (seconds, { microsPerMinute, round }) => costMicros(microsPerMinute, seconds, round),
    usedOn: ({ settledMicros, heldMicros }) => settledMicros + heldMicros,
    usageHasHeld: true,
    written: { perWhole: 1_000_000 },
    text: {
      amount: (amount, currency, rounding) => `${moneyText(amount, rounding)} ${currency}`,
      bare: moneyText,
      name: 'CI budget',
      wholly: 'the whole',
      lower: 'Give the job a shorter timeout or a cheaper runner, or',
      budget: { unnamed: 'A CI budget', saver: 'a cheaper runner or a shorter timeout' },
      heading: 'Money',
      hint: (currency) => `In ${currency}, like 500 or 500.25.`,
      words: ['money'],
    },
  },
  /** Of running jobs. */
  seconds: {
    ...PER_PERIOD,
    kind: 'minutes',
    letter: 's',
    askedBy: 'budget',
    guessed: true,
    asked: (terms) => terms?.estimateSeconds,
    settled: (seconds) => seconds,
    usedOn: ({ seconds }) => seconds,
    written: { perWhole: 60 },
    text: {
      amount: (amount, _currency, rounding) => timeText(amount, rounding),
      bare: (amount, rounding) => timeText(amount, rounding).replace(/ min$/, ''),
      name: 'CI minutes',
      wholly: 'all',
      lower: 'Give the job a shorter timeout, or',
      budget: { unnamed: 'A CI minutes quota', saver: 'a shorter timeout' },
      heading: 'CI minutes',
      hint: () => 'In CI minutes.',
      words: ['min', 'minutes'],
    },
  },
  jobs: {
    ...AT_ONCE,
    kind: 'jobs',
    letter: 'j',
    askedBy: 'concurrency',
    asked: () => 1,
    settled: () => 0,
    written: { perWhole: 1 },
    text: {
      amount: (amount) => (amount === 1 ? '1 job' : `${countText(amount)} jobs`),
      bare: countText,
      name: 'limit of CI jobs at once',
      wholly: 'the',
      lower: 'You can',
      heading: 'Jobs at once',
      hint: () => 'Jobs that run at the same time.',
      words: ['jobs', 'job'],
    },
  },
  millicpu: {
    ...AT_ONCE,
    kind: 'cpu',
    letter: 'c',
    askedBy: 'capacity',
    asked: () => undefined,
    requested: { of: ({ millicpu }) => millicpu, variable: 'KUBERNETES_CPU_REQUEST' },
    settled: () => 0,
    written: { quantity: 'cpu' },
    text: {
      amount: (amount) => `${countText(amount / 1_000)} CPU`,
      // All three places are told, so there is nothing to round.
      bare: (amount) => countText(amount / 1_000),
      name: 'CPU limit for running jobs',
      wholly: 'the',
      resource: 'CPU',
      lower: 'Lower the CPU that its KUBERNETES_* variables ask for, or',
      heading: 'CPU at once',
      hint: () => 'In CPUs, like 12 or 500m, as Kubernetes writes it.',
      words: ['cpu', 'cpus'],
    },
  },
  /** Of memory. */
  bytes: {
    ...AT_ONCE,
    kind: 'memory',
    letter: 'b',
    askedBy: 'capacity',
    asked: () => undefined,
    requested: { of: ({ bytes }) => bytes, variable: 'KUBERNETES_MEMORY_REQUEST' },
    settled: () => 0,
    written: { quantity: 'memory' },
    text: {
      amount: (amount, _currency, rounding) => bytesText(amount, rounding),
      // They keep their unit: `512 MiB of 6 GiB`.
      bare: bytesText,
      name: 'memory limit for running jobs',
      wholly: 'the',
      resource: 'memory',
      lower: 'Lower the memory that its KUBERNETES_* variables ask for, or',
      heading: 'Memory at once',
      hint: () => 'Like 64Gi, as Kubernetes writes it.',
      words: ['memory'],
    },
  },
  /** Jobs that were started: a job that ran was started, whether or not it held one. */
  starts: {
    ...PER_PERIOD,
    kind: 'starts',
    letter: 'n',
    askedBy: 'window',
    asked: () => 1,
    settled: () => 1,
    usedOn: ({ admitted, ranRejected, released }) => admitted + ranRejected - released,
    written: { perWhole: 1 },
    text: {
      amount: (amount) => (amount === 1 ? '1 job start' : `${countText(amount)} job starts`),
      bare: countText,
      name: 'limit of CI job starts',
      wholly: 'the',
      lower: 'You can',
      heading: 'Job starts',
      hint: () => 'Jobs that may start.',
      words: ['starts', 'start'],
    },
  },
} as const satisfies Readonly<Record<string, UnitRow>>;

import type { LimitFacts } from './limits/limit.ts';
import { oneLine, shortened } from './text/plain-text.ts';
import type { Unit } from './unit.ts';

interface UnitText {
  readonly amount: (amount: number, currency: string, rounding?: Rounding) => string;
  readonly bare: (amount: number, rounding?: Rounding) => string;
  readonly name: string;
  readonly resource?: string;
  readonly lower: string;
  readonly heading: string;
  readonly hint: (currency: string) => string;
  readonly words: readonly string[];
}

/** Separate from the table of units, so that programs without texts leave it out. */
export const UNIT_TEXTS: Readonly<Record<Unit, UnitText>> = {
  micros: {
    amount: (amount, currency) => `${moneyText(amount)} ${currency}`,
    bare: (amount) => moneyText(amount),
    name: 'CI budget',
    lower: 'Give the job a shorter timeout or a cheaper runner, or',
    heading: 'Money',
    hint: (currency) => `In ${currency}, like 500 or 500.25.`,
    words: ['money'],
  },
  seconds: {
    amount: (amount, _currency, rounding) => durationText(amount, rounding),
    bare: (amount, rounding) => durationText(amount, rounding).replace(/ min$/, ''),
    name: 'CI minutes',
    lower: 'Give the job a shorter timeout, or',
    heading: 'CI minutes',
    hint: () => 'In CI minutes.',
    words: ['min', 'minutes'],
  },
  jobs: {
    amount: (amount) => counted(amount, 'job'),
    bare: countText,
    name: 'limit of CI concurrent jobs',
    lower: 'You can',
    heading: 'Concurrent jobs',
    hint: () => 'Jobs that run at the same time.',
    words: ['jobs', 'job'],
  },
  millicpu: {
    amount: (amount) => `${countText(amount / 1_000)} CPU`,
    bare: (amount) => countText(amount / 1_000),
    name: 'CPU limit for running jobs',
    resource: 'CPU',
    lower: 'Lower the CPU that its KUBERNETES_* variables ask for, or',
    heading: 'CPU in use',
    hint: () => 'In CPUs, like 12 or 500m, as Kubernetes writes it.',
    words: ['cpu', 'cpus'],
  },
  bytes: {
    amount: (amount, _currency, rounding) => bytesText(amount, rounding),
    bare: bytesText,
    name: 'memory limit for running jobs',
    resource: 'memory',
    lower: 'Lower the memory that its KUBERNETES_* variables ask for, or',
    heading: 'Memory in use',
    hint: () => 'Like 64Gi, as Kubernetes writes it.',
    words: ['memory'],
  },
  starts: {
    amount: (amount) => counted(amount, 'job start'),
    bare: countText,
    name: 'limit of CI job starts',
    lower: 'You can',
    heading: 'Job starts',
    hint: () => 'Jobs that may start.',
    words: ['starts', 'start'],
  },
};

export const amountText = (amount: number, unit: Unit, currency: string, rounding?: Rounding): string =>
  UNIT_TEXTS[unit].amount(amount, currency, rounding);

export const bareAmountText = (amount: number, unit: Unit, rounding?: Rounding): string =>
  UNIT_TEXTS[unit].bare(amount, rounding);

const LABEL_CHARACTERS_MAX = 100;

export const limitName = ({ unit }: Pick<LimitFacts, 'unit'>): string => UNIT_TEXTS[unit].name;

export const limitNameFirst = (facts: Pick<LimitFacts, 'unit'>): string =>
  limitName(facts).replace(/^./, (letter) => letter.toUpperCase());

export const limitLabelOf = ({ subjectLabel }: Pick<LimitFacts, 'subjectLabel'>): string =>
  shortened(oneLine(subjectLabel), LABEL_CHARACTERS_MAX);

const MICROS = 1_000_000n;

type Rounding = 'exact' | 'down' | 'up';

/** Two places, and as many more as the amount has: `4,210.00`. All programs print money by it. */
export function moneyText(micros: number): string {
  const absolute = BigInt(Math.abs(micros));
  const whole = grouped(String(absolute / MICROS));
  const fraction = String(absolute % MICROS)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `${micros < 0 ? '-' : ''}${whole}.${fraction}`;
}

const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+$)/g, ',');

export function countText(count: number): string {
  const [whole = '0', fraction] = String(Math.abs(count)).split('.');
  return `${count < 0 ? '-' : ''}${grouped(whole)}${fraction === undefined ? '' : `.${fraction}`}`;
}

/** `1 job`, `1,200 jobs` */
export const counted = (count: number, one: string): string =>
  `${countText(count)} ${one}${count === 1 ? '' : 's'}`;

/** `90 min`, `7.5 min`, `45 s`. Rounded up to a tenth; `down` for what is left or allowed. */
export function durationText(seconds: number, rounding: Rounding = 'up'): string {
  if (seconds !== 0 && Math.abs(seconds) < 60) return `${seconds} s`;
  const minutes = (rounding === 'down' ? Math.floor(seconds / 6) : Math.ceil(seconds / 6)) / 10;
  return `${countText(minutes)} min`;
}

const KIB_BYTES = 1_024;
const SCALES = ['KiB', 'MiB', 'GiB', 'TiB'] as const;

export function bytesText(bytes: number, rounding: Rounding = 'exact'): string {
  if (Math.abs(bytes) < KIB_BYTES) return `${bytes} B`;
  let hundredths = 0;
  let name = '';
  let amount = bytes;
  // The first scale on which it has at most four digits, after rounding: 1,023.999 MiB rounded up are 1 GiB.
  for (const scale of SCALES) {
    amount /= KIB_BYTES;
    hundredths = ROUNDED[rounding](amount * 100);
    name = scale;
    if (Math.abs(hundredths) < KIB_BYTES * 100) break;
  }
  return `${countText(hundredths / 100)} ${name}`;
}

const ROUNDED = { exact: Math.round, down: Math.floor, up: Math.ceil } as const;

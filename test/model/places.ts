/** The small company of the model: two roots, groups in three levels, limits of each and of both together, and jobs of several kinds. */

export const INSTANCE = 'gitlab.example.com';
export const ZONE = 'Europe/Berlin';
export const ROOTS = [100, 200] as const;
export const DEFAULT_TIMEOUT_SECONDS = 3_600;
/** Short, so that many jobs run longer than was held for them. */
export const ESTIMATE_SECONDS = 120;
export const CLASSES = ['small', 'large'] as const;
export const RUNNERS = [1, 2, 3] as const;

export type RunnerClassName = (typeof CLASSES)[number];

/** A begun minute of `large` costs a whole one. */
export const ROUNDED_UP_TO_SECONDS: Readonly<Record<RunnerClassName, number>> = { small: 1, large: 60 };

/** acme (100) ▸ a (101) ▸ x (103); acme ▸ b (102) ▸ y (104); beside it globex (200). 103 and project 1003 move between a and b. */
export interface Tree {
  readonly parentOf: ReadonlyMap<number, number>;
  readonly groupOf: ReadonlyMap<number, number>;
}

export const PROJECTS = [1001, 1002, 1003, 1004] as const;
export const PATH_OF: Readonly<Record<number, string>> = {
  100: 'acme',
  200: 'globex',
  101: 'a',
  102: 'b',
  103: 'x',
  104: 'y',
};

export const FIRST_TREE: Tree = {
  parentOf: new Map([
    [101, 100],
    [102, 100],
    [103, 101],
    [104, 102],
  ]),
  groupOf: new Map([
    [1001, 103],
    [1002, 104],
    [1003, 101],
    [1004, 200],
  ]),
};

/** Root first. */
export function chainOf(groupId: number, { parentOf }: Tree): readonly number[] {
  const parent = parentOf.get(groupId);
  return parent === undefined ? [groupId] : [...chainOf(parent, { parentOf, groupOf: new Map() }), groupId];
}

export type LimitUnit = 'micros' | 'seconds' | 'jobs' | 'starts';

/** Whole units; seconds come in whole minutes. */
export interface ModelLimit {
  readonly subject: string;
  readonly id: string;
  readonly unit: LimitUnit;
  readonly per?: 'hour' | 'day' | 'month' | 'once';
  readonly zone: string;
  readonly mode: 'enforce' | 'shadow';
  readonly amount: number | 'unlimited';
}

/** Some jobs' worth each: a minute of small is about 0.06, of large about 0.36. */
export const FIRST_LIMITS: readonly ModelLimit[] = [
  {
    subject: 'group/100',
    id: 'money-month',
    unit: 'micros',
    per: 'month',
    zone: ZONE,
    mode: 'enforce',
    amount: 6_000_000,
  },
  { subject: 'group/100', id: 'jobs-now', unit: 'jobs', zone: 'UTC', mode: 'enforce', amount: 6 },
  {
    subject: 'group/101',
    id: 'money-month',
    unit: 'micros',
    per: 'month',
    zone: ZONE,
    mode: 'enforce',
    amount: 2_000_000,
  },
  {
    subject: 'group/102',
    id: 'minutes-day',
    unit: 'seconds',
    per: 'day',
    zone: ZONE,
    mode: 'enforce',
    amount: 1_200,
  },
  {
    subject: 'group/103',
    id: 'starts-hour',
    unit: 'starts',
    per: 'hour',
    zone: 'UTC',
    mode: 'enforce',
    amount: 3,
  },
  { subject: 'group/103', id: 'jobs-now', unit: 'jobs', zone: 'UTC', mode: 'enforce', amount: 2 },
  {
    subject: 'group/104',
    id: 'money-day',
    unit: 'micros',
    per: 'day',
    zone: 'UTC',
    mode: 'enforce',
    amount: 900_000,
  },
  {
    subject: 'project/1001',
    id: 'money-day',
    unit: 'micros',
    per: 'day',
    zone: ZONE,
    mode: 'shadow',
    amount: 200_000,
  },
  {
    subject: 'project/1003',
    id: 'minutes-once',
    unit: 'seconds',
    per: 'once',
    zone: 'UTC',
    mode: 'enforce',
    amount: 1_800,
  },
  { subject: 'group/200', id: 'jobs-now', unit: 'jobs', zone: 'UTC', mode: 'enforce', amount: 2 },
  { subject: 'instance', id: 'jobs-now', unit: 'jobs', zone: 'UTC', mode: 'enforce', amount: 5 },
  {
    subject: 'instance',
    id: 'money-month',
    unit: 'micros',
    per: 'month',
    zone: ZONE,
    mode: 'enforce',
    amount: 3_000_000,
  },
];

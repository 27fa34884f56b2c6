/**
 * What was in force when: every edit makes a new edition, whose number travels with each decision as its policy version.
 * From it the test knows by itself what a job should have asked for and what it costs: nothing here calls the policies.
 */
import type { CounterKey } from '../../policies/claim.ts';
import {
  chainOf,
  ESTIMATE_SECONDS,
  FIRST_LIMITS,
  FIRST_TREE,
  type ModelLimit,
  ROUNDED_UP_TO_SECONDS,
  type RunnerClassName,
  type Tree,
} from './places.ts';

export interface PriceVersion {
  readonly version: string;
  readonly fromMs: number;
  /** Micro-units a minute. */
  readonly rates: Readonly<Record<RunnerClassName, number>>;
}

export interface ModelGrant {
  readonly limit: ModelLimit;
  readonly amount: number;
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface Edition {
  readonly number: number;
  readonly prices: readonly PriceVersion[];
  readonly limits: readonly ModelLimit[];
  readonly grants: readonly ModelGrant[];
  readonly tree: Tree;
}

export const FIRST_EDITION: Edition = {
  number: 0,
  prices: [{ version: 'p0', fromMs: Number.NEGATIVE_INFINITY, rates: { small: 61_300, large: 360_007 } }],
  limits: FIRST_LIMITS,
  grants: [],
  tree: FIRST_TREE,
};

export const nameOf = ({ subject, id }: Pick<ModelLimit, 'subject' | 'id'>): string => `${subject} ${id}`;

/** The last version that has begun. */
export const priceAt = ({ prices }: Edition, atMs: number): PriceVersion => {
  const begun = prices.filter(({ fromMs }) => fromMs <= atMs);
  const last = begun.at(-1) ?? prices[0];
  if (last === undefined) throw new Error('an edition has at least one version of the prices');
  return last;
};

/** What a whole number of seconds costs. Begun units cost whole ones, and so do begun micro-units. */
export function costOf(seconds: number, runnerClass: RunnerClassName, rates: PriceVersion['rates']): number {
  const unit = ROUNDED_UP_TO_SECONDS[runnerClass];
  const paid = BigInt(Math.ceil(seconds / unit) * unit) * BigInt(rates[runnerClass]);
  return Number((paid + 59n) / 60n);
}

export const holdOf = (unit: ModelLimit['unit'], seconds: number, costMicros: number): number =>
  unit === 'micros' ? costMicros : unit === 'seconds' ? seconds : 1;

export const estimateOf = (timeoutSeconds: number): number => Math.min(timeoutSeconds, ESTIMATE_SECONDS);

/** Base and grants in force; undefined: not limited. */
export function boundAt(limit: ModelLimit, { grants }: Edition, atMs: number): number | undefined {
  if (limit.amount === 'unlimited') return undefined;
  return grants
    .filter((grant) => nameOf(grant.limit) === nameOf(limit) && grant.fromMs <= atMs && atMs < grant.untilMs)
    .reduce((sum, { amount }) => sum + amount, limit.amount);
}

/** The limits a job stands under: the instance's, those of the groups above it and of its project. */
export function limitsOver(projectId: number, groupId: number, edition: Edition): readonly ModelLimit[] {
  const groups = chainOf(groupId, edition.tree).map((id) => `group/${id}`);
  const subjects = ['instance', ...groups, `project/${projectId}`];
  return edition.limits.filter(({ subject, amount }) => subjects.includes(subject) && amount !== 'unlimited');
}

export const counterAt = ({ subject, id, per, zone }: ModelLimit, atMs: number): CounterKey => ({
  subject,
  limit: id,
  period: periodOf(per, zone, atMs),
});

function periodOf(per: ModelLimit['per'], zone: string, atMs: number): string {
  switch (per) {
    case undefined:
      return 'now';
    case 'once':
      return 'once';
    case 'hour':
      return `${new Date(atMs).toISOString().slice(0, 13)}Z`;
    case 'day':
      return dayIn(zone, atMs);
    case 'month':
      return dayIn(zone, atMs).slice(0, 7);
  }
}

const FORMATS = new Map<string, Intl.DateTimeFormat>();

/** `2026-11-21` */
export function dayIn(zone: string, atMs: number): string {
  let format = FORMATS.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    });
    FORMATS.set(zone, format);
  }
  return format.format(atMs);
}

/** What a decision rests on: the edition, the clock of whoever decided, and the call. */
export interface Version {
  readonly edition: number;
  readonly atMs: number;
  readonly call: number;
}

/** `3 1793000000000 17` */
export const versionText = ({ edition, atMs, call }: Version): string => `${edition} ${atMs} ${call}`;

export function readVersion(text: string): Version {
  const [edition, atMs, call] = text.split(' ').map(Number);
  return { edition: edition ?? -1, atMs: atMs ?? 0, call: call ?? 0 };
}

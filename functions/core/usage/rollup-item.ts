/**
 * Converts the rollup's data to DynamoDB items and back. All have the sort key `rollup`, which no ledger
 * item has.
 */
import { estimatesKey } from '../estimates/index.ts';
import {
  escapePart,
  type Item,
  type Key,
  PK,
  ROLLUP_SK,
  SK,
  TTL_ATTRIBUTE,
  versioned,
} from '../store/index.ts';
import type { Contribution } from './contribution.ts';
import { isQueueName, queueLine, readQueueLine } from './queue-time.ts';
import type { LatestRejections, TopProjects } from './rollup-store.ts';
import type { UsageTally } from './tally.ts';
import { isTallyName, type UsageKey } from './usage.ts';

export interface RollupKeys {
  /** `gitlab.example.com#job#4711`, `rollup`: next to the job's record. */
  contribution(jobId: number): Key;
  /** `gitlab.example.com#usage#group/101|2026-11-21`, `rollup` */
  usage(key: UsageKey): Key;
  /** `gitlab.example.com#top#group/101|2026-11-21`, `rollup` */
  top(key: UsageKey): Key;
  /** `gitlab.example.com#rejections#group/101`, `rollup` */
  rejections(subject: string): Key;
  estimates(projectId: number): Key;
}

export const rollupKeys = (instance: string): RollupKeys => {
  const named = (kind: string, { subject, day }: UsageKey): Key => ({
    pk: `${instance}#${kind}#${escapePart(subject)}|${day}`,
    sk: ROLLUP_SK,
  });
  return {
    contribution: (jobId) => ({ pk: `${instance}#job#${jobId}`, sk: ROLLUP_SK }),
    usage: (key) => named('usage', key),
    top: (key) => named('top', key),
    rejections: (subject) => ({ pk: `${instance}#rejections#${escapePart(subject)}`, sk: ROLLUP_SK }),
    estimates: (projectId) => estimatesKey(instance, projectId),
  };
};

export const CONTRIBUTION_REV = 'r';
export const TOP_REV = 'r';
export const REJECTIONS_REV = 'r';
/** Two years and a month: a year can be compared with the one before. */
const USAGE_DAYS = 762;
/** A subject without a rejection for so long has no list; records of jobs go after some months, too. */
const REJECTIONS_DAYS = 120;
const DAY_SECONDS = 86_400;

/** Unix seconds. */
export const usageExpiresAtSeconds = ({ day }: UsageKey): number =>
  Date.parse(`${day}T00:00:00Z`) / 1000 + USAGE_DAYS * DAY_SECONDS;

const text = (value: string) => ({ S: value });
const number = (value: number) => ({ N: String(value) });
const keyed = ({ pk, sk }: Key): Item => ({ [PK]: text(pk), [SK]: text(sk), ...versioned });

export function encodeContribution(key: Key, after: Contribution, expiresAtSeconds?: number): Item {
  const queue = queueLine(after.tally);
  const counts = [...after.tally].filter(([name]) => queue === undefined || !isQueueName(name));
  return {
    ...keyed(key),
    [CONTRIBUTION_REV]: number(after.rev),
    g: number(after.generation),
    se: { BOOL: after.settled },
    d: text(after.day),
    su: text(JSON.stringify(after.subjects)),
    t: text(JSON.stringify(counts)),
    ...(queue === undefined ? {} : { q: text(queue) }),
    ...(expiresAtSeconds === undefined ? {} : { [TTL_ATTRIBUTE]: number(expiresAtSeconds) }),
  };
}

export function decodeContribution(jobId: number, item: Item): Contribution {
  const counts = new Map(JSON.parse(item.t?.S ?? '[]') as readonly (readonly [string, number])[]);
  const queue = item.q?.S;
  return {
    jobId,
    rev: Number(item[CONTRIBUTION_REV]?.N),
    generation: Number(item.g?.N),
    settled: item.se?.BOOL === true,
    day: item.d?.S ?? '',
    subjects: JSON.parse(item.su?.S ?? '[]') as readonly string[],
    tally: queue === undefined ? counts : new Map([...counts, ...readQueueLine(queue, counts)]),
  };
}

export const decodeTally = (item: Item | undefined): UsageTally =>
  new Map(
    Object.entries(item ?? {}).flatMap(([name, value]) => {
      const count = isTallyName(name) ? Number(value.N) : 0;
      return count === 0 ? [] : [[name, count] as const];
    }),
  );

export const encodeTop = (key: Key, top: TopProjects): Item => ({
  ...keyed(key),
  [TOP_REV]: number(top.rev),
  p: text(JSON.stringify(top.projects.map(({ projectId, micros }) => [projectId, micros]))),
  [TTL_ATTRIBUTE]: number(usageExpiresAtSeconds(top.key)),
});

export function decodeTop(key: UsageKey, item: Item | undefined): TopProjects {
  const projects = JSON.parse(item?.p?.S ?? '[]') as readonly (readonly [number, number])[];
  return {
    key,
    projects: projects.map(([projectId, micros]) => ({ projectId, micros })),
    rev: Number(item?.[TOP_REV]?.N ?? 0),
  };
}

export const encodeRejections = (key: Key, { jobs, rev }: LatestRejections): Item => ({
  ...keyed(key),
  [REJECTIONS_REV]: number(rev),
  j: text(JSON.stringify(jobs.map(({ jobId, atMs }) => [jobId, atMs]))),
  [TTL_ATTRIBUTE]: number(Math.ceil((jobs[0]?.atMs ?? 0) / 1000) + REJECTIONS_DAYS * DAY_SECONDS),
});

export function decodeRejections(subject: string, item: Item | undefined): LatestRejections {
  const jobs = JSON.parse(item?.j?.S ?? '[]') as readonly (readonly [number, number])[];
  return {
    subject,
    jobs: jobs.map(([jobId, atMs]) => ({ jobId, atMs })),
    rev: Number(item?.[REJECTIONS_REV]?.N ?? 0),
  };
}

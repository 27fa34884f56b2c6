/** What a job must have asked for when its record was first written: found here from the rulebook alone. */
import type { JobRecord } from '../../functions/core/ledger/ledger.ts';
import { counterName } from '../../policies/claim.ts';
import type { LimitUnit, ModelLimit, RunnerClassName } from './places.ts';
import {
  boundAt,
  costOf,
  counterAt,
  type Edition,
  estimateOf,
  holdOf,
  limitsOver,
  nameOf,
  type PriceVersion,
  priceAt,
  readVersion,
} from './rulebook.ts';
import type { TrueJob } from './truth.ts';

export interface Birth {
  /** The edition it was decided by. */
  readonly edition: number;
  readonly runnerClass: RunnerClassName;
  readonly price: PriceVersion;
  /** In the order of the record's. */
  readonly claims: readonly BornClaim[];
  readonly state: JobRecord['state'];
  /** Which call asked. */
  readonly call: number;
  /** Number of the commit. */
  readonly commit: number;
}

export interface BornClaim {
  readonly unit: LimitUnit;
  /** What it holds while live. */
  readonly hold: number;
  readonly bound: number;
  readonly mode: 'enforce' | 'shadow';
}

/** Older than that, a job without admission belongs to the day it is found. */
const LATE_MS = 28 * 24 * 3_600_000;

/** @throws if no lawful moment and place of asking explains the record. */
export function birthOf(record: JobRecord, job: TrueJob, editions: readonly Edition[]): Birth {
  const { jobId, facts } = record;
  const { edition: number, atMs, call } = readVersion(facts.policyVersion);
  const edition = editions[number];
  if (edition === undefined) throw new Error(`job ${jobId} was decided by edition ${number}`);
  const wrongs: string[] = [];
  for (const { groupId, askedAtMs } of momentsOf(record, job, edition, atMs)) {
    const price = priceAt(edition, askedAtMs);
    const seconds = estimateOf(job.timeoutSeconds);
    const cost = costOf(seconds, job.runnerClass, price.rates);
    const expected = limitsOver(job.projectId, groupId, edition).map((limit) => ({
      name: counterName(counterAt(limit, askedAtMs)),
      unit: limit.unit,
      hold: holdOf(limit.unit, seconds, cost),
      bound: boundAt(limit, edition, askedAtMs) ?? 0,
      mode: limit.mode,
    }));
    const ordered = record.claims.flatMap(({ counter }) =>
      expected.filter(({ name }) => name === counterName(counter)),
    );
    const same =
      facts.priceVersion === price.version &&
      facts.runnerClass === job.runnerClass &&
      ordered.length === expected.length &&
      ordered.length === record.claims.length;
    if (same)
      return {
        ...{ edition: number, runnerClass: job.runnerClass, price, claims: ordered },
        ...{ state: record.state, call, commit: 0 },
      };
    wrongs.push(`${price.version} on ${expected.map(({ name }) => name)}`);
  }
  const found = `${facts.priceVersion} on ${record.claims.map(({ counter }) => counterName(counter))}`;
  throw new Error(`job ${jobId} (${record.state}) is priced ${found}, expected ${wrongs.join(' or ')}`);
}

/** The highest enforced bound of jobs at once on a counter in any of the editions; undefined: none of them has such a limit over the job. */
export function highestSlots(
  counter: string,
  job: TrueJob,
  editions: readonly Edition[],
): number | undefined {
  const bounds = editions.flatMap((edition) =>
    limitsOver(job.projectId, edition.tree.groupOf.get(job.projectId) ?? 0, edition).flatMap((limit) =>
      limit.unit === 'jobs' && limit.mode === 'enforce' && counterName(counterAt(limit, 0)) === counter
        ? [(limit.amount === 'unlimited' ? 0 : limit.amount) + grantedAtMost(limit, edition)]
        : [],
    ),
  );
  return bounds.length === 0 ? undefined : Math.max(...bounds);
}

const grantedAtMost = (limit: ModelLimit, { grants }: Edition): number =>
  grants
    .filter((grant) => nameOf(grant.limit) === nameOf(limit))
    .reduce((sum, { amount }) => sum + amount, 0);

interface Moment {
  readonly groupId: number;
  readonly askedAtMs: number;
}

function momentsOf(record: JobRecord, job: TrueJob, edition: Edition, atMs: number): readonly Moment[] {
  const groupNow = edition.tree.groupOf.get(job.projectId) ?? 0;
  const asked = [...job.askedIn];
  if (record.unchecked === 'bypass' && record.generation === 1) {
    const startedAtMs = job.startedAtMs ?? 0;
    const counts = startedAtMs <= atMs && atMs - startedAtMs <= LATE_MS;
    return [{ groupId: groupNow, askedAtMs: counts ? startedAtMs : atMs }];
  }
  if (record.answered === 'fallback')
    // A relay whose clock is ahead answered, for the books, when it told.
    return [...job.answeredAtMs].flatMap((answeredAtMs) =>
      asked.map((groupId) => ({ groupId, askedAtMs: Math.min(answeredAtMs, atMs) })),
    );
  // One instant for the whole decision: its claims are of the periods of that.
  return asked.map((groupId) => ({ groupId, askedAtMs: record.decidedAtMs }));
}

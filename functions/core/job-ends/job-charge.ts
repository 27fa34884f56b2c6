import { type Directory, pathKey } from '../../../policies/directory.ts';
import type { CorrectionEntry, EntryCause, JobRecord, RecordClaim } from '../ledger/ledger.ts';
import { settleMove } from '../ledger/settle.ts';

interface Charge {
  /** Millionths of the currency; a correction has the difference, which may be negative. */
  readonly micros: number;
  readonly seconds: number;
}

export interface ChargeLine extends Charge {
  readonly kind: 'usage' | 'correction';
  readonly atMs?: number;
  readonly cause?: EntryCause;
}

/** None while it runs. What its counters say comes before what is computed at the record’s price. */
export function chargeLines(record: JobRecord, entries: readonly CorrectionEntry[]): readonly ChargeLine[] {
  // Charges of earlier generations were returned before the new hold.
  const own = entries.filter(({ generation }) => generation === record.generation);
  const sums = runningCharges(record, own);
  return sums.flatMap((sum, index): ChargeLine[] => {
    const before = sums[index - 1] ?? { micros: 0, seconds: 0 };
    const micros = sum.micros - before.micros;
    const seconds = sum.seconds - before.seconds;
    if (index === 0) {
      const nothing = micros === 0 && seconds === 0;
      const settledAtOnce = record.state === 'SETTLED' && own.length === 0;
      return nothing && !settledAtOnce ? [] : [{ kind: 'usage', micros, seconds }];
    }
    const entry = own[index - 1];
    if (entry === undefined || (micros === 0 && seconds === 0)) return [];
    return [{ kind: 'correction', micros, seconds, atMs: entry.atMs, cause: entry.cause }];
  });
}

/** Returns the charge for a duration, with the ledger's own arithmetic, at the record's price. */
export function pricedAs(record: JobRecord, durationSeconds: number): Charge {
  const held: JobRecord = { ...record, state: 'HELD', claims: [emptyClaim('micros'), emptyClaim('seconds')] };
  const { record: settled } = settleMove(held, { jobId: record.jobId, durationSeconds, endedAtMs: 0 }, 0);
  return { micros: settled?.claims[0]?.counted ?? 0, seconds: settled?.claims[1]?.counted ?? 0 };
}

const emptyClaim = (unit: 'micros' | 'seconds'): RecordClaim => ({
  counter: { subject: '', limit: '', period: '' },
  unit,
  held: 0,
  counted: 0,
  corrected: 0,
  fitted: true,
  checked: true,
});

function runningCharges(record: JobRecord, entries: readonly CorrectionEntry[]): readonly Charge[] {
  const micros = runningSums(record, entries, 'micros');
  const seconds = runningSums(record, entries, 'seconds');
  const { durationSeconds = 0, state } = record;
  if (seconds !== undefined)
    return seconds.map((sum, index) => ({
      seconds: sum,
      micros: micros?.[index] ?? pricedAs(record, sum).micros,
    }));
  if (micros !== undefined) {
    return micros.map((sum, index) => ({
      micros: sum,
      // The record knows the last end only; the earlier ones are what the money bought.
      seconds:
        state === 'SETTLED' && index === micros.length - 1 ? durationSeconds : secondsBought(record, sum),
    }));
  }
  return [state === 'SETTLED' ? pricedAs(record, durationSeconds) : { micros: 0, seconds: 0 }];
}

/** Undefined: the job counts in no limit of this unit. Claims of one unit are all charged the same. */
function runningSums(record: JobRecord, entries: readonly CorrectionEntry[], unit: 'micros' | 'seconds') {
  const claim = record.claims.find((each) => each.unit === unit);
  if (claim === undefined) return undefined;
  const { subject, limit, period } = claim.counter;
  const sums = [record.state === 'HELD' || record.state === 'RUNNING' ? 0 : claim.counted];
  for (const { deltas } of entries) {
    const delta = deltas.find(
      ({ counter }) => counter.subject === subject && counter.limit === limit && counter.period === period,
    );
    sums.push((sums.at(-1) ?? 0) + (delta?.delta ?? 0));
  }
  return sums;
}

const secondsBought = ({ facts: { microsPerMinute } }: JobRecord, micros: number): number =>
  microsPerMinute === 0 ? 0 : Math.floor((micros * 60) / microsPerMinute);

// A job's groups at its decision. A group that moved since then changes no bill.

export const wasInGroup = ({ facts: { rootId, groupId, groupIds = [] } }: JobRecord, id: number): boolean =>
  rootId === id || groupId === id || groupIds.includes(id);

/** Returns the top-level group at the decision: its statement has the job. Undefined where no group of the job was known. */
export const recordedRoot = ({ facts: { groupIds, rootId, groupId } }: JobRecord): number | undefined =>
  groupIds?.[0] ?? rootId ?? groupId;

/** For a group that the directory does not know by this path. Below a known root only, or two names of one root would both be charged. */
export function wasBelowPath({ facts }: JobRecord, path: string, { groupById }: Directory): boolean {
  const { projectPath, rootId } = facts;
  if (projectPath === undefined || !pathKey(projectPath).startsWith(`${pathKey(path)}/`)) return false;
  const root = rootId === undefined ? undefined : groupById.get(rootId);
  return root === undefined || pathKey(root.path) === pathKey(path).split('/')[0];
}

/** True if no group was known at the decision: it is on no statement. */
export const isInNoGroup = ({ facts, claims }: JobRecord): boolean =>
  facts.rootId === undefined &&
  facts.groupId === undefined &&
  !claims.some(({ counter }) => counter.subject.startsWith('group/'));

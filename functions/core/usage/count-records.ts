import type { LedgerClock } from '../environment/environment.ts';
import { packs } from '../ledger/counter.ts';
import type { JobRecord } from '../ledger/ledger.ts';
import { hasNoAdmissionRequest } from '../ledger/reservation.ts';
import { recordExpiresAtSeconds } from '../ledger/retention.ts';
import type { Consistency, StoredItem } from '../ledger/store.ts';
import { retried, undefinedIfSilent } from '../store/table-failure.ts';
import {
  type Contribution,
  type ContributionPlace,
  countContribution,
  tallyFor,
  type UsageChange,
} from './contribution.ts';
import { type ListDeps, learnRuns, noteRejections, updateTopProjects } from './lists.ts';
import type { RollupStore, RollupWrites } from './rollup-store.ts';
import { addTo, type RunnerName, runnerNames, type UsageKey, usageName } from './usage.ts';

export interface CountRecordsDeps extends ApplyDeps, ListDeps {
  readonly clock: ApplyDeps['clock'] & ListDeps['clock'];
  readonly knowPlaces?: (records: readonly JobRecord[]) => Promise<void>;
}

/** Records into usage, estimates, top lists and lists of rejections. Doing it twice changes nothing. */
export async function countRecords(records: readonly JobRecord[], deps: CountRecordsDeps) {
  if (records.length > 0) await deps.knowPlaces?.(records);
  const applied = await applyRecords(records, deps);
  await learnRuns(applied.changes, deps);
  await updateTopProjects(applied.changes, deps);
  await noteRejections(applied.changes, deps);
  return applied;
}

// Each record has a contribution next to it: the counted part of the job, and the record's `rev`. A newer image changes usage by
// the difference of the two contributions, in one transaction with the new one, on condition that the old one is unchanged. So
// repeated and older images, other batch cuts and parallel shards have no effect.

interface ApplyDeps {
  readonly store: RollupStore;
  readonly clock: Pick<LedgerClock, 'sleep'>;
  readonly random: () => number;
  readonly placeOf: (record: JobRecord) => ContributionPlace;
  /** Keep one per process. @default each call names runners afresh */
  readonly nameOf?: RunnerName;
}

/** Shards meet on the root's and the instance's items only, for some milliseconds: six lost races are no accident. */
const PASSES_MAX = 6;
const PAUSE_MS_MAX = 200;
/** Garbage collection, some days late at times, must take the record first: without its contribution it would be counted again. */
const AFTER_RECORD_SECONDS = 8 * 86_400;

export async function applyRecords(records: readonly JobRecord[], deps: ApplyDeps) {
  let left = newest(records);
  const changes: UsageChange[] = [];
  const nameOf = runnerNames();
  let consistency: Consistency = 'eventual';
  const applyLeft = async (): Promise<void> => {
    left = left.length === 0 ? left : await applyOnce(left, changes, { nameOf, ...deps, consistency });
    consistency = 'consistent';
  };
  await retried(applyLeft, () => left.length > 0, {
    ...deps,
    triesMax: PASSES_MAX,
    pauseMsMax: () => PAUSE_MS_MAX,
  });
  return { changes, failedJobIds: new Set(left.map(({ jobId }) => jobId)) };
}

/** One image per job: what lies between is in the difference. */
function newest(records: readonly JobRecord[]): readonly JobRecord[] {
  const byJob = new Map<number, JobRecord>();
  for (const record of records) {
    // A reservation without an admission request is not a job yet.
    if (hasNoAdmissionRequest(record)) continue;
    if ((byJob.get(record.jobId)?.rev ?? 0) < record.rev) byJob.set(record.jobId, record);
  }
  return [...byJob.values()];
}

async function applyOnce(
  records: readonly JobRecord[],
  changes: UsageChange[],
  deps: ApplyDeps & { readonly nameOf: RunnerName; readonly consistency: Consistency },
): Promise<readonly JobRecord[]> {
  const jobIds = records.map(({ jobId }) => jobId);
  const counted = await deps.store.readContributions(jobIds, deps.consistency).catch(undefinedIfSilent);
  if (counted === undefined) return records;
  const due = records.flatMap((record, index) => {
    const before = counted[index];
    if (before !== undefined && before.rev >= record.rev) return [];
    const after = countContribution(record, before, deps.placeOf, deps.nameOf);
    return [{ record, before, after, place: after.subjects.join() }];
  });
  // Jobs of one project share a transaction, and so the writes of its usage.
  due.sort((a, b) => (a.place < b.place ? -1 : Number(a.place > b.place)));
  const left: JobRecord[] = [];
  for (const pack of packs(due, (change) => ({ items: 1, names: [...sumDeltas([change]).keys()] }))) {
    const outcome = await deps.store.commit(toWrites(pack)).catch(undefinedIfSilent);
    if (outcome === 'committed') changes.push(...pack);
    else left.push(...pack.map(({ record }) => record));
  }
  return left;
}

/** By `usageName`. A new evaluation may move a job to another day or other groups. */
function sumDeltas(changes: readonly UsageChange[]) {
  const deltas = new Map<string, { readonly key: UsageKey; readonly delta: Map<string, number> }>();
  const add = (contribution: Contribution, sign: 1 | -1): void => {
    for (const subject of contribution.subjects) {
      const key = { subject, day: contribution.day };
      const name = usageName(key);
      const { delta } = deltas.get(name) ?? { delta: new Map() };
      deltas.set(name, { key, delta });
      addTo(delta, tallyFor(subject, contribution), sign);
    }
  };
  for (const { before, after } of changes) {
    if (before !== undefined) add(before, -1);
    add(after, 1);
  }
  for (const [name, { delta }] of deltas) if (delta.size === 0) deltas.delete(name);
  return deltas;
}

const toWrites = (pack: readonly UsageChange[]): RollupWrites => ({
  contributions: pack.map(({ record, before, after }) => {
    const expiresAtSeconds = recordExpiresAtSeconds(record);
    return {
      after,
      ...(before !== undefined && { replacesRev: before.rev }),
      ...(expiresAtSeconds !== undefined && { expiresAtSeconds: expiresAtSeconds + AFTER_RECORD_SECONDS }),
    };
  }),
  usage: [...sumDeltas(pack).values()],
});

const BATCH_RECORDS = 100;

/** Adds what the stream never delivered. It may run while the stream does, since both go the same way. */
export async function rebuildUsage(
  items: AsyncIterable<StoredItem> | Iterable<StoredItem>,
  deps: CountRecordsDeps,
) {
  const sum = { records: 0, changed: 0, failed: 0, passedOver: 0 };
  let batch: JobRecord[] = [];
  const flush = async (): Promise<void> => {
    const { changes, failedJobIds } = await countRecords(batch, deps);
    sum.records += batch.length;
    sum.changed += changes.length;
    sum.failed += failedJobIds.size;
    batch = [];
  };
  for await (const item of items) {
    if (item.kind === 'unknown') sum.passedOver += 1;
    if (item.kind !== 'record') continue;
    batch.push(item.record);
    if (batch.length >= BATCH_RECORDS) await flush();
  }
  await flush();
  return sum;
}

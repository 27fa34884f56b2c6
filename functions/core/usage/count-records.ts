import type { LedgerClock } from '../environment/environment.ts';
import { packs } from '../ledger/counter.ts';
import type { JobRecord } from '../ledger/ledger.ts';
import { isAwaited } from '../ledger/reservation.ts';
import { recordExpiresAtSeconds } from '../ledger/retention.ts';
import type { Consistency, StoredItem } from '../ledger/store.ts';
import { LedgerError, retried } from '../store/table-failure.ts';
import {
  type Contribution,
  type ContributionPlace,
  contributionOf,
  tallyFor,
  type UsageChange,
} from './contribution.ts';
import { type ListDeps, learnRuns, noteRejections, updateTopProjects } from './lists.ts';
import type { RollupStore, RollupWrites } from './rollup-store.ts';
import {
  addTo,
  negated,
  type RunnerName,
  runnerNames,
  type UsageKey,
  type UsageTally,
  usageName,
} from './usage.ts';

export interface CountRecordsDeps extends ApplyDeps, ListDeps {
  readonly clock: ApplyDeps['clock'] & ListDeps['clock'];
  /** Called before `placeOf` is asked about these; never throws. */
  readonly knowPlaces?: (records: readonly JobRecord[]) => Promise<void>;
}

/** Records into usage, estimates, top lists and lists of rejections. Doing it twice changes nothing. */
export async function countRecords(
  records: readonly JobRecord[],
  deps: CountRecordsDeps,
): Promise<ApplyReport> {
  if (records.length > 0) await deps.knowPlaces?.(records);
  const applied = await applyRecords(records, deps);
  await learnRuns(applied.changes, deps);
  await updateTopProjects(applied.changes, deps);
  await noteRejections(applied.changes, deps);
  return applied;
}

// Counts jobs' records into usage, each exactly once.
//
// Each record has a contribution next to it: the counted part of the job, and the record's `rev`. A newer
// image changes usage by the difference of the two contributions, in one transaction with the new
// contribution, on condition that the old one is unchanged. So repeated and older images, other batch cuts
// and parallel shards have no effect. After a stale read or a lost response the job is read again. A missing
// image is repaired by the job's next one, or by a rebuild, which applies all records again.
//
// A batch of n images of m jobs that touch u usage items (subject × day) costs one batch read at half price
// and 2 (m + u) write units.

interface ApplyDeps {
  readonly store: RollupStore;
  readonly clock: Pick<LedgerClock, 'sleep'>;
  readonly random: () => number;
  readonly placeOf: (record: JobRecord) => ContributionPlace;
  /** Keep one per process. @default each call names runners afresh */
  readonly nameOf?: RunnerName;
}

interface ApplyReport {
  readonly changes: readonly UsageChange[];
  readonly failedJobIds: ReadonlySet<number>;
}

/** Shards meet on the root's and the instance's items only, for some milliseconds: six lost races are no accident. */
const PASSES_MAX = 6;
const PAUSE_MS_MAX = 200;
/** Garbage collection, some days late at times, must take the record first: without its contribution it would be counted again. */
const AFTER_RECORD_SECONDS = 8 * 86_400;

export async function applyRecords(records: readonly JobRecord[], deps: ApplyDeps): Promise<ApplyReport> {
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
    if (isAwaited(record)) continue;
    if ((byJob.get(record.jobId)?.rev ?? 0) < record.rev) byJob.set(record.jobId, record);
  }
  return [...byJob.values()];
}

async function applyOnce(
  records: readonly JobRecord[],
  changes: UsageChange[],
  deps: ApplyDeps & { readonly nameOf: RunnerName; readonly consistency: Consistency },
): Promise<readonly JobRecord[]> {
  const counted = await answered(() =>
    deps.store.readContributions(
      records.map(({ jobId }) => jobId),
      deps.consistency,
    ),
  );
  if (counted === undefined) return records;
  const due = records.flatMap((record, index): UsageChange[] => {
    const before = counted[index];
    if (before !== undefined && before.rev >= record.rev) return [];
    return [{ record, before, after: contributionOf(record, before, deps.placeOf, deps.nameOf) }];
  });
  const left: JobRecord[] = [];
  for (const pack of packs(due, (change) => ({
    items: 1,
    names: deltasOf(change).map(({ name }) => name),
  }))) {
    const outcome = await answered(() => deps.store.commit(writesOf(pack)));
    if (outcome === 'committed') changes.push(...pack);
    else left.push(...pack.map(({ record }) => record));
  }
  return left;
}

async function answered<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof LedgerError && error.retryable) return undefined;
    throw error;
  }
}

interface UsageDelta {
  readonly name: string;
  readonly key: UsageKey;
  readonly sum: Map<string, number>;
}

/** A new evaluation may move a job to another day or other groups. */
function deltasOf({ before, after }: Pick<UsageChange, 'before' | 'after'>): readonly UsageDelta[] {
  const deltas = new Map<string, UsageDelta>();
  const put = (contribution: Contribution, sign: (tally: UsageTally) => UsageTally): void => {
    for (const subject of contribution.subjects) {
      const key = { subject, day: contribution.day };
      const name = usageName(key);
      const delta = deltas.get(name) ?? { name, key, sum: new Map() };
      deltas.set(name, delta);
      addTo(delta.sum, sign(tallyFor(subject, contribution)));
    }
  };
  if (before !== undefined) put(before, negated);
  put(after, (tally) => tally);
  return [...deltas.values()].filter(({ sum }) => sum.size > 0);
}

function writesOf(pack: readonly UsageChange[]): RollupWrites {
  const usage = new Map<string, UsageDelta>();
  for (const { name, key, sum } of pack.flatMap(deltasOf)) {
    const merged = usage.get(name) ?? { name, key, sum: new Map() };
    usage.set(name, merged);
    addTo(merged.sum, sum);
  }
  return {
    contributions: pack.map(({ record, before, after }) => {
      const ttl = expiry(record);
      return {
        after,
        ...(before !== undefined && { replacesRev: before.rev }),
        ...(ttl !== undefined && { expiresAtSeconds: ttl }),
      };
    }),
    usage: [...usage.values()].flatMap(({ key, sum }) => (sum.size === 0 ? [] : [{ key, delta: sum }])),
  };
}

function expiry(record: JobRecord): number | undefined {
  const expiresAtSeconds = recordExpiresAtSeconds(record);
  return expiresAtSeconds === undefined ? undefined : expiresAtSeconds + AFTER_RECORD_SECONDS;
}

export interface UsageRebuild {
  readonly records: number;
  readonly changed: number;
  readonly failed: number;
  readonly passedOver: number;
}

const BATCH_RECORDS = 100;

/** Adds what the stream never delivered. It may run while the stream does, since both go the same way. */
export async function rebuildUsage(
  items: AsyncIterable<StoredItem> | Iterable<StoredItem>,
  deps: CountRecordsDeps,
): Promise<UsageRebuild> {
  const sum = { records: 0, changed: 0, failed: 0, passedOver: 0 };
  let batch: Extract<StoredItem, { kind: 'record' }>['record'][] = [];
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

/**
 * What a counter says beside its amounts, so that a second set of sums can be compared with it while jobs go on.
 *
 * Each transaction is of one epoch, a quarter of an hour by its writer's clock, and says so on its records. On its counters it adds to
 * one of four slots, which epochs take in turn: how many records it moved there, and the weight of what it added. So of an epoch that is
 * over its slot stands still for three quarters of an hour, however busy the counter is, and what it gained there must be what the
 * epoch's records changed: as many, and of the same weight.
 */
import { type CounterKey, counterName, isPipelineCounter } from '../../../policies/claim.ts';
import type { Item } from '../store/index.ts';
import { UNCHECKED_CAUSES } from './amounts.ts';
import type { CounterAmounts, JobRecord, UncheckedCause } from './ledger.ts';
import { goesUnclosed, isWindow } from './retention.ts';
import type { CounterWrite, Write } from './store.ts';

export const EPOCH_MS = 900_000;
export const EPOCH_SLOTS = 4;
export const epochAt = (ms: number): number => Math.floor(ms / EPOCH_MS);

/** On a record: the epoch of its last write. */
export const EPOCH = 'ep';
/** On a counter: records moved, by slot; weight added, by slot; and weight that no record moved. */
const MOVED = 'n';
const ADDED = 'w';
export const UNRECORDED = 'wb';

/** Weights are counted modulo this, so that sums of any number of them stay exact. */
const MODULUS = 2 ** 40;

/** All parts of an amount in one number. What leaves it as it was by chance, the full recount finds. */
export function weightOf({
  committed,
  fitted,
  settled,
  unchecked,
}: Omit<CounterAmounts, 'unchecked'> & {
  readonly unchecked: Readonly<Partial<Record<UncheckedCause, number>>>;
}): number {
  const part = (amount: number, factor: number): number => (amount % MODULUS) * factor;
  const causes = UNCHECKED_CAUSES.reduce(
    (sum, cause, index) => sum + part(unchecked[cause] ?? 0, 11 + 2 * index),
    0,
  );
  return (part(committed, 1) + part(fitted, 3) + part(settled, 7) + causes) % MODULUS;
}

export const isSameWeight = (a: number, b: number): boolean => (a - b) % MODULUS === 0;

/** What the record counts now, by counter's name, its corrections included. */
function weightsOf(record: JobRecord | undefined, weights: Map<string, number>, sign: 1 | -1): void {
  for (const { counter, counted, corrected, fitted, checked } of record?.claims ?? []) {
    const committed = counted + corrected;
    const settled = corrected + (record?.state === 'SETTLED' ? counted : 0);
    const cause = checked ? undefined : record?.unchecked;
    const unchecked = cause === undefined ? {} : { [cause]: committed };
    const weight = weightOf({ committed, fitted: fitted ? committed : 0, settled, unchecked });
    const name = counterName(counter);
    weights.set(name, ((weights.get(name) ?? 0) + sign * weight) % MODULUS);
  }
}

/** What a write of a record changed of each counter's weight; those it left alone are not in it. */
export function weightChanges(before: JobRecord | undefined, after: JobRecord): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  weightsOf(before, weights, -1);
  weightsOf(after, weights, 1);
  for (const [name, weight] of weights) if (weight === 0) weights.delete(name);
  return weights;
}

/** Pipelines' counters and windows go within days, a user's name stands in no other key, and caps have a counter for each: the full recount alone has these. */
export const isSummed = (key: CounterKey): boolean =>
  !isPipelineCounter(key) && !isWindow(key) && !goesUnclosed(key);

/** What a transaction says on its items. */
export interface WriteEpoch {
  readonly epoch: number;
  /** Records that it moves on a counter, by its name. */
  readonly moved: ReadonlyMap<string, number>;
  readonly hasRecords: boolean;
}

/** @param atMs - by the writer's clock, Unix ms */
export function epochOf(writes: readonly Write[], atMs: number): WriteEpoch {
  const moved = new Map<string, number>();
  let hasRecords = false;
  for (const write of writes) {
    if (write.kind !== 'record') continue;
    hasRecords = true;
    for (const name of weightChanges(write.replaces, write.record).keys())
      moved.set(name, (moved.get(name) ?? 0) + 1);
  }
  return { epoch: epochAt(atMs), moved, hasRecords };
}

/** What a transaction adds to a counter beside its amounts. Credits and debits by hand are no record's. */
export function slotAdditions(
  write: CounterWrite,
  { epoch, moved, hasRecords }: WriteEpoch,
): Record<string, number> {
  const weight = weightOf(write);
  if (!hasRecords) return { [UNRECORDED]: weight };
  const slot = epoch % EPOCH_SLOTS;
  return { [`${MOVED}${slot}`]: moved.get(counterName(write.key)) ?? 0, [`${ADDED}${slot}`]: weight };
}

/** A counter as it says it. */
export interface SlotSums {
  /** By slot. */
  readonly moved: readonly number[];
  readonly added: readonly number[];
  /** Weight of its amounts beyond what its slots and {@link UNRECORDED} explain: what it had before there were slots. */
  readonly unexplained: number;
}

export function slotSums(item: Item, amounts: CounterAmounts): SlotSums {
  const slots = Array.from({ length: EPOCH_SLOTS }, (_, slot) => slot);
  const added = slots.map((slot) => exactly(item, `${ADDED}${slot}`));
  const explained = added.reduce((sum, each) => sum + each, exactly(item, UNRECORDED));
  return {
    moved: slots.map((slot) => Number(item[`${MOVED}${slot}`]?.N ?? 0)),
    added,
    unexplained: (weightOf(amounts) - explained) % MODULUS,
  };
}

/** Sums of years may be no safe integers any more. */
const exactly = (item: Item, name: string): number => Number(BigInt(item[name]?.N ?? 0) % BigInt(MODULUS));

/** Keeps the sheet of counters: after each check of the second sums, and while a recount meets every counter. */
import { type CounterKey, counterName } from '../../../policies/claim.ts';
import { type Counter, EPOCH_MS, epochAt, isSummed, type LedgerStore } from '../ledger/index.ts';
import { type InstanceTable, LedgerError, ledgerKeys } from '../store/index.ts';
import { type CounterSheet, type CounterSheetStore, withCounters } from './counter-sheet.ts';
import type { SumLog } from './sum-log.ts';

interface KeepSheetDeps extends Pick<InstanceTable, 'instance'> {
  readonly sheets: CounterSheetStore;
  readonly log: Pick<SumLog, 'read'>;
  readonly store: Pick<LedgerStore, 'readCounters'>;
  readonly clock: { nowMs(): number };
  /** More of them are read one by one. @default what fits a sheet */
  readonly countersMax?: number;
}

/** As a check of the second sums left them. */
interface CheckedCounters {
  /** Those that moved in the epochs it looked at, as they were read. */
  readonly counters: readonly Counter[];
  /** The last of these epochs. */
  readonly lastEpoch: number;
}

/** Beyond a day without checks a recount is to meet every counter anew. */
const MISSED_EPOCHS_MAX = 96;
const READ_TIMEOUT_MS = 10_000;

/** @throws {LedgerError} `ledger_unavailable`: the next check makes up for it. */
export async function keepCounterSheet(
  { counters, lastEpoch }: CheckedCounters,
  deps: KeepSheetDeps,
): Promise<void> {
  const { sheets, clock } = deps;
  const nowMs = clock.nowMs();
  // An epoch is looked at twice, and what the stream told late is met the second time.
  const looked = epochAt(nowMs) - 2;
  const before = await sheets.read();
  const missed = before === undefined ? 0 : looked - 1 - before.epoch;
  const isLost = before === undefined || missed > MISSED_EPOCHS_MAX;
  const late = isLost || missed <= 0 ? [] : await movedSince(before.epoch, looked, deps);
  const all = withCounters(
    isLost ? new Map() : before.counters,
    [...late, ...counters].filter(isOnSheet),
    deps.countersMax,
  );
  await sheets.write({
    sinceMs: isLost || all === undefined ? nowMs : before.sinceMs,
    atMs: (lastEpoch + 1) * EPOCH_MS,
    epoch: looked,
    whole: !isLost && all !== undefined && before.whole,
    counters: all ?? new Map(),
  });
}

/**
 * What a recount meets on its way. Where the sheet has no room for it, the sheet begins anew, so that this recount does not make it whole.
 * @throws {LedgerError} `ledger_unavailable`
 */
export async function addToCounterSheet(
  counters: readonly Counter[],
  { sheets, clock, countersMax }: Pick<KeepSheetDeps, 'sheets' | 'clock' | 'countersMax'>,
): Promise<void> {
  const before = await sheets.read();
  if (before === undefined) return;
  const all = withCounters(before.counters, counters.filter(isOnSheet), countersMax);
  const next: CounterSheet = all
    ? { ...before, counters: all }
    : { ...before, sinceMs: clock.nowMs(), whole: false, counters: new Map() };
  if ((await sheets.write(next)) === 'overtaken')
    throw new LedgerError(
      'ledger_unavailable',
      'keep what the recount met: somebody else writes the sheet of counters',
    );
}

/** A recount is over: all counters it met are there if the sheet was there before it. @throws {LedgerError} `ledger_unavailable` */
export async function completeCounterSheet(
  recountStartedAtMs: number,
  { sheets }: Pick<KeepSheetDeps, 'sheets'>,
): Promise<void> {
  const sheet = await sheets.read();
  if (sheet !== undefined && !sheet.whole && sheet.sinceMs <= recountStartedAtMs)
    await sheets.write({ ...sheet, whole: true });
}

const isOnSheet = ({ key }: Counter): boolean => isSummed(key);

/** Counters that moved in the epochs between, as they stand now. */
async function movedSince(
  epoch: number,
  before: number,
  { log, store, instance }: KeepSheetDeps,
): Promise<readonly Counter[]> {
  const keys = ledgerKeys(instance);
  const moved = new Map<string, CounterKey>();
  for (let missed = epoch + 1; missed < before; missed += 1) {
    const { lines, odd } = await log.read(missed);
    for (const key of odd) moved.set(counterName(key), key);
    for (const [, , changes] of lines)
      for (const [pk] of changes) {
        const key = keys.counterOf(pk);
        moved.set(counterName(key), key);
      }
  }
  const read = await store.readCounters([...moved.values()], { timeoutMs: READ_TIMEOUT_MS });
  return read.filter((counter) => counter !== undefined);
}

/** What every counter must show, counted from closing entries, records, correction entries and adjustments. */
import { type CounterKey, counterName } from '../../../policies/claim.ts';
import { type AmountsSum, NO_AMOUNTS, sameAmounts, startSum } from './amounts.ts';
import type { AdjustmentEntry, ClosingEntry, CorrectionEntry } from './entry.ts';
import type { Counter, CounterAmounts, JobRecord, RecordClaim, UncheckedCause } from './ledger.ts';
import type { StoredItem } from './store.ts';

export interface Recount {
  readonly records: number;
  /** The counters as they stand, by name. */
  readonly counters: ReadonlyMap<string, Counter>;
  /** Items nobody could read, which may be part of any counter: above 0, the recount proves nothing. */
  readonly passedOver: number;
  /** Every counter that exists or should. */
  names(): readonly string[];
  key(name: string): CounterKey;
  /** What the counter must show. */
  expected(name: string): CounterAmounts;
  closing(name: string): ClosingEntry | undefined;
  /** Whether a correction came after the closing, and before this instant (Unix ms). */
  correctedBefore(name: string, beforeMs: number): boolean;
}

interface Line {
  readonly key: CounterKey;
  /** Sum over records; ignored once the period is closed. */
  readonly held: AmountsSum;
  readonly entries: { readonly atMs: number; readonly amounts: CounterAmounts }[];
  closing: ClosingEntry | undefined;
  adjusted: number;
}

export async function recount(items: AsyncIterable<StoredItem> | Iterable<StoredItem>): Promise<Recount> {
  const lines = new Map<string, Line>();
  const counters = new Map<string, Counter>();
  let records = 0;
  let passedOver = 0;
  for await (const item of items) {
    switch (item.kind) {
      case 'record':
        records += 1;
        countRecord(item.record, lines);
        break;
      case 'entry':
        countEntry(item.entry, lines);
        break;
      case 'closing':
        lineOf(lines, item.closing.key).closing = item.closing;
        break;
      case 'adjustment':
        countAdjustment(item.adjustment, lines);
        break;
      case 'counter':
        lineOf(lines, item.counter.key);
        counters.set(counterName(item.counter.key), item.counter);
        break;
      case 'unknown':
        passedOver += 1;
        break;
    }
  }
  return {
    records,
    counters,
    passedOver,
    names: () => [...lines.keys()],
    key: (name) => lines.get(name)?.key ?? { subject: '', limit: '', period: '' },
    expected: (name) => total(lines.get(name)),
    closing: (name) => lines.get(name)?.closing,
    correctedBefore: (name, beforeMs) => correctedBefore(lines.get(name), beforeMs),
  };
}

function lineOf(lines: Map<string, Line>, key: CounterKey): Line {
  const name = counterName(key);
  let line = lines.get(name);
  if (line === undefined) {
    line = { key, held: startSum(), entries: [], closing: undefined, adjusted: 0 };
    lines.set(name, line);
  }
  return line;
}

function countRecord(record: JobRecord, lines: Map<string, Line>): void {
  for (const claim of record.claims) {
    const line = lineOf(lines, claim.counter);
    add(line.held, claim, claim.counted, record.state === 'SETTLED' ? claim.counted : 0, record.unchecked);
  }
}

function countEntry(entry: CorrectionEntry, lines: Map<string, Line>): void {
  for (const delta of entry.deltas) {
    const amounts = startSum();
    add(amounts, delta, delta.delta, delta.delta, entry.unchecked);
    lineOf(lines, delta.counter).entries.push({ atMs: entry.atMs, amounts });
  }
}

function countAdjustment({ key, amount }: AdjustmentEntry, lines: Map<string, Line>): void {
  lineOf(lines, key).adjusted += amount;
}

function add(
  sum: AmountsSum,
  claim: Pick<RecordClaim, 'fitted' | 'checked'>,
  committed: number,
  settled: number,
  unchecked: UncheckedCause | undefined,
): void {
  sum.committed += committed;
  if (claim.fitted) sum.fitted += committed;
  sum.settled += settled;
  if (!claim.checked && unchecked !== undefined) sum.unchecked[unchecked] += committed;
}

const entriesAfter = ({ entries, closing }: Line): Line['entries'] =>
  closing === undefined ? entries : entries.filter(({ atMs }) => atMs > closing.closedAtMs);

const correctedBefore = (line: Line | undefined, beforeMs: number): boolean =>
  line?.closing !== undefined && entriesAfter(line).some(({ atMs }) => atMs < beforeMs);

/** A closed period counts its closing entry and what was corrected since; an open one its records and all corrections. */
function total(line: Line | undefined): CounterAmounts {
  if (line === undefined) return NO_AMOUNTS;
  const { closing } = line;
  const sum = startSum(closing ?? line.held);
  for (const { amounts } of entriesAfter(line)) {
    sum.committed += amounts.committed;
    sum.fitted += amounts.fitted;
    sum.settled += amounts.settled;
    sum.unchecked.exempt += amounts.unchecked.exempt;
    sum.unchecked.unmetered += amounts.unchecked.unmetered;
    sum.unchecked.bypass += amounts.unchecked.bypass;
  }
  // Compared by sum, not by time: clocks of two programs may differ, and adjustments are kept for good.
  const adjusted = line.adjusted - (closing?.adjusted ?? 0);
  sum.committed += adjusted;
  sum.fitted += adjusted;
  sum.settled += adjusted;
  return sum;
}

export const shown = (pass: Recount, name: string): CounterAmounts => pass.counters.get(name) ?? NO_AMOUNTS;

export const agrees = (pass: Recount, name: string): boolean =>
  sameAmounts(shown(pass, name), pass.expected(name));

export const amountsOf = ({ committed, fitted, settled, unchecked }: CounterAmounts): CounterAmounts => ({
  committed,
  fitted,
  settled,
  unchecked,
});

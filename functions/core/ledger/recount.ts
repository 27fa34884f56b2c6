import { type CounterKey, counterName } from '../../../policies/claim.ts';
import type {
  ClosingEntry,
  CorrectionEntry,
  Counter,
  CounterAmounts,
  JobRecord,
  RecordClaim,
  UncheckedCause,
} from './ledger.ts';
import { isClosable } from './retention.ts';
import type { StoredItem } from './store.ts';

export const UNCHECKED_CAUSES: readonly UncheckedCause[] = ['exempt', 'unmetered', 'bypass'];

export const NO_AMOUNTS: CounterAmounts = {
  committed: 0,
  fitted: 0,
  settled: 0,
  unchecked: { exempt: 0, unmetered: 0, bypass: 0 },
};

export const sameAmounts = (a: CounterAmounts, b: CounterAmounts): boolean =>
  a.committed === b.committed &&
  a.fitted === b.fitted &&
  a.settled === b.settled &&
  UNCHECKED_CAUSES.every((cause) => a.unchecked[cause] === b.unchecked[cause]);

interface AmountsSum {
  committed: number;
  fitted: number;
  settled: number;
  readonly unchecked: Record<UncheckedCause, number>;
}

const startSum = (from: CounterAmounts = NO_AMOUNTS): AmountsSum => ({
  committed: from.committed,
  fitted: from.fitted,
  settled: from.settled,
  unchecked: { ...from.unchecked },
});

function plus(amounts: CounterAmounts, add: CounterAmounts): CounterAmounts {
  const sum = startSum(amounts);
  sum.committed += add.committed;
  sum.fitted += add.fitted;
  sum.settled += add.settled;
  for (const cause of UNCHECKED_CAUSES) sum.unchecked[cause] += add.unchecked[cause];
  return sum;
}

export interface Recount {
  readonly records: number;
  readonly counters: ReadonlyMap<string, Counter>;
  /** Unreadable items, which may belong to any counter: above 0, the recount proves nothing. */
  readonly passedOver: number;
  names(): readonly string[];
  key(name: string): CounterKey;
  expected(name: string): CounterAmounts;
  closing(name: string): ClosingEntry | undefined;
  /** Returns true if a correction came after the closing and before this instant (Unix ms). */
  correctedBefore(name: string, beforeMs: number): boolean;
}

interface Line {
  readonly key: CounterKey;
  counter: Counter | undefined;
  /** Sum over records; ignored once the period is closed. */
  readonly held: AmountsSum;
  /** Sum over corrections from before any closing can have been written; ignored like the records. */
  readonly early: AmountsSum;
  /** Corrections that a closing may have come before: few, since all jobs of the period have ended by then. */
  readonly late: LateAmounts[];
  closing: ClosingEntry | undefined;
}

interface LateAmounts {
  readonly atMs: number;
  readonly amounts: CounterAmounts;
}

interface RecountSumsOptions {
  readonly counts?: (name: string) => boolean;
}

/** Adds items up, in any order: so much for each counter, however many records there are. */
export class RecountSums {
  records = 0;
  passedOver = 0;
  readonly #lines = new Map<string, Line>();
  #counts: (name: string) => boolean;

  constructor({ counts = () => true }: RecountSumsOptions = {}) {
    this.#counts = counts;
  }

  get size(): number {
    return this.#lines.size;
  }

  add(item: StoredItem): void {
    switch (item.kind) {
      case 'record':
        this.records += 1;
        this.#addRecord(item.record);
        break;
      case 'entry':
        this.#addEntry(item.entry);
        break;
      case 'closing':
        this.#withLine(item.closing.key, (line) => {
          line.closing = item.closing;
        });
        break;
      case 'counter':
        this.#withLine(item.counter.key, (line) => {
          line.counter = item.counter;
        });
        break;
      case 'unknown':
        this.passedOver += 1;
        break;
      case 'retired':
        break;
    }
  }

  narrow(counts: (name: string) => boolean): void {
    this.#counts = counts;
    for (const name of this.#lines.keys()) if (!counts(name)) this.#lines.delete(name);
  }

  result(): Recount {
    const lines = this.#lines;
    const counters = new Map<string, Counter>();
    for (const [name, { counter }] of lines) if (counter !== undefined) counters.set(name, counter);
    return {
      records: this.records,
      counters,
      passedOver: this.passedOver,
      names: () => [...lines.keys()],
      key: (name) => lines.get(name)?.key ?? { subject: '', limit: '', period: '' },
      expected: (name) => total(lines.get(name)),
      closing: (name) => lines.get(name)?.closing,
      correctedBefore: (name, beforeMs) => correctedBefore(lines.get(name), beforeMs),
    };
  }

  kept(): KeptSums {
    return { records: this.records, passedOver: this.passedOver, lines: [...this.#lines.values()] };
  }

  static restored({ records, passedOver, lines }: KeptSums, options: RecountSumsOptions): RecountSums {
    const sums = new RecountSums(options);
    sums.records = records;
    sums.passedOver = passedOver;
    for (const line of lines) sums.#lines.set(counterName(line.key), line);
    return sums;
  }

  #withLine(key: CounterKey, change: (line: Line) => void): void {
    const name = counterName(key);
    if (!this.#counts(name)) return;
    let line = this.#lines.get(name);
    if (line === undefined) {
      line = {
        ...{ key, held: startSum(), early: startSum(), late: [] },
        ...{ counter: undefined, closing: undefined },
      };
      this.#lines.set(name, line);
    }
    change(line);
  }

  #addRecord(record: JobRecord): void {
    for (const claim of record.claims) {
      this.#withLine(claim.counter, ({ held }) => {
        add(held, claim, claim.counted, record.state === 'SETTLED' ? claim.counted : 0, record.unchecked);
      });
    }
  }

  #addEntry({ atMs, deltas, unchecked }: CorrectionEntry): void {
    for (const delta of deltas) {
      this.#withLine(delta.counter, ({ key, early, late }) => {
        const sum = isClosable(key, atMs) ? startSum() : early;
        add(sum, delta, delta.delta, delta.delta, unchecked);
        if (sum !== early) late.push({ atMs, amounts: sum });
      });
    }
  }
}

export interface KeptSums {
  readonly records: number;
  readonly passedOver: number;
  readonly lines: readonly Line[];
}

export async function recount(items: AsyncIterable<StoredItem> | Iterable<StoredItem>): Promise<Recount> {
  const sums = new RecountSums();
  for await (const item of items) sums.add(item);
  return sums.result();
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

const afterClosing = ({ late, closing }: Line): readonly LateAmounts[] =>
  closing === undefined ? late : late.filter(({ atMs }) => atMs > closing.closedAtMs);

const correctedBefore = (line: Line | undefined, beforeMs: number): boolean =>
  line?.closing !== undefined && afterClosing(line).some(({ atMs }) => atMs < beforeMs);

/** A closed period counts its closing entry and what was corrected since; an open one its records and all corrections. */
function total(line: Line | undefined): CounterAmounts {
  if (line === undefined) return NO_AMOUNTS;
  const { closing } = line;
  const sum = startSum(closing ?? plus(line.held, line.early));
  return afterClosing(line).reduce<CounterAmounts>((all, { amounts }) => plus(all, amounts), sum);
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

import { type CounterKey, counterName } from '../../../policies/claim.ts';
import type { ClosingEntry, Counter, CounterAmounts, Drift, RecordClaim, UncheckedCause } from './ledger.ts';
import { isClosable } from './retention.ts';
import type { StoredItem } from './store.ts';

export const UNCHECKED_CAUSES: readonly UncheckedCause[] = ['exempt', 'unmetered', 'bypass'];

export const perCause = (amountOf: (cause: UncheckedCause) => number): Record<UncheckedCause, number> => ({
  ...{ exempt: amountOf('exempt'), unmetered: amountOf('unmetered'), bypass: amountOf('bypass') },
});

export const NO_AMOUNTS: CounterAmounts = {
  ...{ committed: 0, fitted: 0, settled: 0 },
  unchecked: perCause(() => 0),
};

export const sameAmounts = (a: CounterAmounts, b: CounterAmounts): boolean =>
  a.committed === b.committed &&
  a.fitted === b.fitted &&
  a.settled === b.settled &&
  UNCHECKED_CAUSES.every((cause) => a.unchecked[cause] === b.unchecked[cause]);

export const amountsOf = ({ committed, fitted, settled, unchecked }: CounterAmounts): CounterAmounts => ({
  committed,
  fitted,
  settled,
  unchecked,
});

type AmountsSum = { -readonly [Name in keyof CounterAmounts]: CounterAmounts[Name] } & {
  unchecked: Record<UncheckedCause, number>;
};

const sumOf = (from: CounterAmounts): AmountsSum => ({
  ...amountsOf(from),
  unchecked: { ...from.unchecked },
});

function addAmounts(sum: AmountsSum, amounts: CounterAmounts): void {
  sum.committed += amounts.committed;
  sum.fitted += amounts.fitted;
  sum.settled += amounts.settled;
  for (const cause of UNCHECKED_CAUSES) sum.unchecked[cause] += amounts.unchecked[cause];
}

function addClaim(
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

/** One counter: as it stands, and what its records make. */
export interface Line {
  readonly key: CounterKey;
  counter?: Counter;
  /** Sum over records, and over corrections from before any closing; ignored once the period is closed. */
  readonly held: AmountsSum;
  /** Corrections that a closing may have come before: few, since all jobs of the period have ended by then. */
  readonly late: { readonly atMs: number; readonly amounts: CounterAmounts }[];
  closing?: ClosingEntry;
  /** A round that an older version began keeps corrections apart from `held`. */
  readonly early?: CounterAmounts;
}

export interface KeptSums {
  readonly records: number;
  readonly passedOver: number;
  readonly lines: readonly Line[];
}

/** Some 700 bytes each. Of more counters the first ones are compared here, and all by `tollgate rebuild`. */
export const COUNTERS_MAX = 400_000;

/** Adds items up, in any order: the amounts of every counter by closing entries, records and corrections. */
export class Recount {
  records: number;
  /** Unreadable items, which may belong to any counter: above 0, the recount proves nothing. */
  passedOver: number;
  /** By the counter's name. */
  readonly lines: Map<string, Line>;
  readonly #linesMax: number;

  constructor({ records, passedOver, lines }: KeptSums, linesMax: number) {
    this.records = records;
    this.passedOver = passedOver;
    this.lines = new Map(lines.map((line) => [counterName(line.key), withEarly(line)]));
    this.#linesMax = linesMax;
  }

  add(item: StoredItem): void {
    switch (item.kind) {
      case 'record': {
        this.records += 1;
        const { claims, state, unchecked } = item.record;
        for (const claim of claims) {
          const line = this.#line(claim.counter);
          if (line !== undefined)
            addClaim(line.held, claim, claim.counted, state === 'SETTLED' ? claim.counted : 0, unchecked);
        }
        break;
      }
      case 'entry': {
        const { atMs, deltas, unchecked } = item.entry;
        for (const delta of deltas) {
          const line = this.#line(delta.counter);
          if (line === undefined) continue;
          const isLate = isClosable(line.key, atMs);
          const sum = isLate ? sumOf(NO_AMOUNTS) : line.held;
          addClaim(sum, delta, delta.delta, delta.delta, unchecked);
          if (isLate) line.late.push({ atMs, amounts: sum });
        }
        break;
      }
      case 'closing': {
        const line = this.#line(item.closing.key);
        if (line !== undefined) line.closing = item.closing;
        break;
      }
      case 'counter': {
        const line = this.#line(item.counter.key);
        if (line !== undefined) line.counter = item.counter;
        break;
      }
      case 'unknown':
        this.passedOver += 1;
        break;
      case 'retired':
        break;
    }
  }

  kept(): KeptSums {
    return { records: this.records, passedOver: this.passedOver, lines: [...this.lines.values()] };
  }

  #line(key: CounterKey): Line | undefined {
    const name = counterName(key);
    const known = this.lines.get(name);
    if (known !== undefined || this.lines.size >= this.#linesMax) return known;
    const line: Line = { key, held: sumOf(NO_AMOUNTS), late: [] };
    this.lines.set(name, line);
    return line;
  }
}

/** A closed period counts its closing entry and what was corrected since; an open one its records and all corrections. */
export function recountedAmounts(line: Line): CounterAmounts {
  const sum = sumOf(line.closing ?? line.held);
  for (const { amounts } of afterClosing(line)) addAmounts(sum, amounts);
  return sum;
}

export const driftOf = (line: Line): Drift => ({
  ...{ key: line.key, counter: amountsOf(line.counter ?? NO_AMOUNTS), recount: recountedAmounts(line) },
});

export const agrees = (line: Line): boolean =>
  sameAmounts(line.counter ?? NO_AMOUNTS, recountedAmounts(line));

function withEarly({ early, ...line }: Line): Line {
  if (early !== undefined) addAmounts(line.held, early);
  return line;
}

const afterClosing = ({ late, closing }: Line): Line['late'] =>
  closing === undefined ? late : late.filter(({ atMs }) => atMs > closing.closedAtMs);

export const NO_SUMS: KeptSums = { records: 0, passedOver: 0, lines: [] };

export async function recount(items: AsyncIterable<StoredItem> | Iterable<StoredItem>): Promise<Recount> {
  const sums = new Recount(NO_SUMS, Number.POSITIVE_INFINITY);
  for await (const item of items) sums.add(item);
  return sums;
}

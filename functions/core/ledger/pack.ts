/** Whole jobs into transactions: a job's record and all its counters are decided together or not at all. */
import { TRANSACTION_ITEMS_MAX } from '../store/operation.ts';

/** What a job needs of a transaction. */
export interface Packable {
  /** Items of its own: its record, perhaps a correction entry. */
  readonly items: number;
  /** Counters, shared with its neighbours: each counts once per pack. */
  readonly names: readonly string[];
}

/**
 * Splits jobs into packs of at most 100 items, keeping their order. A hundred items of at most a few KB each stay far
 * below DynamoDB's 4 MB, because `recordItem` bounds a record.
 */
export function packs<T>(jobs: readonly T[], needs: (job: T) => Packable): readonly (readonly T[])[] {
  const all: T[][] = [];
  let pack: T[] = [];
  let items = 0;
  let names = new Set<string>();
  for (const job of jobs) {
    const need = needs(job);
    const more = need.items + countNew(need.names, names);
    if (pack.length > 0 && items + more > TRANSACTION_ITEMS_MAX) {
      all.push(pack);
      pack = [];
      items = 0;
      names = new Set();
    }
    items += need.items + countNew(need.names, names);
    for (const name of need.names) names.add(name);
    pack.push(job);
  }
  if (pack.length > 0) all.push(pack);
  return all;
}

const countNew = (wanted: readonly string[], present: ReadonlySet<string>): number => {
  let count = 0;
  for (const [index, name] of wanted.entries())
    if (!present.has(name) && wanted.indexOf(name) === index) count += 1;
  return count;
};

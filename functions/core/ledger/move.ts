/** Moves of one job that ask no bound: settle, release, expire, charge unchecked, correct. Pure: record in, writes out. */
import { counterName } from '../../../policies/claim.ts';
import type { CorrectionEntry, EntryCause, EntryDelta } from './entry.ts';
import type { JobRecord, RecordClaim, UncheckedCause } from './ledger.ts';
import type { CounterWrite } from './store.ts';

/** Writes, and the result for the caller once they are written. A job without a record has no writes. */
export interface Move<Outcome> {
  readonly outcome: Outcome;
  readonly record?: JobRecord;
  readonly entry?: CorrectionEntry;
  /** Changes of counters, by claim; those of one pack are merged. */
  readonly changes: readonly CounterChange[];
}

export interface CounterChange {
  readonly name: string;
  readonly write: CounterWrite;
}

export const noMove = <Outcome>(outcome: Outcome): Move<Outcome> => ({ outcome, changes: [] });

/** The counters' view of claims that went from `before` to `after`. `final`: what is counted after is settled. */
export function changesBetween(
  before: readonly RecordClaim[],
  after: readonly RecordClaim[],
  options: { readonly final?: boolean; readonly unchecked?: UncheckedCause | undefined },
): readonly CounterChange[] {
  return after.flatMap((claim, index) => {
    const committed = claim.counted - (before[index]?.counted ?? 0);
    return change(claim, committed, options.final ? claim.counted : 0, options.unchecked);
  });
}

/**
 * Corrects a charge to `target` by an entry next to the record; the record's claims stay. The next record
 * has the new sum of corrections and `entries + 1`.
 */
export function correction(
  record: JobRecord,
  target: (claim: RecordClaim) => number,
  cause: EntryCause,
  atMs: number,
): Required<Pick<Move<never>, 'record' | 'entry' | 'changes'>> {
  const deltas = record.claims.map((claim): EntryDelta => {
    const { counter, unit, fitted, checked } = claim;
    return { counter, unit, fitted, checked, delta: target(claim) - claim.counted - claim.corrected };
  });
  const { unchecked } = record;
  return {
    record: {
      ...record,
      rev: record.rev + 1,
      entries: record.entries + 1,
      claims: record.claims.map((claim, index) => ({
        ...claim,
        corrected: claim.corrected + (deltas[index]?.delta ?? 0),
      })),
    },
    entry: {
      jobId: record.jobId,
      number: record.entries + 1,
      generation: record.generation,
      cause,
      atMs,
      deltas: deltas.filter(({ delta }) => delta !== 0),
      ...(unchecked === undefined ? {} : { unchecked }),
    },
    changes: deltas.flatMap((delta) => change(delta, delta.delta, delta.delta, unchecked)),
  };
}

function change(
  claim: Pick<RecordClaim, 'counter' | 'fitted' | 'checked'>,
  committed: number,
  settled: number,
  unchecked: UncheckedCause | undefined,
): readonly CounterChange[] {
  if (committed === 0 && settled === 0) return [];
  return [
    {
      name: counterName(claim.counter),
      write: {
        kind: 'counter',
        key: claim.counter,
        committed,
        fitted: claim.fitted ? committed : 0,
        settled,
        unchecked: claim.checked || unchecked === undefined ? {} : { [unchecked]: committed },
      },
    },
  ];
}

/** One write per counter. */
export function mergeChanges(changes: readonly CounterChange[]): ReadonlyMap<string, CounterWrite> {
  const merged = new Map<string, CounterWrite>();
  for (const { name, write } of changes) {
    const sum = merged.get(name);
    merged.set(name, sum === undefined ? write : added(sum, write));
  }
  return merged;
}

const added = (a: CounterWrite, b: CounterWrite): CounterWrite => ({
  kind: 'counter',
  key: a.key,
  committed: a.committed + b.committed,
  fitted: a.fitted + b.fitted,
  settled: a.settled + b.settled,
  ...((a.unreserves !== undefined || b.unreserves !== undefined) && {
    unreserves: [...(a.unreserves ?? []), ...(b.unreserves ?? [])],
  }),
  unchecked: {
    exempt: (a.unchecked.exempt ?? 0) + (b.unchecked.exempt ?? 0),
    unmetered: (a.unchecked.unmetered ?? 0) + (b.unchecked.unmetered ?? 0),
    bypass: (a.unchecked.bypass ?? 0) + (b.unchecked.bypass ?? 0),
  },
});

/** Moves of one job that ask no bound: settle, release, expire, charge unchecked, correct. Plans the writes, and makes them. */
import { counterName } from '../../../policies/claim.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { type AttemptDeps, attempt } from './attempt.ts';
import { packs } from './counter.ts';
import type { SeenCounters } from './hold-job.ts';
import type {
  CorrectionEntry,
  EntryCause,
  EntryDelta,
  JobRecord,
  RecordClaim,
  UncheckedCause,
} from './ledger.ts';
import { perCause } from './recount.ts';
import { expiring } from './retention.ts';
import type { CounterWrite, Write } from './store.ts';

/** Writes, and the result for the caller once they are written. Without a record there is nothing to write. */
export interface Move<Outcome> {
  readonly outcome: Outcome;
  readonly record?: JobRecord;
  readonly entry?: CorrectionEntry;
  readonly changes: readonly CounterWrite[];
}

export const noMove = <Outcome>(outcome: Outcome): Move<Outcome> => ({ outcome, changes: [] });

/** The counters' view of claims that went from `before` to `after`. `final`: what is counted after is settled. */
export function changesBetween(
  before: readonly RecordClaim[],
  after: readonly RecordClaim[],
  options: { readonly final?: boolean; readonly unchecked?: UncheckedCause | undefined },
): readonly CounterWrite[] {
  return after.flatMap((claim, index) => {
    const committed = claim.counted - (before[index]?.counted ?? 0);
    return change(claim, committed, options.final ? claim.counted : 0, options.unchecked);
  });
}

/** Corrects a charge to `target` by an entry next to the record, whose claims stay. */
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
      ...withoutAbsent({ unchecked }),
    },
    changes: deltas.flatMap((delta) => change(delta, delta.delta, delta.delta, unchecked)),
  };
}

function change(
  claim: Pick<RecordClaim, 'counter' | 'fitted' | 'checked'>,
  committed: number,
  settled: number,
  unchecked: UncheckedCause | undefined,
): readonly CounterWrite[] {
  if (committed === 0 && settled === 0) return [];
  return [
    {
      ...{ kind: 'counter', key: claim.counter, committed, settled },
      fitted: claim.fitted ? committed : 0,
      unchecked: claim.checked || unchecked === undefined ? {} : { [unchecked]: committed },
    },
  ];
}

function mergeChanges(changes: readonly CounterWrite[]): ReadonlyMap<string, CounterWrite> {
  const merged = new Map<string, CounterWrite>();
  for (const write of changes) {
    const name = counterName(write.key);
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
  ...((a.unreserves ?? b.unreserves) && {
    unreserves: [...(a.unreserves ?? []), ...(b.unreserves ?? [])],
  }),
  unchecked: perCause((cause) => (a.unchecked[cause] ?? 0) + (b.unchecked[cause] ?? 0)),
});

export interface MoveDeps extends AttemptDeps {
  readonly lastSeen: SeenCounters;
}

/** A planned change of one job; `plan` runs again if the record turns out to be another. */
export interface MoveRequest<Outcome> {
  readonly jobId: number;
  plan(record: JobRecord | undefined): Move<Outcome>;
}

/** A conflict needs two callers that end the same job at the same time: one pass each, and some spare. */
const PASSES_MAX = 6;

/** @param records - updated to what was written @returns `undecided` if the table gave no response in time */
export async function makeMoves<Outcome>(
  requests: readonly MoveRequest<Outcome>[],
  records: Map<number, JobRecord>,
  deadlineMs: number,
  deps: MoveDeps,
): Promise<readonly (Outcome | 'undecided')[]> {
  const outcomes = new Map<MoveRequest<Outcome>, Outcome | 'undecided'>();
  const passes = new Map<MoveRequest<Outcome>, number>();
  while (outcomes.size < requests.length) {
    const open = requests.filter((request) => !outcomes.has(request));
    // Two moves of one job cannot share a transaction: the second sees what the first made of the record.
    const first = new Map(open.toReversed().map((request) => [request.jobId, request]));
    const planned: Planned<Outcome>[] = [];
    for (const request of [...first.values()].reverse()) {
      const move = request.plan(records.get(request.jobId));
      const pass = (passes.get(request) ?? 0) + 1;
      passes.set(request, pass);
      if (move.record === undefined) outcomes.set(request, move.outcome);
      else if (pass > PASSES_MAX) outcomes.set(request, 'undecided');
      else planned.push({ request, move });
    }
    for (const pack of packs(planned.toSorted(byCounter), needs))
      await makePack(pack, records, outcomes, deadlineMs, deps);
  }
  return requests.map((request) => outcomes.get(request) ?? 'undecided');
}

interface Planned<Outcome> {
  readonly request: MoveRequest<Outcome>;
  readonly move: Move<Outcome>;
}

/** Ends of one group go side by side: their pack takes few counters and meets few rivals there. No bound asks for another order. */
const byCounter = <Outcome>(one: Planned<Outcome>, other: Planned<Outcome>): number =>
  lastCounterOf(one).localeCompare(lastCounterOf(other));

const lastCounterOf = <Outcome>({ move }: Planned<Outcome>): string => {
  const last = move.changes.at(-1);
  return last === undefined ? '' : counterName(last.key);
};

const needs = <Outcome>({ move }: Planned<Outcome>) => ({
  items: move.entry === undefined ? 1 : 2,
  names: move.changes.map(({ key }) => counterName(key)),
});

async function makePack<Outcome>(
  pack: readonly Planned<Outcome>[],
  records: Map<number, JobRecord>,
  outcomes: Map<MoveRequest<Outcome>, Outcome | 'undecided'>,
  deadlineMs: number,
  deps: MoveDeps,
): Promise<void> {
  const merged = mergeChanges(pack.flatMap(({ move }) => move.changes));
  const nowMs = deps.clock.nowMs();
  const counters = [...merged.values()].map((write) => expiring(write, nowMs));
  const result = await attempt(writesOf(pack, records, counters), deadlineMs, deps);
  switch (result.outcome) {
    case 'committed':
      for (const { request, move } of pack) {
        outcomes.set(request, move.outcome);
        if (move.record !== undefined) records.set(request.jobId, move.record);
      }
      for (const [name, { committed, fitted }] of merged) deps.lastSeen.move(name, committed, fitted);
      return;
    case 'gave_up':
      for (const { request } of pack) outcomes.set(request, 'undecided');
      return;
    case 'refused':
      for (const [index, { request }] of pack.entries()) {
        const refusal = result.refusals[index];
        if (refusal?.kind !== 'record') continue;
        if (refusal.record === undefined) records.delete(request.jobId);
        else records.set(request.jobId, refusal.record);
      }
  }
}

/** Records first, so that the refusals of a pack are found by its index. */
function writesOf<Outcome>(
  pack: readonly Planned<Outcome>[],
  records: ReadonlyMap<number, JobRecord>,
  counters: readonly Write[],
): readonly Write[] {
  const writes = pack.flatMap(({ request, move }): Write[] => {
    const replaces = records.get(request.jobId);
    return move.record === undefined
      ? []
      : [{ kind: 'record', record: move.record, ...(replaces && { replaces }) }];
  });
  const entries = pack.flatMap(({ move }): Write[] =>
    move.entry ? [{ kind: 'entry', entry: move.entry }] : [],
  );
  return [...writes, ...entries, ...counters];
}

import { type CounterKey, counterName } from '../../../policies/claim.ts';
import { countersAsked } from '../../core/admission/index.ts';
import type { Counter, JobRecord } from '../../core/ledger/index.ts';
import type { ReevaluatedJob } from './asked-again.ts';
import { countersOf } from './counters-then-and-now.ts';

export type CounterReader = (keys: readonly CounterKey[]) => Promise<readonly (Counter | undefined)[]>;

/** Every counter an explanation looks at, by `counterName`; one that was never written is left out. */
export async function countersFor(
  record: JobRecord,
  again: ReevaluatedJob | undefined,
  read: CounterReader,
): Promise<ReadonlyMap<string, Counter>> {
  if (again === undefined) return readNamed(countersOf(record, []), read);
  const { evaluation } = again;
  return readNamed([...countersOf(record, evaluation.claims), ...countersAsked(evaluation)], read);
}

/** @param known - read already, by `counterName`. */
export async function readNamed(
  all: readonly CounterKey[],
  read: CounterReader,
  known: ReadonlyMap<string, Counter> = new Map(),
): Promise<ReadonlyMap<string, Counter>> {
  const keys = [...new Map(all.map((key) => [counterName(key), key])).values()].filter(
    (key) => !known.has(counterName(key)),
  );
  const counters = keys.length === 0 ? [] : await read(keys);
  return new Map(
    keys.flatMap((key, index) => {
      const counter = counters[index];
      return counter === undefined ? [] : [[counterName(key), counter] as const];
    }),
  );
}

import { type CounterKey, counterName } from '../../../policies/claim.ts';
import type { Counter, JobRecord } from '../../core/ledger/index.ts';
import { countersAsked, type ReevaluatedJob } from './asked-again.ts';
import { countersOf } from './counters-then-and-now.ts';

type ReadCounters = (keys: readonly CounterKey[]) => Promise<readonly (Counter | undefined)[]>;

/** Every counter an explanation looks at, by `counterName`; one that was never written is left out. */
export async function countersFor(
  record: JobRecord,
  again: ReevaluatedJob | undefined,
  read: ReadCounters,
): Promise<ReadonlyMap<string, Counter>> {
  const claims = again?.claims ?? [];
  const all = [...countersOf(record, claims), ...countersAsked(claims)];
  const keys = [...new Map(all.map((key) => [counterName(key), key])).values()];
  const counters = await read(keys);
  return new Map(
    keys.flatMap((key, index) => {
      const counter = counters[index];
      return counter === undefined ? [] : [[counterName(key), counter] as const];
    }),
  );
}

/** The second set of sums, as the writes of one transaction make them: what counters say they gained, and what their records changed. */
import { epochOf, isSummed, slotAdditions, weightChanges } from '../../../functions/core/ledger/slots.ts';
import type { Write } from '../../../functions/core/ledger/store.ts';
import { counterName } from '../../../policies/claim.ts';
import { must } from './history.ts';

const EPOCH = 0;
const NOTHING = { n0: 0, w0: 0 };

/** @throws where a counter gained anything else than the records of the same transaction changed on it. */
export function secondSumsAgree(writes: readonly Write[]): void {
  const changed = new Map<string, { moved: number; weight: bigint }>();
  for (const write of writes) {
    if (write.kind !== 'record') continue;
    for (const [name, weight] of weightChanges(write.replaces, write.record)) {
      const { moved, weight: sum } = changed.get(name) ?? { moved: 0, weight: 0n };
      changed.set(name, { moved: moved + 1, weight: sum + BigInt(weight) });
    }
  }
  const epoch = epochOf(writes, EPOCH);
  for (const write of writes) {
    if (write.kind !== 'counter') continue;
    const name = counterName(write.key);
    const { moved, weight } = changed.get(name) ?? { moved: 0, weight: 0n };
    changed.delete(name);
    if (!isSummed(write.key)) continue;
    const { n0, w0 } = { ...NOTHING, ...slotAdditions(write, epoch) };
    const differs = (BigInt(w0) - weight) % MODULUS;
    must(
      n0 === moved && differs === 0n,
      `${name} gained ${w0} by ${n0} jobs, its records changed it by ${weight} in ${moved}`,
    );
  }
  must(changed.size === 0, `records changed ${[...changed.keys()]}, and the counters were not written`);
}

/** As weights are counted. */
const MODULUS = 2n ** 40n;

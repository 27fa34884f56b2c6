import { type InstanceTable, type Item, ledgerKeys, singleItem } from '../store/index.ts';
import type { DriftingCounter, RecountOutcome, RecountOutcomes } from './recount-outcome.ts';

const RECOUNTED_AT = 'at';
const UNLISTED = 'ul';
const DRIFTING = 'dc';
const SUBJECT = 's';
const LIMIT = 'l';
const PERIOD = 'p';
const COMMITTED = 'c';
const RECOUNTED = 'r';

/** One item, which each recount replaces. */
export function dynamoRecountOutcomes({ table, instance }: InstanceTable): RecountOutcomes {
  const key = ledgerKeys(instance).recountOutcome;
  const item = singleItem({ table, key, name: 'what the recount found', consistent: false });
  return {
    async read() {
      const found = await item.read();
      return found && decode(found);
    },
    write: (outcome) => item.write(encode(outcome)),
  };
}

const encode = (outcome: RecountOutcome): Item => ({
  [RECOUNTED_AT]: { N: String(outcome.recountedAtMs) },
  [UNLISTED]: { N: String(outcome.unlisted) },
  [DRIFTING]: {
    L: outcome.drifting.map(({ key, committed, recounted }) => ({
      M: {
        [SUBJECT]: { S: key.subject },
        [LIMIT]: { S: key.limit },
        [PERIOD]: { S: key.period },
        [COMMITTED]: { N: String(committed) },
        [RECOUNTED]: { N: String(recounted) },
      },
    })),
  },
});

const decode = (item: Item): RecountOutcome => ({
  recountedAtMs: Number(item[RECOUNTED_AT]?.N ?? 0),
  unlisted: Number(item[UNLISTED]?.N ?? 0),
  drifting: (item[DRIFTING]?.L ?? []).map(
    ({ M = {} }): DriftingCounter => ({
      key: { subject: M[SUBJECT]?.S ?? '', limit: M[LIMIT]?.S ?? '', period: M[PERIOD]?.S ?? '' },
      committed: Number(M[COMMITTED]?.N ?? 0),
      recounted: Number(M[RECOUNTED]?.N ?? 0),
    }),
  ),
});

/** What the check knows of counters: what each slot said when it was last found right. One item for a subject, written by the check alone. */
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { EPOCH_MS, type SlotSums } from '../ledger/index.ts';
import {
  answered,
  type BatchGetDeps,
  batchGet,
  type InstanceTable,
  itemAt,
  ledgerKeys,
  putItem,
  TimeLimit,
  unavailable,
} from '../store/index.ts';

export interface KnownSums extends SlotSums {
  /** The epoch that each slot was last compared after; 0: never, since it is new; negative: take it as it is found. */
  readonly epochs: readonly number[];
}

/** By limit and period: `money-month|2026-11`. */
export type KnownOfSubject = ReadonlyMap<string, KnownSums>;

export interface CounterMemory {
  /** One per subject, same order. Consistent. @throws {LedgerError} `ledger_unavailable` */
  read(subjects: readonly string[]): Promise<readonly KnownOfSubject[]>;
  /** @throws {LedgerError} `ledger_unavailable` */
  write(subject: string, known: KnownOfSubject): Promise<void>;
}

const TIMEOUT_MS = 10_000;
const KNOWN = 'kn';
/** A counter that nobody moved for so long is forgotten: it is met as a new one. */
const KEPT_EPOCHS = (40 * DAY_MS) / EPOCH_MS;

export function dynamoCounterMemory(deps: InstanceTable & BatchGetDeps): CounterMemory {
  const { table, instance } = deps;
  const keys = ledgerKeys(instance);
  const failure = unavailable(table);
  return {
    async read(subjects) {
      const items = await answered('read what is known of counters', failure, () =>
        batchGet(
          subjects.map((subject) => keys.sumMemory(subject)),
          TIMEOUT_MS,
          deps,
        ),
      );
      return items.map(
        (item) => new Map(JSON.parse(item?.[KNOWN]?.S ?? '[]') as readonly (readonly [string, KnownSums])[]),
      );
    },
    async write(subject, known) {
      const newest = Math.max(...[...known.values()].flatMap(({ epochs }) => epochs));
      const kept = [...known].filter(([, { epochs }]) => Math.max(...epochs) > newest - KEPT_EPOCHS);
      await answered('write what is known of counters', failure, () =>
        putItem(
          table,
          itemAt(keys.sumMemory(subject), { [KNOWN]: { S: JSON.stringify(kept) } }),
          new TimeLimit(TIMEOUT_MS),
        ),
      );
    },
  };
}

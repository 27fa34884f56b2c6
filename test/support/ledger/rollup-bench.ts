import { silentLog } from '../../../functions/core/environment/environment.ts';
import { recordItem } from '../../../functions/core/ledger/items.ts';
import type { JobRecord } from '../../../functions/core/ledger/ledger.ts';
import type { Write } from '../../../functions/core/ledger/store.ts';
import { ledgerKeys } from '../../../functions/core/store/keys.ts';
import type { Item } from '../../../functions/core/store/operation.ts';
import { placeRecords } from '../../../functions/core/usage/contribution.ts';
import { type RollUpDeps, rollUp } from '../../../functions/core/usage/roll-up.ts';
import { indexDirectory } from '../../../policies/directory.ts';
import { someFacts } from './asks.ts';
import { MemoryRollupStore, type RollupFault } from './memory-rollup-store.ts';
import { NOVEMBER_21_MS } from './test-clock.ts';

export const INSTANCE = 'gitlab.example.com';
export const keys = ledgerKeys(INSTANCE);

/** acme (100) ▸ payments (101) ▸ cards (104) */
const directory = indexDirectory([
  { id: 100, path: 'acme', personal: false },
  { id: 101, parentId: 100, path: 'acme/payments', personal: false },
  { id: 104, parentId: 101, path: 'acme/payments/cards', personal: false },
]);

export interface StreamRecord {
  readonly eventName: string;
  readonly dynamodb: {
    readonly SequenceNumber: string;
    readonly NewImage?: Item;
    readonly OldImage?: Item;
  };
}

/** What the table's stream says of a commit's records. */
export class Feed {
  readonly records: StreamRecord[] = [];

  readonly onCommit = (writes: readonly Write[]): void => {
    for (const write of writes) if (write.kind === 'record') this.push(write.record, write.replaces);
  };

  push(after: JobRecord, before?: JobRecord): void {
    this.records.push({
      eventName: before === undefined ? 'INSERT' : 'MODIFY',
      dynamodb: {
        SequenceNumber: String(this.records.length + 1),
        NewImage: recordItem(after, keys),
        ...(before && { OldImage: recordItem(before, keys) }),
      },
    });
  }
}

export function rollupBench(
  options: { readonly fault?: () => RollupFault | undefined } & Partial<RollUpDeps> = {},
) {
  const { fault, ...over } = options;
  const store = new MemoryRollupStore({ instance: INSTANCE, ...(fault && { fault }) });
  const deps: RollUpDeps = {
    store,
    keys,
    clock: { nowMs: () => NOVEMBER_21_MS, sleep: async () => {} },
    random: () => 0,
    placeOf: placeRecords(directory, 'UTC'),
    log: silentLog,
    ...over,
  };
  const deliver = (records: readonly StreamRecord[]) => rollUp({ Records: records }, deps);
  return { store, deps, deliver };
}

export const aRecord = (over: Partial<JobRecord> = {}): JobRecord => ({
  jobId: 1,
  state: 'HELD',
  generation: 1,
  rev: 1,
  facts: someFacts({ jobName: 'unit', projectId: 7, groupId: 104, rootId: 100, costMicros: 600 }),
  claims: [],
  violations: [],
  shadow: [],
  answered: 'ledger',
  flagged: false,
  decidedAtMs: NOVEMBER_21_MS,
  dueAtMs: NOVEMBER_21_MS + 1,
  entries: 0,
  ...over,
});

/** The same job, settled after so many seconds. */
export function settled(record: JobRecord, durationSeconds: number): JobRecord {
  const { dueAtMs: _due, ...rest } = record;
  const rev = record.rev + 1;
  return {
    ...rest,
    state: 'SETTLED',
    rev,
    durationSeconds,
    endedAtMs: NOVEMBER_21_MS + durationSeconds * 1000,
  };
}

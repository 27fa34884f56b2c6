/** Where people own limits, as it is deployed, over tables in memory that count. No figure of it is typed in. */
import { placesNow } from '../../../../functions/answers/reading/limits-now.ts';
import {
  DirectoryDraft,
  type GroupTree,
  NOT_BEGUN,
  writeGroups,
} from '../../../../functions/core/directory/index.ts';
import { createLedger, MemoryStore } from '../../../../functions/core/ledger/index.ts';
import { createLimitsDesk } from '../../../../functions/core/limits/index.ts';
import { MemoryRollupStore, rollupKeys } from '../../../../functions/core/usage/index.ts';
import { handClock } from '../../../local/clock/hand-clock.ts';
import { countingStore } from '../counting-store.ts';
import { CountedDirectoryTable, CountedLimitTable, type TableCounts } from './counted-tables.ts';
import { countingRollupStore } from './counting-rollup-store.ts';
import { sampleRules } from './sample-jobs.ts';

export interface DeskOptions {
  /** Each with a budget of its own. */
  readonly groups: number;
  /** Those in Parameter Store that hold limits. */
  readonly parameters: number;
}

export type SampleDesk = Awaited<ReturnType<typeof sampleDesk>>;

const INSTANCE = 'gitlab.example.com';
const START_MS = Date.UTC(2026, 10, 21, 9);
/** Groups of one root, as large companies have them. */
const ROOT = 1;
export const BUDGET = { money: 100, per: 'month' } as const;

const pathOf = (id: number): string => (id === ROOT ? 'company' : `company/team-${id}`);

/** A deployment with so many groups, each with a budget. */
export async function sampleDesk({ groups }: DeskOptions) {
  const counted: TableCounts = { reads: 0, writes: 0 };
  const clock = handClock(START_MS);
  const { policy, limits: packed } = sampleRules(0);
  const table = new CountedDirectoryTable(counted);
  await writeDirectory(table, groups);
  const limitTable = new CountedLimitTable(counted);
  const counting = countingStore(new MemoryStore({ instance: INSTANCE }), INSTANCE);
  const ledger = createLedger({ store: counting, clock, random: () => 0.5 });
  const usage = countingRollupStore(new MemoryRollupStore({ instance: INSTANCE }), rollupKeys(INSTANCE));
  let ids = 0;
  const newId = (): string => {
    ids += 1;
    return `sample${ids}`;
  };
  /** A process that begins knows nothing: it reads the limits and the groups. */
  const started = () => {
    const places = placesNow({ table, packed: undefined, clock });
    const directory = async () => (await places())?.directory;
    const desk = createLimitsDesk({ table: limitTable, policy, directory, ledger, clock, newId });
    return { places, directory, desk };
  };
  const groupIds = Array.from({ length: groups }, (_, index) => ROOT + index);
  const document = { limits: groupIds.map((id) => ({ on: { group: id }, ...BUDGET })) };
  await started().desk.apply([{ kind: 'replace', document }], {
    actor: 'sample',
    rights: [{ role: 'finance' }],
    why: 'sample',
    source: 'sample',
    base: undefined,
    confirmed: true,
  });
  return {
    clock,
    policy,
    packed,
    table,
    limitTable,
    ledger,
    usage,
    started,
    groupIds,
    pathOf,
    counted,
    units: () => ({
      readUnits: counted.reads + counting.counts.itemsRead + usage.counts.reads,
      writeUnits: counted.writes,
    }),
  };
}

async function writeDirectory(table: CountedDirectoryTable, groups: number): Promise<void> {
  const draft = await DirectoryDraft.open({ table, runId: 'sample', nowMs: START_MS });
  const tree: GroupTree = new Map(
    Array.from({ length: groups }, (_, index) => {
      const id = ROOT + index;
      return [id, [id, id === ROOT ? 0 : ROOT, pathOf(id), 1, 0]];
    }),
  );
  await writeGroups(tree, draft);
  await draft.flip(NOT_BEGUN, true);
}

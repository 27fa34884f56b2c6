/** Made-up jobs as the rollup counts them, a clock that nights pass on, and the program that packs them. */
import { createConsoleRead } from '../../../functions/answers/create-console-read.ts';
import { placesOf } from '../../../functions/answers/reading/scope.ts';
import { silentLog } from '../../../functions/core/environment/environment.ts';
import type { JobRecord } from '../../../functions/core/ledger/ledger.ts';
import { dynamoSheetStore } from '../../../functions/core/sheets/sheet-store.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import type { ItemTable } from '../../../functions/core/store/operation.ts';
import { placeRecords } from '../../../functions/core/usage/contribution.ts';
import { rebuildUsage } from '../../../functions/core/usage/count-records.ts';
import { packJobs } from '../../../functions/drift/pack-jobs.ts';
import { packSheets } from '../../../functions/drift/pack-sheets.ts';
import { runnerClassNames } from '../../../policies/price.ts';
import { consoleHouse, DIRECTORY } from '../../functions/console/house.ts';

export interface MadeUpJob {
  readonly day: string;
  readonly projectId?: number;
  readonly groupId?: number;
  readonly runnerClass: string;
  readonly micros: number;
  readonly seconds: number;
  /** Per cent of the estimate. */
  readonly bucket?: string | undefined;
  readonly rejected?: boolean;
}

export function spendBooks({
  directory = DIRECTORY,
  packs = true,
  partBytes = 300_000,
  zone = 'UTC',
}: {
  readonly directory?: typeof DIRECTORY;
  readonly packs?: boolean;
  readonly partBytes?: number;
  readonly zone?: string;
} = {}) {
  const house = consoleHouse({ directory });
  const { clock, usage, policy } = house;
  const table = new MemoryTable();
  const calls = { sheets: 0, usage: 0 };
  const counted: ItemTable = {
    tableName: table.tableName,
    send: (name, operation) => {
      if (name === 'BatchGetItem') calls.sheets += 1;
      return table.send(name, operation);
    },
  };
  const sheets = dynamoSheetStore({
    ...{ table: counted, instance: 'gitlab.example.com', clock, random: () => 0, partBytes },
  });
  const counting = {
    readUsage: (keys: Parameters<typeof usage.readUsage>[0]) => {
      calls.usage += Math.ceil(keys.length / 100);
      return usage.readUsage(keys);
    },
  };
  const read = createConsoleRead({
    ...house.deps,
    usage: { ...house.deps.usage, ...counting },
    places: async () => placesOf(directory),
    zone,
    ...(packs && { sheets }),
  });
  const commit = (job: MadeUpJob) => {
    const chain = job.groupId === undefined ? [] : (directory.chainById.get(job.groupId) ?? []);
    const delta = new Map<string, number>([
      ['jobs', 1],
      ...(job.rejected
        ? [['rejected', 1] as const]
        : [
            ['settledMicros', job.micros] as const,
            ['seconds', job.seconds] as const,
            ...(job.bucket === undefined ? [] : [[job.bucket, 1] as const]),
          ]),
    ]);
    const subjects = [
      'instance',
      ...chain.map(({ id }) => `group/${id}`),
      ...(job.projectId === undefined ? [] : [`project/${job.projectId}`]),
      `runner-class/${job.runnerClass}`,
    ];
    return usage.commit({
      contributions: [],
      usage: subjects.map((subject) => ({ key: { subject, day: job.day }, delta })),
    });
  };
  const pack = () =>
    packSheets(clock.monotonicMs() + 600_000, {
      ...{ sheets, usage, clock, zone },
      subjects: async () => ({ directory, classNames: runnerClassNames(policy.prices) }),
    });
  const packTheJobs = (newest: number, bounds?: Parameters<typeof packJobs>[1]['bounds']) =>
    packJobs(clock.monotonicMs() + 600_000, {
      ...{ sheets, clock, zone, recentJobIds: async () => [newest] },
      readRecords: (jobIds) => house.ledger.readRecords(jobIds),
      ...(bounds !== undefined && { bounds }),
    });
  const packRecords = async (records: readonly JobRecord[]): Promise<void> => {
    const byId = new Map(records.map((record) => [record.jobId, record]));
    const counted = { clock, random: () => 0, placeOf: placeRecords(directory, zone), log: silentLog };
    await rebuildUsage(
      records.map((record) => ({ kind: 'record', record })),
      { ...counted, store: usage },
    );
    await packJobs(clock.monotonicMs() + 600_000, {
      ...{ sheets, clock, zone, recentJobIds: async () => [Math.max(0, ...byId.keys())] },
      readRecords: async (jobIds) => jobIds.map((id) => byId.get(id)),
    });
  };
  return { ...house, table, packTheJobs, packRecords, read, commit, pack, calls, sheets };
}

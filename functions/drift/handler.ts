import { randomUUID } from 'node:crypto';
import type { LimitSet } from '../../policies/limits/limits.ts';
import { CALENDAR_YEAR, type FiscalStart, isFiscalStart } from '../../policies/limits/period.ts';
import { runnerClassNames } from '../../policies/price.ts';
import { readWholeDirectory } from '../core/directory/directory-part.ts';
import { DynamoDirectoryTable } from '../core/directory/directory-table.ts';
import { consoleLog, systemClock } from '../core/environment/environment.ts';
import { readDriftConfig } from '../core/environment/settings.ts';
import {
  dynamoRecountOutcomes,
  dynamoSweepCheckpoints,
  isRecountLate,
  mendedMs,
} from '../core/ledger/checkpoints.ts';
import { DynamoStore } from '../core/ledger/dynamo-store.ts';
import { deployedTable, refuseForeignTable } from '../core/ledger/instances.ts';
import { dynamoRecountRounds, recountOn } from '../core/ledger/recount-round.ts';
import { dynamoPseudonymKeys, replaceUserIds } from '../core/ledger/user-ids.ts';
import { DynamoLimitTable } from '../core/limits/limit-table.ts';
import { readLimitSet } from '../core/limits/publish-limits.ts';
import { deployedMetrics } from '../core/metrics.ts';
import { followRules, pricesIn } from '../core/rules.ts';
import { dynamoSheetStore } from '../core/sheets/sheet-store.ts';
import { dynamoStatementChain } from '../core/statements/closed-statement.ts';
import { dynamoPriceLists } from '../core/statements/price-lists.ts';
import { placeRecords } from '../core/usage/contribution.ts';
import { dynamoCounterSnapshots } from '../core/usage/counter-snapshot.ts';
import { DynamoRollupStore } from '../core/usage/rollup-store.ts';
import { ENV_DEPLOYMENT, FUNCTION_METRIC } from '../names.ts';
import { areMonthsDue, closeMonths } from './close-months.ts';
import { packJobs } from './pack-jobs.ts';
import { packSheets } from './pack-sheets.ts';
import { mendUsage, recordVisit, reportDrift } from './recount.ts';

const DIRECTORY_TIMEOUT_MS = 10_000;
/** Leaves three of the run's 15 minutes for the end of a round; the next run goes on. */
const READS_UNTIL_MS = 12 * 60_000;
const NAMES_UNTIL_MS = 13 * 60_000;
const CLOSED_UNTIL_MS = 14 * 60_000;
const PACKED_UNTIL_MS = 4 * 60_000;
const JOBS_READ_UNTIL_MS = 6 * 60_000;
const RECORDS_TIMEOUT_MS = 10_000;

const config = readDriftConfig(process.env);
const metrics = deployedMetrics(process.env[ENV_DEPLOYMENT], { clock: systemClock });
const table = deployedTable(config, process.env);
const store = new DynamoStore(table);
const snapshots = dynamoCounterSnapshots(table);
const rules = followRules({ rulesFile: config.rulesFile, table, log: consoleLog }, (written) => written);

/** Hourly: folds the snapshot, packs sheets, goes on with the recount, once a day closes months. Give it 15 minutes. */
export const handler = refuseForeignTable(table, async (): Promise<string> => {
  const startMs = systemClock.monotonicMs();
  const failures: unknown[] = [];
  const attempted = (work: Promise<unknown>): Promise<unknown> =>
    work.catch((error: unknown) => failures.push(error));
  // First, so that the first round of the recount completes the snapshot.
  await attempted(snapshots.fold());
  await attempted(notePrices());
  await packReports(startMs).catch((error: unknown) =>
    consoleLog.warn('sheets not packed', { error: String(error) }),
  );
  const outcome = await recount(startMs);
  await closeDueMonths(startMs);
  if (failures.length > 0) throw failures[0];
  return outcome;
});

async function notePrices(): Promise<void> {
  const priceList = pricesIn((await rules.current()).file);
  const outcome = await dynamoPriceLists(table).noteInForce(priceList, systemClock.nowMs());
  if (outcome === 'noted') consoleLog.info('prices noted', { policyVersion: priceList.policyVersion });
}

async function recount(startMs: number): Promise<string> {
  const nowMs = systemClock.nowMs();
  const outcomes = dynamoRecountOutcomes(table);
  const sinceMs = nowMs - mendedMs((await outcomes.read())?.records);
  const visit = recordVisit(
    { sinceMs, nowMs },
    {
      mend: async (records) =>
        mendUsage(records, {
          ...{
            store: new DynamoRollupStore(table),
            clock: systemClock,
            random: Math.random,
            log: consoleLog,
          },
          placeOf: placeRecords((await readGroups())?.directory, config.zone),
        }),
      replaceUserIds: async (jobIds) => {
        const names = await replaceUserIds(jobIds, startMs + NAMES_UNTIL_MS, {
          ...{ store, clock: systemClock },
          keys: dynamoPseudonymKeys(table),
        });
        consoleLog.info('user ids replaced', { ...names });
      },
      keepCounters: (counters) => snapshots.add(counters),
    },
  );
  const outcome = await recountOn(startMs + READS_UNTIL_MS, {
    ...{ store, clock: systemClock, random: Math.random, newToken: randomUUID, visit },
    rounds: dynamoRecountRounds({ ...table, nowMs: systemClock.nowMs }),
    onOver: async (found, round) => {
      const drifting = await reportDrift(found, round, { outcomes, log: consoleLog });
      metrics.add(FUNCTION_METRIC.driftedCounters, drifting);
      await snapshots.recounted(round.startedAtMs);
    },
  });
  const last = await outcomes.read();
  if (last !== undefined && isRecountLate(last, nowMs)) metrics.add(FUNCTION_METRIC.driftedCounters, 1);
  metrics.flush();
  return outcome;
}

async function packReports(startMs: number): Promise<void> {
  const sheets = dynamoSheetStore(table);
  const found = await packSheets(startMs + PACKED_UNTIL_MS, {
    ...{ sheets, zone: config.zone, clock: systemClock, usage: new DynamoRollupStore(table) },
    subjects: async () => {
      const { policy, directory: packed } = await rules.current();
      const directory = (await readGroups())?.directory ?? packed;
      return directory && { directory, classNames: runnerClassNames(policy.prices) };
    },
  });
  if (found.days + found.left > 0) consoleLog.info('sheets packed', { ...found });
  const jobs = await packJobs(startMs + JOBS_READ_UNTIL_MS, {
    ...{ sheets, zone: config.zone, clock: systemClock },
    readRecords: (jobIds) => store.readRecords(jobIds, { timeoutMs: RECORDS_TIMEOUT_MS }),
    recentJobIds: async () =>
      [...((await dynamoSweepCheckpoints(table).read())?.runners.values() ?? [])].map(({ seenTo }) => seenTo),
  });
  if (jobs.days > 0) consoleLog.info('jobs packed', { ...jobs });
}

async function closeDueMonths(startMs: number): Promise<void> {
  const chain = dynamoStatementChain(table);
  const { lookedAtMs } = await chain.register();
  if (!areMonthsDue(lookedAtMs, systemClock.nowMs())) return;
  const { policy, limits, directory: packed } = await rules.current();
  const [fiscalStart, known] = await Promise.all([fiscalStartInForce(limits), readGroups()]);
  const directory = known?.directory ?? packed;
  // Without groups it is unknown which namespaces are personal.
  if (directory === undefined) return;
  const found = await closeMonths(startMs + CLOSED_UNTIL_MS, {
    ...{ chain, directory, clock: systemClock, log: consoleLog, instance: config.gitlabInstance },
    ...{ currency: policy.currency, prices: policy.prices, zone: config.zone, fiscalStart },
    ...{ usage: new DynamoRollupStore(table), sheets: dynamoSheetStore(table) },
  });
  consoleLog.info('months closed', { ...found });
  if (found.failed > 0) throw new Error(`months of ${found.failed} groups are not closed: the log says why`);
}

/** Of the live limits only this one field is read: a set that cannot be read otherwise keeps no month open. */
async function fiscalStartInForce(packed: LimitSet): Promise<FiscalStart> {
  const limitTable = new DynamoLimitTable(table);
  const pointer = await limitTable.getPointer({ timeoutMs: DIRECTORY_TIMEOUT_MS });
  if (pointer === undefined) return packed.fiscalStart ?? CALENDAR_YEAR;
  const { fiscal_start: start } = (await readLimitSet(pointer.set, limitTable)).document;
  return typeof start === 'string' && isFiscalStart(start) ? start : CALENDAR_YEAR;
}

const readGroups = () =>
  readWholeDirectory(new DynamoDirectoryTable(table), { timeoutMs: DIRECTORY_TIMEOUT_MS });

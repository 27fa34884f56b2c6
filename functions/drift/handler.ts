import { randomUUID } from 'node:crypto';
import { type BooksReport, checkBooks, dynamoCounterMemory, dynamoSumLog } from '../core/books/index.ts';
import { DynamoDirectoryTable, readWholeDirectory } from '../core/directory/index.ts';
import { consoleLog, systemClock } from '../core/environment/index.ts';
import {
  DynamoStore,
  deployedTable,
  dynamoPseudonymKeys,
  dynamoRecountOutcomes,
  dynamoRecountPasses,
  onOwnBooks,
  RECOUNT_EVERY_MS,
  recountOn,
  replaceUserIds,
} from '../core/ledger/index.ts';
import { deployedMetrics } from '../core/metrics/index.ts';
import { DynamoRollupStore, placeBy } from '../core/usage/index.ts';
import { ENV_DEPLOYMENT } from '../names.ts';
import { readDriftConfig } from './config.ts';
import { measureBooksCheck, measureDriftReport } from './measure-report.ts';
import { mendUsage } from './mend-usage.ts';
import { isRecountDue } from './night.ts';
import { recordVisit } from './records-to-check.ts';
import { tellDrift } from './tell-drift.ts';

const DIRECTORY_TIMEOUT_MS = 10_000;
/** Leaves three of the run's 15 minutes for what a round ends with; the next run goes on. */
const READS_UNTIL_MS = 12 * 60_000;
const NAMES_UNTIL_MS = 13 * 60_000;
/** A recount may take some runs, each a quarter of an hour. */
const LATE_MS = 86_400_000;

const config = readDriftConfig(process.env);
const metrics = deployedMetrics(process.env[ENV_DEPLOYMENT], { clock: systemClock });
const table = deployedTable(config, process.env);
const store = new DynamoStore(table);

/**
 * Lambda's entry point for the schedule: compares the second sums, then begins the week's recount, goes on with it, or has nothing
 * more to do. Give it 15 minutes.
 */
export const handler = onOwnBooks(table, async (): Promise<string> => {
  const startMs = systemClock.monotonicMs();
  const books = await tellBooks().catch((error: unknown) => ({ error }));
  const hasFailed = 'error' in books;
  const outcome = await recount(startMs, hasFailed ? undefined : books.doubtedAtMs);
  // A recount that could go on has done so.
  if (hasFailed) throw books.error;
  return outcome;
});

/** The second sums: a quarter of an hour of them. */
async function tellBooks(): Promise<BooksReport> {
  const memory = dynamoCounterMemory(table);
  const last = await dynamoRecountOutcomes(table).read();
  const found = await checkBooks({ ...table, log: dynamoSumLog(table), memory });
  const isRecountLate = systemClock.nowMs() - (last?.recountedAtMs ?? 0) > RECOUNT_EVERY_MS + LATE_MS;
  measureBooksCheck(found, { metrics, log: consoleLog, isRecountLate });
  return found;
}

async function recount(startMs: number, doubtedAtMs: number | undefined): Promise<string> {
  const nowMs = systemClock.nowMs();
  const visit = recordVisit(nowMs, {
    mend: async (records) => {
      await mendUsage(records, await mendDeps());
    },
    replaceUserIds: async (jobIds) => {
      const names = await replaceUserIds(jobIds, startMs + NAMES_UNTIL_MS, {
        ...{ store, clock: systemClock },
        keys: dynamoPseudonymKeys(table),
      });
      consoleLog.info('user ids replaced', { ...names });
    },
  });
  return recountOn(startMs + READS_UNTIL_MS, {
    ...{ store, clock: systemClock, random: Math.random, newToken: randomUUID, visit },
    passes: dynamoRecountPasses({ ...table, nowMs: systemClock.nowMs }),
    isDue: (last) => isRecountDue(last, { doubtedAtMs, nowMs }),
    onOver: async (found, { startedAtMs }) => {
      const report = await tellDrift(found, startedAtMs, {
        outcomes: dynamoRecountOutcomes(table),
        log: consoleLog,
      });
      measureDriftReport(report, metrics);
    },
  });
}

async function mendDeps() {
  const known = await readWholeDirectory(new DynamoDirectoryTable(table), {
    timeoutMs: DIRECTORY_TIMEOUT_MS,
  });
  return {
    store: new DynamoRollupStore(table),
    clock: systemClock,
    random: Math.random,
    placeOf: placeBy(known?.directory, config.zone),
    log: consoleLog,
  };
}

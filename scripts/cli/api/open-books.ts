import { randomBytes } from 'node:crypto';
import { compareAll } from '../../../functions/answers/backtest/count-edit.ts';
import { createConsoleRead } from '../../../functions/answers/create-console-read.ts';
import { placesOf } from '../../../functions/answers/reading/scope.ts';
import { createOwnerNotifier } from '../../../functions/console/api/notify-owner.ts';
import { type LedgerClock, systemClock } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import type { Ledger } from '../../../functions/core/ledger/ledger.ts';
import type { LedgerStore } from '../../../functions/core/ledger/store.ts';
import { createLimitEdits } from '../../../functions/core/limits/create-limit-edits.ts';
import type { LimitsDocument } from '../../../functions/core/limits/limit-set.ts';
import { DynamoLimitTable, type LimitTable } from '../../../functions/core/limits/limit-table.ts';
import { snsNotifier } from '../../../functions/core/notify/sns.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import { DynamoRollupStore } from '../../../functions/core/usage/rollup-store.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import { runnerClassNames } from '../../../policies/price.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { limitsIn, readDirectory, readPolicy } from '../../policy/read-documents.ts';
import { readYaml } from '../../policy/yaml-document.ts';
import { ownName, standIn, type TerminalIo } from '../../terminal/command.ts';
import { rollupZone } from '../ledger-flags.ts';
import { type LedgerAccess, openLedger, openToEdit, partsOf, storeWith, withOpened } from '../open-ledger.ts';
import { directoryInForce } from '../read-rules.ts';
import { progressOf, watched } from '../reconcile/progress.ts';
import { type RulesFlags, rulesFiles } from '../rules-flags.ts';
import type { ApiClient } from './answers.ts';
import { apiInProcess } from './api-in-process.ts';
import type { BudgetContext, ContextFlags, OpenBooks } from './open-api.ts';

/** No job waits for it, and the connection may be slow. */
const TIMEOUT_MS = 15_000;
const LIVE_JOBS_MAX = 100;

/** The API in this process, over a table and the documents here. */
export function withBooks<T>(
  flags: ContextFlags,
  io: TerminalIo,
  ask: (budget: BudgetContext) => Promise<T>,
  { open = openToEdit, readsPublished = true }: OpenBooks,
): Promise<T> {
  const files = readFiles(flags, io);
  const opened = open === 'to read' ? openLedger : open;
  return withOpened(opened, { ...flags, console: undefined }, io, async ({ limits, ...tables }) => {
    const published = readsPublished ? withoutAbsent({ limits }) : {};
    return ask(await contextOn({ ...tables, ...published }, files, flags, io));
  });
}

function readFiles(flags: RulesFlags, io: TerminalIo) {
  const paths = rulesFiles(flags, io);
  // A file that was named is meant; else what GitLab said last counts, as it does for jobs.
  const directory = flags.directory === undefined ? undefined : readDirectory(paths.directory);
  return { paths, policy: readPolicy(paths.policy), directory };
}

async function contextOn(
  tables: LedgerAccess,
  { paths, policy, directory: named }: ReturnType<typeof readFiles>,
  { topic, console: origin }: ContextFlags,
  io: TerminalIo,
): Promise<BudgetContext> {
  const { store, recounts, alerts, gitlabUrl, sheets, requeue, announce } = tables;
  const empty = partsOf({ table: new MemoryTable(), instance: tables.instance });
  const { limits: table = new DynamoLimitTable(empty), usage = new DynamoRollupStore(empty) } = tables;
  const books = { ...tables, jobs: watched(store, progressOf('items read', io)) };
  const directory = named ?? (await directoryInForce({}, tables.directory, io));
  const clock: LedgerClock = { ...systemClock, nowMs: io.nowMs };
  const ledger = createLedger({ store: patient(store), clock });
  const yaml = readYaml(paths.limits);
  const packed: LimitsDocument = isRecord(yaml.value) ? yaml.value : {};
  const zone = rollupZone(io);
  const limitEdits = createLimitEdits({
    ...{ table, policy, packed, ledger, clock, zone },
    directory: async () => directory,
    newId: () => randomBytes(5).toString('hex'),
  });
  const read = createConsoleRead({
    ...{ limitEdits, policy, ledger, usage, books, zone, clock },
    // The functions note openings, by clocks that are checked.
    limitTable: storeWith<LimitTable>(table, { putOpening: async (opening) => opening }),
    packedLimits: limitsIn(yaml, policy, directory).model,
    compareEdit: compareAll(books.jobs),
    ...withoutAbsent({ recounts, alerts, sheets, requeue, gitlabUrl }),
    places: async () => placesOf(directory),
    recentJobIds: () => recentIds(tables, ledger),
  });
  const reports = { ledger: createLedger({ store: storeWith(store, withoutAbsent({ announce })) }), origin };
  const notifyOwner = topic === undefined ? undefined : standIn(io, reportSender)(topic, reports);
  const parts = {
    ...{ limitEdits, read, policy, directory: async () => directory, clock, source: 'cli' },
    ...withoutAbsent({ origin, notifyOwner }),
  };
  const apiOf = (name: string): ApiClient => apiInProcess(parts, name);
  const { currency, prices } = policy;
  const context = {
    currency,
    runnerClasses: runnerClassNames(prices),
    directory,
    packedFile: paths.limits,
    own: ownName(io),
  };
  return { api: apiOf('administrator'), apiOf, ...context };
}

export const reportSender = (
  topicArn: string,
  deps: Omit<Parameters<typeof createOwnerNotifier>[0], 'notify'>,
) => createOwnerNotifier({ ...deps, notify: snsNotifier({ topicArn }) });

/** Ids that the sweep saw, and those of live jobs; without either, the newest of the whole ledger. */
async function recentIds({ sweepMarks, store }: LedgerAccess, ledger: Ledger): Promise<readonly number[]> {
  const [marks, live] = await Promise.all([
    sweepMarks?.read(),
    ledger.dueJobs(Number.MAX_SAFE_INTEGER, LIVE_JOBS_MAX),
  ]);
  const seen = [...(marks?.runners.values() ?? [])].map(({ seenTo }) => seenTo);
  if (seen.length + live.length > 0) return [...seen, ...live.map(({ jobId }) => jobId)];
  let newest: { readonly jobId: number; readonly decidedAtMs: number } | undefined;
  for await (const item of store.scan())
    if (item.kind === 'record' && item.record.decidedAtMs > (newest?.decidedAtMs ?? 0)) newest = item.record;
  return newest === undefined ? [] : [newest.jobId];
}

/** The same books, whose reads may take longer than a page's. */
const patient = (store: LedgerStore): LedgerStore =>
  storeWith(store, {
    readCounters: (keys) => store.readCounters(keys, { timeoutMs: TIMEOUT_MS }),
    readRecords: (jobIds) => store.readRecords(jobIds, { timeoutMs: TIMEOUT_MS }),
  });

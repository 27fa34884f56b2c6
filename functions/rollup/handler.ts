import type { CounterKey } from '../../policies/claim.ts';
import { consoleLog, systemClock } from '../core/environment/environment.ts';
import { readRollupConfig } from '../core/environment/settings.ts';
import { exportImages, s3Objects } from '../core/export-images.ts';
import { createLedger } from '../core/ledger/create-ledger.ts';
import { DynamoStore } from '../core/ledger/dynamo-store.ts';
import { deployedTable, refuseForeignTable } from '../core/ledger/instances.ts';
import { deployedMetrics } from '../core/metrics.ts';
import { snsNotifier } from '../core/notify/sns.ts';
import { deployedRules } from '../core/rules.ts';
import { ledgerKeys } from '../core/store/keys.ts';
import type { TableStreamEvent } from '../core/store/operation.ts';
import { dynamoAlertRecords } from '../core/thresholds/alert-records.ts';
import { findLimit } from '../core/thresholds/levels.ts';
import { thresholdAlerts } from '../core/thresholds/threshold-alerts.ts';
import { placeRecords, toGroupQuery } from '../core/usage/contribution.ts';
import { dynamoCounterSnapshots } from '../core/usage/counter-snapshot.ts';
import { createAlertSender, type RollUpDeps, rollUp } from '../core/usage/roll-up.ts';
import { DynamoRollupStore } from '../core/usage/rollup-store.ts';
import { runnerNames } from '../core/usage/usage.ts';
import { ENV_DEPLOYMENT } from '../names.ts';
import { dailyUseOf } from './daily-use.ts';

const config = readRollupConfig(process.env);
const table = deployedTable(config, process.env);

const ledger = createLedger({ store: new DynamoStore(table) });
const { current, limitsFor, directoryFor } = deployedRules({
  rulesFile: config.rulesFile,
  table,
  ledger,
  log: consoleLog,
});
const store = new DynamoRollupStore(table);
/** As far as the batch under way needs it: Lambda gives a process one at a time. */
let directory: Awaited<ReturnType<typeof directoryFor>>;

/** For the path of a counter's group; a project's is known where its jobs are counted in the same batch. */
const readDirectory = ({ subject }: CounterKey) => {
  const [kind, id] = subject.split('/');
  return kind === 'group' ? directoryFor([{ namespaceId: Number(id) }]) : directoryFor([]);
};

/** A stream has room for two readers in all, and settlement is the other: thresholds ride along here. */
const alertsTo = (topicArn: string) =>
  thresholdAlerts({
    findLimit: async (key) =>
      findLimit(key, await limitsFor([key.subject]), await readDirectory(key), systemClock.nowMs()),
    notify: snsNotifier({ topicArn }),
    clock: systemClock,
    records: dynamoAlertRecords(table),
    currency: async () => (await current()).policy.currency,
    log: consoleLog,
    consoleUrl: config.consoleUrl,
    readDailyUse: dailyUseOf({ store, zone: config.zone, clock: systemClock }),
  });

const objects = config.export && s3Objects(config.export);

const deps: RollUpDeps = {
  store,
  snapshots: dynamoCounterSnapshots(table),
  keys: ledgerKeys(config.gitlabInstance),
  clock: systemClock,
  random: Math.random,
  knowPlaces: async (records) => {
    directory = await directoryFor(records.map(({ facts }) => toGroupQuery(facts)));
  },
  placeOf: (record) => placeRecords(directory, config.zone)(record),
  nameOf: runnerNames(),
  log: consoleLog,
  metrics: deployedMetrics(process.env[ENV_DEPLOYMENT], { clock: systemClock }),
  ...(objects !== undefined && {
    exportImages: (event) =>
      exportImages(event, { instance: config.gitlabInstance, objects, clock: systemClock, log: consoleLog }),
  }),
  ...(config.thresholdsTopicArn !== undefined && {
    sendAlerts: createAlertSender(alertsTo(config.thresholdsTopicArn), consoleLog),
  }),
};

export const handler = refuseForeignTable(table, (event: TableStreamEvent) => rollUp(event, deps));

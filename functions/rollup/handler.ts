import type { CounterKey } from '../../policies/claim.ts';
import { systemClock } from '../core/environment/clock.ts';
import { consoleLog } from '../core/environment/log.ts';
import { exportImages } from '../core/export/export-images.ts';
import { s3Objects } from '../core/export/s3-objects.ts';
import { createLedger } from '../core/ledger/create-ledger.ts';
import { deployedTable } from '../core/ledger/deployed-table.ts';
import { DynamoStore } from '../core/ledger/dynamo-store.ts';
import { onOwnBooks } from '../core/ledger/own-books.ts';
import { deployedMetrics } from '../core/metrics/metrics.ts';
import { snsNotify } from '../core/notify/sns-notify.ts';
import { deployedRules } from '../core/rules/deployed-rules.ts';
import { ledgerKeys } from '../core/store/keys.ts';
import { type AnnounceCrossingsDeps, announceCrossings } from '../core/thresholds/announce-crossings.ts';
import { KnownCrossings } from '../core/thresholds/announced.ts';
import { limitOf } from '../core/thresholds/limit-of.ts';
import { placeAskOf, placeBy } from '../core/usage/contribution.ts';
import { DynamoRollupStore } from '../core/usage/dynamo-rollup-store.ts';
import { type RollUpDeps, rollUp, type StreamAnswer } from '../core/usage/roll-up.ts';
import { type OnTransitions, TellTransitions } from '../core/usage/tell-transitions.ts';
import { ENV_DEPLOYMENT } from '../names.ts';
import { readRollupConfig } from './config.ts';

const config = readRollupConfig(process.env);
const table = deployedTable(config);

const ledger = createLedger({ store: new DynamoStore(table) });
const { packed, limitsFor, directoryFor } = deployedRules({
  rulesFile: config.rulesFile,
  table,
  ledger,
  log: consoleLog,
});
const { policy } = packed;
/** As far as the batch under way needs it: Lambda gives a process one at a time. */
let { directory } = packed;

/** For the path of a counter's group; a project's is known where its jobs are counted in the same batch. */
const directoryOf = ({ subject }: CounterKey) => {
  const [kind, id] = subject.split('/');
  return kind === 'group' ? directoryFor([{ namespaceId: Number(id) }]) : directoryFor([]);
};

/** A stream has room for two readers in all, and settlement is the other: thresholds ride along here. */
function tellOwners(topicArn: string): OnTransitions {
  const telling: AnnounceCrossingsDeps = {
    ledger,
    limitOf: async (key) =>
      limitOf(key, await limitsFor([key.subject]), await directoryOf(key), systemClock.nowMs()),
    notify: snsNotify({ topicArn }),
    clock: systemClock,
    knownTold: new KnownCrossings(),
    currency: policy.currency,
    log: consoleLog,
    consoleUrl: config.consoleUrl,
  };
  return (steps) => announceCrossings(steps, telling);
}

const objects = config.export && s3Objects(config.export);

const deps: RollUpDeps = {
  store: new DynamoRollupStore(table),
  keys: ledgerKeys(config.gitlabInstance),
  clock: systemClock,
  random: Math.random,
  knowPlaces: async (records) => {
    directory = await directoryFor(records.map(({ facts }) => placeAskOf(facts)));
  },
  placeOf: (record) => placeBy(directory, config.zone)(record),
  log: consoleLog,
  metrics: deployedMetrics(process.env[ENV_DEPLOYMENT], { clock: systemClock }),
  ...(objects !== undefined && {
    exportImages: (event) =>
      exportImages(event, { instance: config.gitlabInstance, objects, clock: systemClock, log: consoleLog }),
  }),
  ...(config.thresholdsTopicArn !== undefined && {
    thresholds: new TellTransitions(tellOwners(config.thresholdsTopicArn), consoleLog),
  }),
};

/** Lambda's entry point for the table's stream; reports failures by item. */
export const handler = onOwnBooks(table, (event: unknown): Promise<StreamAnswer> => rollUp(event, deps));

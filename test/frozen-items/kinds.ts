/** Every kind of item in the table: the program that writes one, and the readers that must still read it later. */
import { type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { dynamoHealthCheck } from '../../functions/answers/health/read-health.ts';
import { DynamoDirectoryTable } from '../../functions/core/directory/directory-table.ts';
import { silentLog } from '../../functions/core/environment/environment.ts';
import { dynamoRecountOutcomes, dynamoSweepCheckpoints } from '../../functions/core/ledger/checkpoints.ts';
import { dynamoCanaryOutcomes, dynamoControllerScope } from '../../functions/core/ledger/controller.ts';
import { createLedger } from '../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../functions/core/ledger/dynamo-store.ts';
import { dynamoInstanceRegister } from '../../functions/core/ledger/instances.ts';
import { journalBody } from '../../functions/core/ledger/items.ts';
import type { JobFacts } from '../../functions/core/ledger/ledger.ts';
import { dynamoRecountRounds } from '../../functions/core/ledger/recount-round.ts';
import { dynamoPseudonymKeys } from '../../functions/core/ledger/user-ids.ts';
import { parseLoggedChange } from '../../functions/core/limits/change-log.ts';
import { withOpenings } from '../../functions/core/limits/limit-store.ts';
import { DynamoLimitTable } from '../../functions/core/limits/limit-table.ts';
import { publishLimits, readLimitSet } from '../../functions/core/limits/publish-limits.ts';
import { dynamoPublishedRules, hashRules } from '../../functions/core/published-rules.ts';
import { dynamoRequeueLists } from '../../functions/core/requeue-list.ts';
import { packedSums } from '../../functions/core/sheets/sheet-rows.ts';
import { dynamoSheetStore } from '../../functions/core/sheets/sheet-store.ts';
import { dynamoSessionStore } from '../../functions/core/signin/dynamo-session-store.ts';
import { dynamoStatementChain, sealed } from '../../functions/core/statements/closed-statement.ts';
import { dynamoPriceLists } from '../../functions/core/statements/price-lists.ts';
import { dynamoYetFailed, readRelayHeartbeats } from '../../functions/core/store/health-items.ts';
import { ledgerKeys } from '../../functions/core/store/keys.ts';
import { dynamoTable } from '../../functions/core/store/sdk-table.ts';
import { dynamoAlertRecords } from '../../functions/core/thresholds/alert-records.ts';
import { placeRecords } from '../../functions/core/usage/contribution.ts';
import { countRecords } from '../../functions/core/usage/count-records.ts';
import { dynamoCounterSnapshots } from '../../functions/core/usage/counter-snapshot.ts';
import { DynamoRollupStore } from '../../functions/core/usage/rollup-store.ts';
import { dynamoCursorStore, START } from '../../functions/notices/run.ts';
import { dynamoImportedVersions } from '../../functions/ssm-limits/imported-versions.ts';
import { dynamoWatchTable } from '../../functions/watchdog/watch.ts';
import { indexDirectory } from '../../policies/directory.ts';
import { heartbeatWriter, journalWriter } from '../../relay/aws/aws-json.ts';
import type { LimitHeadroom } from '../../relay/fallback/headroom.ts';
import { headroomTable } from '../../relay/fallback/headroom-snapshot.ts';
import type { HandClock } from '../../scripts/local/clock.ts';
import { aPolicy, someLimits } from '../policies/documents.ts';
import { anAsk, blocked, claim, counter, someFacts } from '../support/ledger/asks.ts';
import { NOVEMBER_21_MS } from '../support/ledger/test-clock.ts';
import { signedLocalFetch } from '../support/relay/signed-local-fetch.ts';

export const INSTANCE = 'gitlab.example.com';
const WAIT = { timeoutMs: 300_000 };
const DAY = '2026-11-21';
const FAR_MS = Date.UTC(2100, 0, 1);
/** Partitions of limits that are no set. */
const BESIDE_SETS = /@limits#(?:opening#|log$|requests$|plans$)/;
const LIMITS = {
  limits: [
    { on: 'instance', jobs: 900 },
    { on: { group: 104 }, money: 50, per: 'month' },
  ],
  grants: [
    {
      on: { group: 104 },
      limit: 'money-month',
      amount: '+5',
      from: '2026-11-01',
      until: '2026-11-30',
      reason: 'release',
    },
  ],
};
/** acme ▸ payments ▸ cards */
const GROUPS = indexDirectory([
  { id: 100, path: 'acme', personal: false },
  { id: 101, parentId: 100, path: 'acme/payments', personal: false },
  { id: 104, parentId: 101, path: 'acme/payments/cards', personal: false },
]);
const SOME_RULES = {
  policy: { version: 'p1', document: { currency: 'EUR' } },
  limits: { version: 'l1', document: { limits: [] } },
};
const OPENED = counter('group/101', 'money-month', '2026-12');
const FIRST_OPENING = /\|first$/;
const CARRYING = { limits: [{ on: { group: 103 }, money: 10, per: 'month', carry: { max: '50%' } }] };
const CLOSED = counter('group/101', 'money-month', '2026-08');

export interface Place {
  readonly client: DynamoDBClient;
  readonly endpoint: string;
  readonly tableName: string;
  readonly clock: HandClock;
}

/** Returns true if an item is of a kind, by its keys. */
type IsOfKind = (pk: string, sk: string) => boolean;

interface Kind {
  readonly is: IsOfKind;
  /** What the programs of today read of the kind's frozen item. Missing: nothing but the next program's write reads it. */
  readonly read: (place: Place) => Promise<unknown>;
}

const options = ({ client, tableName, clock }: Place) => ({
  table: dynamoTable(client, tableName),
  instance: INSTANCE,
  clock,
  random: () => 0.5,
});

const recountRounds = (place: Place) =>
  dynamoRecountRounds({ ...options(place), nowMs: () => NOVEMBER_21_MS, partBytes: 200 });

const counterSnapshots = (place: Place) => dynamoCounterSnapshots(options(place));

const books = (pk: string): boolean => pk.startsWith(`${INSTANCE}#`);
const at = (suffix: string, sk: (sk: string) => boolean) => (pk: string, key: string) =>
  pk === `${INSTANCE}${suffix}` && sk(key);
const under = (suffix: string, sk: (sk: string) => boolean) => (pk: string, key: string) =>
  pk.startsWith(`${INSTANCE}${suffix}`) && sk(key);
const any = (): boolean => true;
const is = (name: string) => (sk: string) => sk === name;
const begins = (name: string) => (sk: string) => sk.startsWith(name);

/** What was retried has a kind of its own. */
async function scanned(place: Place, kind: string): Promise<unknown> {
  const found: unknown[] = [];
  for await (const item of new DynamoStore(options(place)).scan()) {
    const isRetried =
      (item.kind === 'record' && item.record.jobId > 900) ||
      (item.kind === 'counter' && item.counter.key.subject === RETRIED_SLOTS.subject);
    if (item.kind === kind && !isRetried) found.push(item);
  }
  return found;
}
const limits = (place: Place) => new DynamoLimitTable(options(place));
const published = (place: Place) => dynamoPublishedRules(options(place));
const openings = (place: Place, nowMs: number) =>
  withOpenings(someLimits(CARRYING), nowMs, new Map(), {
    table: limits(place),
    previous: async (keys) => keys.map(() => ({ committed: 0, settled: 0, rev: 0 })),
    ...WAIT,
  });
const directory = (place: Place) => new DynamoDirectoryTable(options(place));
const rollup = (place: Place) => new DynamoRollupStore(options(place));
const usageKey = { subject: 'group/101', day: DAY };

/** Jobs that are being retried, and the slots that are kept for them. */
const RETRIED = /#job#90\d$|#counter#group\/903\|/;
const RETRIED_SLOTS = counter('group/903', 'jobs-now', 'now');

export const KINDS: Readonly<Record<string, Kind>> = {
  record: {
    is: (pk, sk) => books(pk) && sk === 'record' && !RETRIED.test(pk),
    read: (place) => scanned(place, 'record'),
  },
  reservation: {
    is: (pk, sk) => RETRIED.test(pk) && (sk === 'record' || sk === 'counter'),
    read: async (place) => {
      const { readRecords, readCounters } = createLedger({ store: new DynamoStore(options(place)) });
      return [await readRecords([903, 904, 905]), await readCounters([RETRIED_SLOTS])];
    },
  },
  entry: { is: (pk, sk) => books(pk) && sk.startsWith('entry#'), read: (place) => scanned(place, 'entry') },
  counter: {
    is: (pk, sk) => books(pk) && sk === 'counter' && !RETRIED.test(pk),
    read: (place) => scanned(place, 'counter'),
  },
  closing: { is: (pk, sk) => books(pk) && sk === 'closing', read: (place) => scanned(place, 'closing') },
  announcement: {
    is: (pk, sk) => books(pk) && sk === 'announced',
    // It stands: nobody says it twice.
    read: (place) =>
      new DynamoStore(options(place)).announce(
        { key: 'pipeline 1', atMs: NOVEMBER_21_MS, untilMs: FAR_MS },
        WAIT,
      ),
  },
  delivery: {
    is: under('@inbox#', any),
    // It is there: a repeated delivery is not received.
    read: (place) => new DynamoStore(options(place)).receive(AN_EVENT, WAIT),
  },
  journal: {
    is: under('#journal#', is('inbox')),
    read: async ({ client, tableName }) => {
      const { Items = [] } = await client.send(new ScanCommand({ TableName: tableName }));
      return Items.flatMap((item) => journalBody(item, ledgerKeys(INSTANCE)) ?? []);
    },
  },
  contribution: {
    is: under('#job#', is('rollup')),
    read: (place) => rollup(place).readContributions([1, 2, 3]),
  },
  usage: { is: under('#usage#', is('rollup')), read: (place) => rollup(place).readUsage([usageKey]) },
  top: { is: under('#top#', is('rollup')), read: (place) => rollup(place).readTop([usageKey]) },
  rejections: {
    is: under('#rejections#', is('rollup')),
    read: (place) => rollup(place).readRejections(['group/101']),
  },
  estimates: {
    is: under('#estimates#', is('rollup')),
    read: (place) => rollup(place).readEstimates([7]),
  },
  'sweep-marks': { is: at('@sweep', any), read: (place) => dynamoSweepCheckpoints(options(place)).read() },
  'controller-scope': {
    is: at('@controller', is('scope')),
    read: (place) => dynamoControllerScope(options(place)).read(),
  },
  'rules-pointer': { is: at('@rules', is('current')), read: (place) => published(place).pointer() },
  'rules-version': {
    is: at('@rules', begins('version#')),
    read: (place) => published(place).read(hashRules(SOME_RULES)),
  },
  'limit-pointer': { is: at('@limits', is('pointer')), read: (place) => limits(place).getPointer(WAIT) },
  'limit-chunk': {
    is: (pk, sk) => under('@limits#', any)(pk, sk) && !BESIDE_SETS.test(pk),
    read: async (place) => readLimitSet((await limits(place).getPointer(WAIT))?.set ?? '', limits(place)),
  },
  'limit-opening': {
    is: (pk, sk) => under('@limits#opening#', any)(pk, sk) && !FIRST_OPENING.test(pk),
    read: (place) => limits(place).readOpenings([OPENED], WAIT),
  },
  'limit-first-opening': {
    is: (pk, sk) => under('@limits#opening#', any)(pk, sk) && FIRST_OPENING.test(pk),
    // Three idle years later the limit still carries over, and it is too early in the year to write that down.
    read: async (place) => (await openings(place, Date.UTC(2030, 0, 1))).limits.bySubject.get('group/103'),
  },
  'limit-log': {
    is: at('@limits#log', any),
    read: async (place) => (await limits(place).readLog(undefined, 10, WAIT)).map(parseLoggedChange),
  },
  'limit-request': { is: at('@limits#requests', any), read: (place) => limits(place).readRequests(10, WAIT) },
  'directory-pointer': {
    is: at('@directory', is('pointer')),
    read: (place) => directory(place).getPointer(WAIT),
  },
  'directory-chunk': {
    is: under('@directory#v1', any),
    read: (place) => directory(place).readChunks([{ version: 'v1', name: 'groups/7' }], WAIT),
  },
  session: {
    is: under('@sessions#', is('session')),
    read: (place) => dynamoSessionStore(options(place)).read('hash'),
  },
  'session-of-user': {
    is: under('@sessions#of#', any),
    read: (place) => dynamoSessionStore(options(place)).ofUser(12),
  },
  'pseudonym-key': {
    is: at('@pseudonyms', any),
    read: (place) => dynamoPseudonymKeys(options(place)).find(2026),
  },
  'recount-outcome': {
    is: at('@recount', is('outcome')),
    read: (place) => dynamoRecountOutcomes(options(place)).read(),
  },
  'recount-round': {
    // The head with its parts.
    is: at('@recount', begins('round')),
    read: (place) => recountRounds(place).read(),
  },
  'counter-snapshot': {
    // The head with its parts, and the log.
    is: (pk) => pk.startsWith(`${INSTANCE}@counters`),
    read: async (place) => {
      const { atMs: _, counters, ...snapshot } = (await counterSnapshots(place).read()) ?? {};
      return { ...snapshot, counters: [...(counters?.values() ?? [])] };
    },
  },
  'statement-register': {
    is: at('@statements', is('register')),
    read: (place) => dynamoStatementChain(options(place)).register(),
  },
  'statement-number': {
    is: under('@statements#number#', any),
    read: (place) => dynamoStatementChain(options(place)).numbers(1),
  },
  'closed-statement': {
    is: under('@statements#of#', any),
    read: (place) => dynamoStatementChain(options(place)).of('group/101'),
  },
  'price-change': {
    is: at('@statements#prices', any),
    read: (place) => dynamoPriceLists(options(place)).changes(),
  },
  'price-edition': {
    is: under('@statements#prices#', any),
    read: async (place) => {
      const prices = dynamoPriceLists(options(place));
      return Promise.all((await prices.changes()).map(({ change }) => prices.text(change.editionSha256)));
    },
  },
  'canary-outcome': {
    is: at('@canary', is('outcome')),
    read: (place) => dynamoCanaryOutcomes(options(place)).read(),
  },
  'health-look': {
    is: at('@health', is('look')),
    read: (place) => dynamoHealthCheck(options(place)).read(),
  },
  'yet-failed': {
    is: at('@yet-failed', is('latest')),
    read: (place) => dynamoYetFailed(options(place)).read(),
  },
  'imported-parameter': {
    is: at('@ssm-limits', begins('parameter/')),
    read: (place) => dynamoImportedVersions(options(place)).readAll(),
  },
  'notices-cursor': {
    is: at('@notices', is('cursor')),
    read: (place) => dynamoCursorStore(options(place)).read(),
  },
  'alert-marks': {
    is: under('@alerts#', is('told')),
    read: (place) =>
      dynamoAlertRecords(options(place)).read([
        { of: 'thresholds', key: OPENED },
        { of: 'forecasts', key: OPENED },
      ]),
  },
  sheet: {
    is: under('@sheets#', any),
    read: async (place) => {
      const [sheet] = await dynamoSheetStore(options(place)).read([{ kind: 'class', span: '2026-11' }]);
      return sheet && { ...sheet, bytes: [...sheet.bytes], days: [...(sheet.days ?? [])] };
    },
  },
  heartbeat: { is: at('@heartbeat', any), read: (place) => readRelayHeartbeats(options(place)) },
  rooms: {
    is: at('@rooms', any),
    read: (place) => headroomTable({ ...byRelay(place), relayId: 'relay-2' }).read(),
  },
  'watchdog-mark': {
    is: at('@watchdog', is('mark')),
    read: (place) => dynamoWatchTable(options(place)).readMark(),
  },
  'requeue-list': {
    is: at('@requeue', any),
    read: (place) => dynamoRequeueLists(options(place)).read(101),
  },
  instance: {
    is: (pk) => pk === '@instances',
    read: (place) => dynamoInstanceRegister(options(place)).list(),
  },
};

/**
 * Kinds that programs neither write nor read any more. Tables of running deployments still have such items, and every
 * reader passes them over. To retire a kind, move its row here, keep `is`, and leave its frozen file.
 */
export const RETIRED: Readonly<Record<string, IsOfKind>> = {
  'ssm-limits-mark': at('@ssm-limits', begins('group/')),
  'ssm-limits-pass': at('@ssm-limits', is('pass')),
  // Unknown ids that a run of the sync asked GitLab for.
  'directory-wish': at('@directory#wishes', any),
  // A recount in two passes, once a week.
  'recount-pass': at('@recount', begins('pass')),
  // A second set of sums, compared with the counters every quarter of an hour, and the copies of counters that this kept.
  'sum-log': under('@sums#log#', any),
  'sum-memory': under('@sums#known#', any),
  'sums-open': at('@sums', is('open')),
  'counter-sheet': at('@sums', begins('counters')),
  // Deliveries of webhooks that named no group.
  inbox: under('#inbox#', is('inbox')),
  // A credit or debit by hand, next to its counter.
  adjustment: (pk, sk) => books(pk) && sk.startsWith('adjustment#'),
  'limit-plan': at('@limits#plans', any),
  'saved-views': at('@views', any),
};

const A_STATEMENT = {
  ...{ number: 1, subject: 'group/101', group: 'acme/payments', month: '2026-10', zone: 'UTC' },
  ...{ startMs: Date.UTC(2026, 9, 1), endMs: Date.UTC(2026, 10, 1), closedAtMs: NOVEMBER_21_MS },
  ...{ instance: INSTANCE, currency: 'EUR', priceVersions: ['2026-11'] },
  lines: [{ day: '2026-10-05', jobs: 2, seconds: 90, micros: 700 }],
  adjustments: [{ month: '2026-09', number: 1, jobs: 1, corrections: 2, seconds: 3, micros: 4 }],
  totals: {
    ...{ jobs: 2, corrections: 0, seconds: 90, micros: 700 },
    ...{ adjustmentMicros: 4, dueMicros: 704 },
  },
  previousSha256: '',
};

const AN_EVENT = { id: 'delivery-1', body: '{"jobId":1}', receivedAtMs: NOVEMBER_21_MS, untilMs: FAR_MS };

/** Writes at least one item of every kind, each by the program that writes it in a deployment. */
export async function writeEveryKind(place: Place): Promise<void> {
  const { clock } = place;
  const store = new DynamoStore(options(place));
  const ledger = createLedger({ store, clock });
  const deadline = (): number => clock.monotonicMs() + 300_000;
  const facts = someFacts({
    jobName: 'unit',
    projectPath: 'acme/payments/cards',
    projectId: 7,
    groupId: 104,
    rootId: 100,
    groupIds: [100, 101, 104],
    userId: 12,
    pipelineId: 5000,
  });
  const claims = [claim('group/101', 600, 10_000)];
  const decidedAtMs = NOVEMBER_21_MS;
  // One held, one settled and corrected, one rejected.
  await ledger.hold(
    [anAsk(1, claims, { facts, decidedAtMs }), anAsk(2, claims, { facts, decidedAtMs })],
    deadline(),
  );
  await ledger.hold([anAsk(3, claims, { facts, decidedAtMs, violations: [blocked] })], deadline());
  clock.advance(120_000);
  const endedAtMs = clock.nowMs();
  await ledger.settle([{ jobId: 2, durationSeconds: 60, endedAtMs }]);
  await ledger.settle([{ jobId: 2, durationSeconds: 90, endedAtMs }]);
  await writeRetries(place, facts);
  await ledger.announceOnce(['pipeline 1'], { ttlMs: FAR_MS - clock.nowMs(), timeoutMs: WAIT.timeoutMs });
  await store.receive(AN_EVENT, WAIT);
  const amounts = { committed: 5, fitted: 5, settled: 5, unchecked: { exempt: 0, unmetered: 1, bypass: 2 } };
  const closing = { key: CLOSED, ...amounts, closedAtMs: NOVEMBER_21_MS };
  await store.transact([{ kind: 'closing', closing }], { token: 'closing', ...WAIT });

  const records = (await ledger.readRecords([1, 2, 3])).filter((record) => record !== undefined);
  const placeOf = placeRecords(GROUPS, 'UTC');
  await countRecords(records, { store: rollup(place), clock, random: () => 0.5, placeOf, log: silentLog });

  const going = { startMs: 1, deep: true, top: 9, page: 'next' };
  const runner = { seenTo: 5, passMs: 6, deepMs: 7, going };
  await dynamoSweepCheckpoints(options(place)).write({
    sinceMs: 1,
    runners: new Map([[12, runner]]),
    open: new Map([[1, 7]]),
  });
  await dynamoControllerScope(options(place)).write({
    controllerId: 3,
    state: 'enabled',
    readAtMs: NOVEMBER_21_MS,
    instanceSinceMs: 0,
    runners: new Map([[12, 5]]),
  });
  await dynamoInstanceRegister(options(place)).remember({
    instance: INSTANCE,
    gitlabUrl: `https://${INSTANCE}`,
    routerHost: 'kas.example.com',
    openedAtMs: NOVEMBER_21_MS,
  });
  await writeLimits(place);
  await writeDirectory(place);
  await writeOthers(place);
}

/** Slots are kept for what job 903 becomes, and for job 905, which job 904 became; nobody asked about it yet. */
async function writeRetries(place: Place, facts: JobFacts): Promise<void> {
  const ledger = createLedger({ store: new DynamoStore(options(place)), clock: place.clock });
  const full = claim('', 1, 0, { counter: RETRIED_SLOTS, unit: 'jobs', rule: 'slots', class: 'capacity' });
  const asks = [903, 904].map((jobId) => anAsk(jobId, [full], { facts, decidedAtMs: NOVEMBER_21_MS }));
  await ledger.hold(asks, place.clock.monotonicMs() + 300_000);
  const claims = [{ ...full, bound: 2 }];
  for (const { jobId } of asks) await ledger.reserve({ jobId, claims, untilMs: NOVEMBER_21_MS + 180_000 });
  await ledger.handOver(904, 905);
  await dynamoRequeueLists(options(place)).write({
    ...{ groupId: 101, rev: 0 },
    entries: [
      {
        ...{ jobId: 904, projectId: 7, root: 100, rejectedAtMs: NOVEMBER_21_MS, firstAtMs: NOVEMBER_21_MS },
        ...{ retries: 1, state: 'retried', newJobId: 905, retriedAtMs: NOVEMBER_21_MS, askedAfterMs: 5 },
      },
    ],
  });
}

async function writeLimits(place: Place): Promise<void> {
  const table = limits(place);
  const bytes = Buffer.from('limits');
  const change = { actor: 'ann', why: 'new year', source: 'page', atMs: NOVEMBER_21_MS };
  await publishLimits(LIMITS, change, { table, policy: aPolicy(), directory: GROUPS });
  await table.putRequest({ id: 'r-1', rev: 1, bytes, expiresAtSeconds: FAR_MS / 1000 }, WAIT);
  await table.putOpening({ key: OPENED, carried: 5, committed: 10, settled: 9, atMs: NOVEMBER_21_MS }, WAIT);
  await openings(place, NOVEMBER_21_MS);
}

async function writeDirectory(place: Place): Promise<void> {
  const table = directory(place);
  await table.putChunk({ version: 'v1', name: 'groups/7' }, Buffer.from('groups'), WAIT);
  await table.flip({ edit: 1, manifest: 'm', progress: 'p', live: true, atMs: NOVEMBER_21_MS }, WAIT);
}

async function writeOthers(place: Place): Promise<void> {
  const sessions = dynamoSessionStore(options(place));
  const roles = { admin: false, finance: true, ownedGroupIds: [101], viewerGroupIds: [100] };
  const times = { rolesReadAtMs: NOVEMBER_21_MS, seenAtMs: NOVEMBER_21_MS, endsAtMs: FAR_MS };
  await sessions.create('hash', { userId: 12, username: 'ann', name: 'Ann', roles, ...times });
  await dynamoPseudonymKeys(options(place)).keyOf(2026);
  await dynamoRecountOutcomes(options(place)).write({
    recountedAtMs: NOVEMBER_21_MS,
    records: 3,
    drifting: [{ key: OPENED, committed: 7, recounted: 5 }],
    unlisted: 0,
  });
  const amounts = { committed: 7, fitted: 7, settled: 5, unchecked: { exempt: 0, unmetered: 1, bypass: 0 } };
  await recountRounds(place).write({
    ...{ startedAtMs: NOVEMBER_21_MS, lastRecords: 7 },
    segments: [{ done: true }, { done: false, from: { pk: { S: 'pk' }, sk: { S: 'sk' } } }],
    sums: {
      ...{ records: 3, passedOver: 0 },
      lines: [
        {
          ...{ key: OPENED, counter: { key: OPENED, ...amounts, rev: 4 } },
          ...{ held: amounts, late: [{ atMs: NOVEMBER_21_MS, amounts }] },
        },
      ],
    },
    suspects: [{ key: OPENED, rev: 4, expected: amounts }],
    usage: { jobs: 3, mended: 1, failed: 0 },
  });
  await dynamoSheetStore(options(place)).write({
    ...{ kind: 'class', span: '2026-11', names: ['large', ''] },
    ...packedSums(new Map([[1, Float64Array.from([-700, 0, 2, 90_500, 1, 0, 0, 0, 0, 0, 0, 1, 1])]])),
    days: new Map([[DAY, { digest: 'digest', atMs: NOVEMBER_21_MS }]]),
  });
  const level = { levelAmount: 90, limitAmount: 100, owner: 'payments-leads' };
  const [taken, failed] = [
    { outcome: 'taken', atMs: NOVEMBER_21_MS } as const,
    { outcome: 'failed', atMs: NOVEMBER_21_MS } as const,
  ];
  await dynamoAlertRecords(options(place)).add({ of: 'thresholds', key: OPENED }, [
    { ...level, measure: 'committed', level: '90 %', channels: [{ channel: 'topic', ...taken }] },
  ]);
  await dynamoAlertRecords(options(place)).add({ of: 'forecasts', key: OPENED }, [
    {
      ...{ ...level, measure: 'forecast', level: 'forecast 90 %' },
      channels: [
        { channel: 'topic', ...taken },
        { channel: 'slack', ...failed },
      ],
    },
  ]);
  const copied = { committed: 70, fitted: 60, settled: 50, rev: 3 };
  const copies = [
    { key: OPENED, ...copied, unchecked: { exempt: 0, unmetered: 4, bypass: 0 } },
    { key: CLOSED, ...copied, unchecked: { exempt: 0, unmetered: 0, bypass: 0 } },
  ];
  const snapshots = counterSnapshots(place);
  await snapshots.fold();
  await snapshots.add(copies.slice(0, 1));
  await snapshots.append(copies, '1');
  await snapshots.recounted(FAR_MS);
  await dynamoStatementChain(options(place)).append(sealed(A_STATEMENT));
  // In three parts.
  const prices = dynamoPriceLists(options(place), 60);
  for (const [at, rate] of ['0.10', '0.20'].entries()) {
    const list = {
      version: `2026-1${at}`,
      classes: [{ name: 'small', rate_per_minute: rate }],
      default_class: 'small',
    };
    await prices.noteInForce(
      { policyVersion: `p${at}`, text: JSON.stringify({ currency: 'EUR', prices: list }) },
      NOVEMBER_21_MS + at,
    );
  }
  await published(place).publish(SOME_RULES, { author: 'anna', atMs: NOVEMBER_21_MS }, undefined);
  await dynamoCanaryOutcomes(options(place)).write({
    ...{ checkedAtMs: NOVEMBER_21_MS, admitted: 'proven', rejected: 'contrary' },
    ...{ descriptors: '0123456789ab', gitlabVersion: '19.4.0-ee', runnerId: 7 },
  });
  const finding = {
    about: 'relays',
    severity: 'problem',
    text: 'none',
    remedy: 'start one',
    alarm: 'X',
  } as const;
  await dynamoHealthCheck(options(place)).write({
    view: { checkedAtMs: NOVEMBER_21_MS, problems: 1, findings: [finding] },
    deployed: { policyVersion: 'p1', descriptorsVersion: '18.9' },
  });
  await dynamoYetFailed(options(place)).write({ jobId: 4711, atMs: NOVEMBER_21_MS });
  const imported = { version: 2, modifiedAtMs: NOVEMBER_21_MS, limits: ['money-month', 'jobs-now'] };
  await dynamoImportedVersions(options(place)).write(101, imported);
  const cursor = { ...START, edit: 17, ending: { 'g-1': FAR_MS }, sent: ['m'] };
  await dynamoCursorStore(options(place)).write({ rev: 1, cursor });
  await dynamoWatchTable(options(place)).writeMark({ heardAtMs: 1, disarmedForMs: 2, pagedAtMs: 3 });
  const beat = heartbeatWriter({ ...byRelay(place), relayId: 'relay-1' });
  const schema = { source: 'gitlab.binpb', hash: 'a1b2', state: 'proven' };
  await beat({ atMs: FAR_MS, openStreams: 8, schema });
  await journalWriter(byRelay(place))('{"answers":[]}');
  await headroomTable({ ...byRelay(place), relayId: 'relay-1' }).write({ rooms: [A_ROOM], given: [101] });
}

/** How a relay calls the table, by hand. */
const byRelay = (place: Place) => ({
  fetch: signedLocalFetch(),
  endpoint: place.endpoint,
  table: place.tableName,
  instance: INSTANCE,
  nowMs: () => FAR_MS,
});

const A_ROOM: LimitHeadroom = {
  room: {
    policy: 'room',
    refusal: {
      ...{ rule: 'jobs-at-once', class: 'capacity', mode: 'enforce' },
      reason: {
        ...{ code: 'CONCURRENCY_FULL', subject: 'group/100', subjectLabel: 'acme', limit: 'jobs-now' },
        ...{ unit: 'jobs', limitAmount: 9, committed: 2, settled: 0, asked: 1, zone: 'UTC' },
      },
    },
  },
  ...{ toldAtMs: FAR_MS, left: 7, spent: 1, slots: [{ endsMs: FAR_MS + 60_000, amount: 1 }] },
};

import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type {
  HealthEvidence,
  HealthFinding,
  RejectionsEvidence,
} from '../../../../functions/answers/health/evidence.ts';
import { judgeHealth } from '../../../../functions/answers/health/judge-health.ts';
import { HEALTH_ALARM } from '../../../../functions/answers/health/judged.ts';
import { gitlabUnknown } from '../../../../functions/answers/health/read-gitlab.ts';
import type { CanaryOutcome } from '../../../../functions/core/ledger/controller.ts';
import type { RelayBeat } from '../../../../functions/core/store/health-items.ts';
import { ALL_ALARMS } from '../../../support/all-alarms.ts';

const NOW = Date.UTC(2026, 10, 22, 12);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const known = <T>(value: T) => ({ known: true, value }) as const;

const beat = (relayId: string, change: Partial<RelayBeat> = {}): RelayBeat => ({
  relayId,
  atMs: NOW - 20_000,
  openStreams: 8,
  directoryAgeMs: 4 * MINUTE,
  breaker: 'closed',
  schema: { source: 'gitlab.binpb', hash: 'aa', standing: 'proven' },
  policyVersion: 'p1',
  ...change,
});
const beats = (...all: readonly RelayBeat[]): Partial<HealthEvidence> => ({ beats: known(all) });
const schema = (change: object): Partial<HealthEvidence> =>
  beats(
    beat('a'),
    beat('b', { schema: { source: 'gitlab.binpb', hash: 'aa', standing: 'proven', ...change } }),
  );

const PROVEN: CanaryOutcome = {
  ...{ checkedAtMs: NOW - 72 * HOUR, admitted: 'proven', rejected: 'proven', runnerId: 9 },
  ...{ descriptors: 'aa', gitlabVersion: '19.4.1-ee' },
};
const REJECTIONS: RejectionsEvidence = {
  today: { day: '2026-11-21', decided: 900, rejected: 27 },
  recent: { decided: 100, rejected: 3 },
  week: { decided: 7_000, rejected: 210 },
  edits: [{ edit: 17, atMs: NOW - 40 * MINUTE, actor: 'ann' }],
  policyBefore: 'p1',
};
const HEALTHY: HealthEvidence = {
  nowMs: NOW,
  beats: known([beat('a'), beat('b')]),
  directoryListedAtMs: known(NOW - 5 * MINUTE),
  limitsLiveAtMs: known(NOW - 72 * HOUR),
  recount: known({ recountedAtMs: NOW - 9 * HOUR, drifting: [], unlisted: 0 }),
  scope: known({
    controllerId: 7,
    state: 'enabled',
    readAtMs: NOW - MINUTE,
    instanceSinceMs: 0,
    runners: new Map(),
  }),
  canary: known(PROVEN),
  coverage: known({ days: 2, ran: 900, bypass: 0, bypassingRunnerIds: [], bypassingRunners: 0 }),
  deployed: known({ policyVersion: 'p1', descriptorsVersion: '19.4' }),
  rejections: known(REJECTIONS),
  accessToken: known({ active: true }),
  gitlabVersion: known('19.4.1-ee'),
  licence: known({ plan: 'ultimate', expired: false }),
  controller: known({ id: 7, state: 'enabled', hasScope: true, connected: true }),
  controllerTokens: known([{ createdAtMs: NOW - 24 * HOUR }]),
  webhooks: known({ groups: 2, unread: 0, broken: [] }),
  gitlabAheadMs: known(300),
};

const notOk = (change: Partial<HealthEvidence>): readonly HealthFinding[] =>
  judgeHealth({ ...HEALTHY, ...change }).filter(({ severity }) => severity !== 'ok');

test('where everything holds, nothing is found', () => {
  expect(notOk({})).toEqual([]);
});

test('the only top-level group without its webhook is told by the hourly alarm, however few jobs there are', () => {
  const broken = [{ group: 'acme', standing: 'missing' }] as const;
  expect(notOk({ webhooks: known({ groups: 1, unread: 0, broken }) })).toMatchObject([
    { about: 'webhooks', severity: 'problem', alarm: 'HealthProblems' },
  ]);
});

const canary = (change: Partial<CanaryOutcome>): Partial<HealthEvidence> => ({
  canary: known({ ...PROVEN, ...change }),
});

const drifting = {
  key: { subject: 'group/1', limit: 'money', period: '2026-11' },
  committed: 2,
  recounted: 1,
};

test.each<[string, Partial<HealthEvidence>, string, HealthFinding['severity'], RegExp]>([
  ['no canary ever', { canary: known(undefined) }, 'canary', 'warning', /^never proven/],
  [
    'a canary before the upgrade',
    canary({ gitlabVersion: '19.0.3-ee' }),
    'canary',
    'warning',
    /^not proven since GitLab became 19.4.1-ee: the last canary was on 19.0.3-ee, 3 days ago/,
  ],
  [
    'a canary with other descriptors',
    canary({ descriptors: 'bb' }),
    'canary',
    'warning',
    /^not proven with the descriptors aa: the last canary had bb/,
  ],
  [
    'arms that are the other way round',
    canary({ admitted: 'contrary', rejected: 'contrary' }),
    'canary',
    'problem',
    /^GitLab takes one of our answers for the other/,
  ],
  [
    'a canary nobody was asked about',
    canary({ admitted: 'bypassed', rejected: 'bypassed' }),
    'canary',
    'problem',
    /jobs ran and nobody was asked/,
  ],
  [
    'half a canary',
    canary({ rejected: 'unreached' }),
    'canary',
    'warning',
    /^only "admitted" is proven on GitLab 19.4.1-ee with descriptors aa, 3 days ago/,
  ],
  [
    'a router that gives up before jobs that wait are answered',
    {
      ...canary({ patience: { waitedMs: 8_200, gaveUp: true } }),
      ...beats(beat('a', { answerWithinMs: 20_000 }), beat('b', { answerWithinMs: 20_000 })),
    },
    'canary',
    'problem',
    /^relays keep questions open for up to 20 s, and the router gives up after 8.2 s: jobs that wait for a slot fail/,
  ],
  [
    'a longer wait than the router was ever seen to have',
    {
      ...canary({ patience: { waitedMs: 10_000, gaveUp: false } }),
      ...beats(beat('a', { answerWithinMs: 20_000 }), beat('b')),
    },
    'canary',
    'warning',
    /up to 20 s, and the router was seen to wait 10 s/,
  ],
  [
    'a long wait that nobody tried',
    beats(beat('a', { answerWithinMs: 20_000 }), beat('b')),
    'canary',
    'warning',
    /nobody has seen how long the router waits/,
  ],
  ['one relay', beats(beat('a')), 'relays', 'warning', /one relay only, with 8 streams/],
  [
    'a relay whose breaker is open',
    beats(beat('a'), beat('b', { breaker: 'open' })),
    'relays',
    'problem',
    /1 relay answers without the admit function, which fails: b/,
  ],
  [
    'a placeholder',
    schema({ placeholder: true }),
    'descriptors',
    'problem',
    /^b: the descriptors are the placeholder/,
  ],
  [
    'a suspect schema',
    schema({ standing: 'suspect' }),
    'descriptors',
    'problem',
    /^b: recent questions contradict/,
  ],
  ['an unproven schema', schema({ standing: 'unproven' }), 'descriptors', 'warning', /not proven yet/],
  ['two schemas', schema({ hash: 'bb' }), 'descriptors', 'warning', /different descriptors/],
  [
    'a relay from the future',
    beats(beat('a'), beat('b', { atMs: NOW + 5 * MINUTE })),
    'clock of the relays',
    'problem',
    /^b is 5 minutes ahead/,
  ],
  [
    'a relay with an old directory',
    beats(beat('a'), beat('b', { directoryAgeMs: 3 * HOUR })),
    'directory of the relays',
    'problem',
    /^b: 3 hours old/,
  ],
  [
    'relays that tell no directory',
    beats(
      ...['a', 'b'].map((relayId) => {
        const { directoryAgeMs: _, ...older } = beat(relayId);
        return older;
      }),
    ),
    'directory of the relays',
    'unknown',
    /no relay that is heard tells/,
  ],
  [
    'no listing',
    { directoryListedAtMs: known(undefined) },
    'directory',
    'warning',
    /never listed to their end/,
  ],
  [
    'an old listing',
    { directoryListedAtMs: known(NOW - 26 * HOUR) },
    'directory',
    'problem',
    /listed 26 hours ago/,
  ],
  [
    'no limits',
    { limitsLiveAtMs: known(undefined) },
    'limits',
    'warning',
    /no set of limits was ever published/,
  ],
  ['no recount', { recount: known(undefined) }, 'counters', 'unknown', /not recounted yet/],
  [
    'drift',
    { recount: known({ recountedAtMs: NOW - HOUR, drifting: [drifting], unlisted: 2 }) },
    'counters',
    'problem',
    /^3 counters showed something else/,
  ],
  [
    'an old recount',
    { recount: known({ recountedAtMs: NOW - 4 * 24 * HOUR, records: 9, drifting: [], unlisted: 0 }) },
    'counters',
    'problem',
    /the last recount is 4 days old/,
  ],
  [
    'an edit that rejects most jobs, with the edit',
    { rejections: known({ ...REJECTIONS, recent: { decided: 100, rejected: 90 } }) },
    'rejections',
    'problem',
    /^90 % of 100 decisions were rejected, 3 % in the week before\. Changes before it: edit 17 by ann 40 minutes ago$/,
  ],
  [
    'a policy that rejects a third of the jobs, with the policy',
    {
      rejections: known({
        ...REJECTIONS,
        recent: { decided: 60, rejected: 20 },
        edits: [],
        policyBefore: 'p0',
      }),
    },
    'rejections',
    'problem',
    /Changes before it: policy p1 was deployed$/,
  ],
  [
    'a sweep without its controller',
    { scope: known(undefined) },
    'sweep',
    'unknown',
    /was not told the controller/,
  ],
  [
    'a sweep that stopped',
    { scope: known({ controllerId: 7, state: 'enabled', readAtMs: NOW - HOUR, runners: new Map() }) },
    'sweep',
    'problem',
    /last asked GitLab 60 minutes ago/,
  ],
  [
    'a controller without a scope',
    { controller: known({ id: 7, state: 'enabled', hasScope: false }) },
    'controller',
    'problem',
    /asks about no job/,
  ],
  [
    'a dry run',
    { controller: known({ id: 7, state: 'dry_run', hasScope: true }) },
    'controller',
    'warning',
    /in dry run/,
  ],
  [
    'a disabled controller',
    { controller: known({ id: 7, state: 'disabled', hasScope: true }) },
    'controller',
    'warning',
    /disabled: GitLab does not ask/,
  ],
  [
    'a GitLab in the past',
    { gitlabAheadMs: known(-4 * MINUTE) },
    'clock of GitLab',
    'problem',
    /^4 minutes behind this machine/,
  ],
  [
    'a GitLab without a date',
    { gitlabAheadMs: { known: false, why: 'its answers have no date' } },
    'clock of GitLab',
    'unknown',
    /no date/,
  ],
])('%s is one finding', (_, change, about, severity, text) => {
  const found = notOk(change);
  expect(found.map((each) => [each.about, each.severity])).toEqual([[about, severity]]);
  expect(found[0]?.text).toMatch(text);
  expect(found[0]?.remedy === undefined).toBe(severity === 'unknown');
});

test.each<[string, Partial<HealthEvidence>]>([
  ['none ever beat', { ...beats(), controller: known({ id: 7, state: 'enabled', hasScope: true }) }],
  ['the last one stopped', beats(beat('a', { atMs: NOW - 9 * MINUTE }))],
])('without relays (%s) there is one problem, and what only they know is unknown', (_, change) => {
  const found = notOk(change);
  expect(found.filter(({ severity }) => severity === 'problem').map(({ about }) => about)).toEqual([
    'relays',
  ]);
  expect(found.filter(({ severity }) => severity === 'unknown').map(({ about }) => about)).toEqual([
    'waiting',
    'descriptors',
    'directory of the relays',
    'policy of the relays',
  ]);
});

test('relays that write no sign of life, as without the watchdog, are not taken for dead where their token is used', () => {
  const found = notOk(beats()).filter(({ about }) => about === 'relays');
  expect(found.map(({ severity }) => severity)).toEqual(['unknown']);
});

const ABSENT = { known: false, why: 'GitLab has no runner controllers here', cause: 'absent' } as const;

test.each<[string, Partial<HealthEvidence>, string, RegExp]>([
  [
    'a GitLab that is too old',
    { gitlabVersion: known('18.8.2-ee') },
    'version of GitLab',
    /^18\.8\.2-ee has no/,
  ],
  ['a licence that has ended', { licence: known({ plan: 'ultimate', expired: true }) }, 'licence', /expired/],
  ['no licence', { licence: known(undefined) }, 'licence', /^GitLab has none$/],
  ['another number', {}, 'controller', /no runner controllers here/],
])('where GitLab has no such controller, %s is the one problem', (_, change, about, text) => {
  const found = notOk({ ...change, controller: ABSENT, controllerTokens: ABSENT });
  const problems = found.filter(({ severity }) => severity === 'problem');
  expect(problems.map((each) => each.about)).toEqual([about]);
  expect(problems[0]?.text).toMatch(text);
});

test('what could not be asked is unknown, with the reason', () => {
  const found = notOk(gitlabUnknown('GitLab was not asked'));
  expect(found.map(({ about, text }) => [about, text])).toEqual(
    [
      ...['access token', 'licence', 'version of GitLab', 'controller', 'controller token', 'webhooks'],
      'clock of GitLab',
    ].map((about) => [about, 'GitLab was not asked']),
  );
});

/** The text of all checks. */
const judges = (): string => {
  const folder = new URL('../../../../functions/answers/health/', import.meta.url);
  return readdirSync(folder)
    .filter((name) => name.startsWith('judge'))
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
    .join('');
};

test('every section of the runbook that a remedy names is there', () => {
  const runbook = readFileSync(new URL('../../../../cdk/RUNBOOK.md', import.meta.url), 'utf8');
  const named = [...judges().matchAll(/runbook: ([A-Z][\w -]+)/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !runbook.includes(`\n## ${name}\n`))).toEqual([]);
});

test('every problem names the alarm that tells of it, and there is such an alarm', () => {
  const alarms = new Set(ALL_ALARMS.map(({ name }) => name));
  const named = [...judges().matchAll(/^ +(?:\w+ \? )?'([A-Z]\w+)',?$/gm)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(8);
  expect([...named, HEALTH_ALARM].filter((name) => !alarms.has(name))).toEqual([]);
});

test('who waits for room is told of all relays together, in the order of their turns, and is nothing wrong', () => {
  const slots = { root: '100', counter: 'group/101|jobs-now|now', jobs: 3, longestMs: 12_000 };
  const cpu = { root: '200', counter: 'instance|cpu-now|now', jobs: 1 };
  const waiting = (change: Partial<HealthEvidence>): HealthFinding | undefined =>
    judgeHealth({ ...HEALTHY, ...change }).find(({ about }) => about === 'waiting');
  expect(waiting({})).toMatchObject({ severity: 'ok', text: 'no job waits for room' });
  expect(
    waiting(
      beats(
        beat('a', { waiting: [cpu, slots] }),
        beat('b', { waiting: [{ ...slots, jobs: 2, longestMs: 15_000 }] }),
        beat('c', { atMs: NOW - 90_000, waiting: [{ ...cpu, jobs: 50 }] }),
      ),
    ),
  ).toMatchObject({
    severity: 'ok',
    text: '5 jobs of group 100 wait for room: jobs-now of group/101, the longest for 15 seconds; 1 job of group 200 waits for room: cpu-now of instance',
  });
});

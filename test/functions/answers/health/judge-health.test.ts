import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { HealthFinding } from '../../../../functions/answers/health/evidence.ts';
import { judgeHealth } from '../../../../functions/answers/health/judge-health.ts';
import { gitlabUnknown } from '../../../../functions/answers/health/read-gitlab.ts';
import type { HealthEvidence } from '../../../../functions/answers/health/read-health.ts';
import type { CanaryOutcome } from '../../../../functions/core/ledger/controller.ts';
import type { RelayHeartbeat } from '../../../../functions/core/store/health-items.ts';
import { ALL_ALARMS } from '../../../support/all-alarms.ts';

const NOW = Date.UTC(2026, 10, 22, 12);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const known = <T>(value: T) => ({ known: true, value }) as const;

const beat = (relayId: string, change: Partial<RelayHeartbeat> = {}): RelayHeartbeat => ({
  relayId,
  atMs: NOW - 20_000,
  openStreams: 8,
  directoryAgeMs: 4 * MINUTE,
  breaker: 'closed',
  schema: { source: 'gitlab.binpb', hash: 'aa', state: 'proven' },
  policyVersion: 'p1',
  ...change,
});
const heartbeats = (...all: readonly RelayHeartbeat[]): Partial<HealthEvidence> => ({
  heartbeats: known(all),
});
const schema = (change: object): Partial<HealthEvidence> =>
  heartbeats(
    beat('a'),
    beat('b', { schema: { source: 'gitlab.binpb', hash: 'aa', state: 'proven', ...change } }),
  );

const PROVEN: CanaryOutcome = {
  ...{ checkedAtMs: NOW - 72 * HOUR, admitted: 'proven', rejected: 'proven', runnerId: 9 },
  ...{ descriptors: 'aa', gitlabVersion: '19.4.1-ee' },
};
const HEALTHY: HealthEvidence = {
  nowMs: NOW,
  heartbeats: known([beat('a'), beat('b')]),
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
  accessToken: known({ active: true }),
  gitlabVersion: known('19.4.1-ee'),
  licence: known({ plan: 'ultimate', expired: false }),
  controller: known({ id: 7, state: 'enabled', hasScope: true, others: [], connected: true }),
  controllerTokens: known([{ createdAtMs: NOW - 24 * HOUR }]),
  webhooks: known({ groups: 2, unread: 0, broken: [] }),
  gitlabAheadMs: known(300),
};

const notOk = (change: Partial<HealthEvidence>): readonly HealthFinding[] =>
  judgeHealth({ ...HEALTHY, ...change }).filter(({ severity }) => severity !== 'ok');

const canary = (change: Partial<CanaryOutcome>) => ({ canary: known({ ...PROVEN, ...change }) });
const sample = { key: { subject: 'group/1', limit: 'money', period: '2026-11' }, committed: 2, recounted: 1 };
const recount = (change: object) => ({
  recount: known({ recountedAtMs: NOW - HOUR, records: 9, drifting: [], unlisted: 0, ...change }),
});
const controller = (change: object) => ({
  controller: known({ id: 7, state: 'enabled' as const, hasScope: true, others: [], ...change }),
});
const scope = (readAtMs: number) => ({
  scope: known({ controllerId: 7, state: 'enabled' as const, readAtMs, runners: new Map() }),
});

const FOUND: readonly (readonly [Partial<HealthEvidence>, string, RegExp])[] = [
  [{ canary: known(undefined) }, 'canary warning', /^never proven/],
  [
    canary({ gitlabVersion: '19.0.3-ee' }),
    'canary warning',
    /^not proven since GitLab became 19.4.1-ee: the last canary was on 19.0.3-ee, 3 days ago/,
  ],
  [canary({ descriptors: 'bb' }), 'canary warning', /^not proven with the descriptors aa: .* had bb/],
  [
    canary({ rejected: 'contrary' }),
    'canary problem',
    /^GitLab ran a rejected job or failed an admitted one/,
  ],
  [canary({ admitted: 'bypassed' }), 'canary problem', /jobs ran without an admission request/],
  [canary({ rejected: 'unreached' }), 'canary warning', /^only "admitted" is proven on GitLab 19.4.1-ee/],
  [heartbeats(beat('a')), 'relays warning', /^1 relay, 8 streams: no other takes over/],
  [
    heartbeats(beat('a'), beat('b', { breaker: 'open' })),
    'relays problem',
    /without the admit function.*: b/,
  ],
  [schema({ placeholder: true }), 'descriptors problem', /^b: the descriptors are the placeholder/],
  [schema({ state: 'suspect' }), 'descriptors problem', /^b: recent requests contradict/],
  [schema({ state: 'unproven' }), 'descriptors warning', /not proven yet/],
  [schema({ hash: 'bb' }), 'descriptors warning', /different descriptors/],
  [
    heartbeats(beat('a'), beat('b', { atMs: NOW + 5 * MINUTE })),
    'clock of the relays problem',
    /^b is 5 minutes ahead/,
  ],
  [
    heartbeats(beat('a'), beat('b', { directoryAgeMs: 3 * HOUR })),
    'directory of the relays problem',
    /^b: 3 hours old/,
  ],
  [
    heartbeats(beat('a'), beat('b', { policyVersion: 'p0' })),
    'policy of the relays warning',
    /b has p0, the functions have p1/,
  ],
  [{ directoryListedAtMs: known(undefined) }, 'directory warning', /never been listed completely/],
  [{ directoryListedAtMs: known(NOW - 26 * HOUR) }, 'directory problem', /listed 26 hours ago/],
  [{ limitsLiveAtMs: known(undefined) }, 'limits warning', /no limits have been published/],
  [{ recount: known(undefined) }, 'counters unknown', /not recounted yet/],
  [
    recount({ drifting: [sample], unlisted: 2 }),
    'counters problem',
    /^3 counters differed from their job records/,
  ],
  [recount({ recountedAtMs: NOW - 96 * HOUR }), 'counters problem', /the last recount is 4 days old/],
  [{ scope: known(undefined) }, 'sweep unknown', /does not know the controller/],
  [scope(NOW - HOUR), 'sweep problem', /last asked GitLab 60 minutes ago/],
  [controller({ state: 'dry_run' }), 'controller warning', /in dry run/],
  [controller({ state: 'disabled' }), 'controller warning', /disabled: GitLab does not ask/],
  [{ gitlabAheadMs: known(-4 * MINUTE) }, 'clock of GitLab problem', /^4 minutes behind this machine/],
];

test.each(FOUND)('%j is one finding: %s', (change, expected, text) => {
  const found = notOk(change);
  expect(found.map(({ about, severity }) => `${about} ${severity}`)).toEqual([expected]);
  expect(found[0]?.text).toMatch(text);
  expect(found[0]?.remedy === undefined).toBe(found[0]?.severity === 'unknown');
});

const named = (severity: HealthFinding['severity'], found: readonly HealthFinding[]) =>
  found.flatMap((each) => (each.severity === severity ? each.about : []));

test.each<[string, Partial<HealthEvidence>]>([
  ['none ever beat', { ...heartbeats(), ...controller({}) }],
  ['the last one stopped', heartbeats(beat('a', { atMs: NOW - 9 * MINUTE }))],
])('without relays (%s) there is one problem, and what only they know is unknown', (_, change) => {
  const found = notOk(change);
  expect(named('problem', found)).toEqual(['relays']);
  const relays = ['descriptors', 'directory of the relays', 'policy of the relays'];
  expect(named('unknown', found)).toEqual(relays);
});

test('relays that write no heartbeats, as without the watchdog, are not taken for dead where their token is used', () => {
  expect(notOk(heartbeats()).find(({ about }) => about === 'relays')?.severity).toBe('unknown');
});

const ABSENT = { known: false, why: 'GitLab has no runner controllers here', cause: 'absent' } as const;

test.each<[Partial<HealthEvidence>, string, RegExp]>([
  [{ gitlabVersion: known('18.8.2-ee') }, 'version of GitLab', /^18\.8\.2-ee has no/],
  [{ licence: known({ plan: 'ultimate', expired: true }) }, 'licence', /expired/],
  [{ licence: known(undefined) }, 'licence', /^GitLab has none$/],
  [{}, 'controller', /no runner controllers here/],
])('where GitLab has no such controller, %j is the one problem: %s', (change, about, text) => {
  const found = notOk({ ...change, controller: ABSENT, controllerTokens: ABSENT });
  expect(named('problem', found)).toEqual([about]);
  expect(found.find(({ severity }) => severity === 'problem')?.text).toMatch(text);
});

test('what could not be asked is unknown, with the reason', () => {
  const found = notOk(gitlabUnknown('GitLab was not asked'));
  expect(new Set(found.map(({ severity, text }) => `${severity}: ${text}`))).toEqual(
    new Set(['unknown: GitLab was not asked']),
  );
  expect(found).toHaveLength(7);
});

test('every alarm and every section of the runbook that a finding names is there', () => {
  const alarms = new Set(ALL_ALARMS.map(({ name }) => name));
  const runbook = readFileSync(new URL('../../../../cdk/RUNBOOK.md', import.meta.url), 'utf8');
  const found = FOUND.flatMap(([change]) => notOk(change));
  expect(found.flatMap(({ alarm }) => (alarm === undefined || alarms.has(alarm) ? [] : alarm))).toEqual([]);
  const sections = found.flatMap(
    ({ remedy = '' }) => /see ([A-Z][\w -]+?) in cdk\/RUNBOOK\.md/.exec(remedy)?.[1] ?? [],
  );
  expect(sections.length).toBeGreaterThan(5);
  expect(sections.filter((name) => !runbook.includes(`\n## ${name}\n`))).toEqual([]);
});

/** Each broken in one way; the look names the cause with its remedy, and nothing else. */

import { afterEach, expect, test } from 'vitest';
import type { HealthFinding } from '../../../../functions/answers/health/evidence.ts';
import type { ItemTable, Operations } from '../../../../functions/core/store/operation.ts';
import * as names from '../../../../functions/names.ts';
import type { InstanceSettings } from '../../../../scripts/local/gitlab/instance.ts';
import { aSetUp, type LookOptions, type SetUp } from './set-up.ts';

let setUp: SetUp | undefined;
afterEach(() => setUp?.close());

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const dayIn = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

interface BrokenSetUp {
  readonly administration?: InstanceSettings;
  /** What is done to it. */
  readonly by?: (setUp: SetUp) => unknown;
  readonly look?: LookOptions | ((setUp: SetUp) => LookOptions);
  /** What is found, with which severity. */
  readonly found: readonly [about: string, severity: HealthFinding['severity'], text: RegExp, remedy: RegExp];
  /** The alarm that tells of it. @default that of the hourly look */
  readonly alarm?: string | undefined;
}

/** A table that answers some operations with an error of AWS's. */
function failing(table: ItemTable, name: string, message: string, only?: keyof Operations): ItemTable {
  const send: ItemTable['send'] = (operation, input, limit) => {
    if (only === undefined || operation === only)
      return Promise.reject(Object.assign(new Error(message), { name }));
    return table.send(operation, input, limit);
  };
  return { tableName: table.tableName, send };
}

const hookOf = ({ local }: SetUp, group: number) => {
  const [hook] = local.groupHooks.of(group);
  if (hook === undefined) throw new Error(`group ${group} has no webhook`);
  return hook;
};

const BROKEN: Readonly<Record<string, BrokenSetUp>> = {
  'an expired token': {
    administration: { expiresAt: dayIn(-1) },
    found: ['access token', 'problem', /does not take the token/, /make another one/],
    alarm: 'SweepFailing',
  },
  'an expired token that stopped the sweep, too': {
    administration: { expiresAt: dayIn(-1) },
    by: ({ scopeRead, nowMs }) => scopeRead(nowMs - 2 * HOUR_MS),
    found: ['access token', 'problem', /does not take the token/, /make another one/],
    alarm: 'SweepFailing',
  },
  'a wrong token': {
    look: { token: 'glpat-of-somebody' },
    found: ['access token', 'problem', /does not take the token/, /runbook: Rotate tokens/],
    alarm: 'SweepFailing',
  },
  'a token that dies this week': {
    administration: { expiresAt: dayIn(4) },
    found: ['access token', 'problem', /expires in \d days/, /runbook: Rotate tokens/],
  },
  'a token that dies this month': {
    administration: { expiresAt: dayIn(20) },
    found: ['access token', 'warning', /expires in \d+ days/, /runbook: Rotate tokens/],
    alarm: undefined,
  },
  'a token that is no administrator’s': {
    administration: { administrator: false },
    found: ['access token', 'problem', /does not let the token do this/, /administrator's token of scope/],
    alarm: 'SweepFailing',
  },
  'no token in SSM': {
    look: { unasked: 'the token could not be read: ParameterNotFound' },
    found: ['access token', 'problem', /ParameterNotFound/, /runbook: First set-up/],
    alarm: 'SweepFailing',
  },
  'no licence': {
    administration: { licence: 'none' },
    found: ['licence', 'problem', /GitLab has none/, /Ultimate/],
  },
  'a licence that is too small': {
    administration: { licence: 'premium' },
    found: ['licence', 'problem', /^premium$/, /Ultimate/],
  },
  'a controller’s number that GitLab does not know': {
    look: { controllerId: 8 },
    found: ['controller', 'problem', /no controller 8: it has 7 "tollgate"/, /gitlab\.controllerId/],
  },
  'the number of another controller': {
    by: ({ local }) => local.changeController(7, { connected: false }),
    found: ['controller token', 'warning', /no token of controller 7 was used/, /gitlab\.controllerId/],
    alarm: undefined,
  },
  'a controller without a scope': {
    by: ({ local }) => local.changeController(7, { instanceScope: false }),
    found: ['controller', 'problem', /no scope: GitLab asks about no job/, /tollgate gitlab setup/],
  },
  'a controller that was left in dry run': {
    by: ({ local }) => local.changeController(7, { state: 'dry_run' }),
    found: ['controller', 'warning', /in dry run/, /tollgate controller enable/],
    alarm: undefined,
  },
  'a controller without a token, whose relays are gone': {
    by: async ({ local, beat, nowMs }) => {
      for (const token of local.controllerTokens.of(7)) local.controllerTokens.revoke(token);
      for (const relay of ['a', 'b'])
        await beat(relay, { [names.HEARTBEAT_AT]: { N: String(nowMs - 600_000) } });
    },
    found: ['controller token', 'problem', /none: no relay can open a stream/, /rotate-token/],
    alarm: 'RelayDisconnected',
  },
  'a controller’s token that was never rotated': {
    by: ({ local, nowMs }) => local.controllerTokens.make(7, 'old', nowMs - 500 * DAY_MS, () => 0.5),
    found: ['controller token', 'warning', /500 days old/, /tollgate gitlab rotate-token/],
    alarm: undefined,
  },
  'a group without a webhook': {
    by: (on) => on.local.groupHooks.remove(hookOf(on, 11)),
    found: ['webhooks', 'problem', /^1 of 2 .* have no webhook: umbrella$/, /tollgate gitlab setup/],
  },
  'a webhook that goes elsewhere': {
    by: (on) => on.local.groupHooks.change(hookOf(on, 11), { url: 'https://hooks.example.com/other' }),
    found: ['webhooks', 'problem', /have no webhook: umbrella$/, /tollgate gitlab setup/],
  },
  'a webhook that sends no job events': {
    by: (on) => on.local.groupHooks.change(hookOf(on, 10), { job_events: false }),
    found: ['webhooks', 'problem', /sends no job events: acme$/, /tollgate gitlab setup/],
  },
  'a webhook that a template rewrites': {
    by: (on) => on.local.groupHooks.change(hookOf(on, 10), { custom_webhook_template: '{}' }),
    found: ['webhooks', 'problem', /template, which changes what it sends: acme$/, /tollgate gitlab setup/],
  },
  'a webhook that GitLab disabled': {
    administration: { disablesHooks: true },
    by: (on) => {
      hookOf(on, 10).failures = 40;
    },
    found: ['webhooks', 'problem', /disabled because it failed: acme$/, /tollgate gitlab setup/],
  },
  'a webhook whose deliveries fail': {
    by: async (on) => {
      on.receive(500);
      for (const _ of [1, 2, 3]) await on.local.groupHooks.send(hookOf(on, 10), {}, crypto.randomUUID());
    },
    found: ['webhooks', 'problem', /last deliveries failed: acme$/, /tollgate gitlab setup/],
  },
  'no webhook anywhere': {
    by: (on) => [10, 11].map((group) => on.local.groupHooks.remove(hookOf(on, group))),
    found: ['webhooks', 'problem', /^2 of 2/, /tollgate gitlab setup/],
    alarm: 'HealthProblems',
  },
  'a GitLab whose clock is ahead': {
    look: { gitlabAheadMs: 4 * 60_000 },
    found: ['clock of GitLab', 'problem', /^4 minutes ahead of this machine/, /set the clock/],
  },
  'a machine whose clock is behind GitLab and relays': {
    look: ({ nowMs }) => ({ nowMs: nowMs - 10 * 60_000 }),
    found: ['clock of GitLab', 'problem', /^10 minutes ahead of this machine/, /set the clock/],
  },
  'a relay whose clock is ahead': {
    by: ({ beat, nowMs }) => beat('b', { [names.HEARTBEAT_AT]: { N: String(nowMs + 5 * 60_000) } }),
    found: ['clock of the relays', 'problem', /^b is 5 minutes ahead/, /set the clock/],
  },
  'a GitLab that was upgraded': {
    look: { deployed: { descriptorsVersion: '18.11' } },
    found: [
      'version of GitLab',
      'warning',
      /^19\.4\.0-ee, and the descriptors are of 18\.11/,
      /--ref v19\.4\.0/,
    ],
  },
  'relays with another policy than the functions': {
    by: ({ beat }) => beat('b', { [names.HEARTBEAT_POLICY]: { S: 'p0' } }),
    found: ['policy of the relays', 'warning', /b has p0, .*the functions have p1/, /deploy again/],
    alarm: undefined,
  },
  'runners that bypass, on a small site': {
    by: ({ ran }) => ran(-1_500, 60),
    found: ['coverage', 'problem', /^60 of 500 jobs in 2 days passed by/, /tollgate coverage/],
  },
  'runners that bypass, where an alarm counts them': {
    by: ({ ran }) => ran(0, 600),
    found: ['coverage', 'problem', /^600 of 2000 jobs/, /tollgate coverage/],
    alarm: 'UnadmittedShare',
  },
  'a few jobs that bypass': {
    by: ({ ran }) => ran(0, 6),
    found: ['coverage', 'warning', /^6 of 2000 jobs/, /tollgate coverage/],
    alarm: undefined,
  },
  'a table that throttles': {
    look: ({ table }) => ({ table: failing(table, 'ThrottlingException', 'slow down', 'Query') }),
    found: ['rights', 'problem', /^DynamoDB throttles: signs of life/, /runbook: TableThrottled/],
    alarm: 'TableThrottled',
  },
  'no right to read': {
    look: ({ table }) => ({
      table: failing(
        table,
        'AccessDeniedException',
        'User: arn:aws:sts::1:assumed-role/x/y is not authorized to perform: dynamodb:Query on resource: z because no identity-based policy allows it',
        'Query',
      ),
    }),
    found: ['rights', 'problem', /^AWS refuses dynamodb:Query: signs of life/, /table-rights\.ts/],
  },
  'a sweep that stopped': {
    by: ({ scopeRead, nowMs }) => scopeRead(nowMs - HOUR_MS),
    found: ['sweep', 'problem', /last asked GitLab 60 minutes ago/, /runbook: SweepFailing/],
    alarm: 'SweepFailing',
  },
  'groups that nobody lists any more': {
    by: ({ listDirectory, nowMs }) => listDirectory(nowMs - 26 * HOUR_MS),
    found: ['directory', 'problem', /last listed 26 hours ago/, /runbook: DirectoryStale/],
    alarm: 'DirectoryStale',
  },
  'weeks without a recount': {
    by: ({ recount, nowMs }) => recount(nowMs - 16 * 24 * HOUR_MS),
    found: ['counters', 'problem', /16 days old/, /function drift/],
    alarm: 'Drift',
  },
  'a relay whose breaker is open': {
    by: ({ beat }) => beat('b', { [names.HEARTBEAT_BREAKER]: { S: 'open' } }),
    found: ['relays', 'problem', /answers without the admit function/, /runbook: FallbackShare/],
    alarm: 'FallbackShare',
  },
};

test('a set-up that holds has nothing to tell', async () => {
  setUp = await aSetUp();
  const { findings, problems } = await setUp.look();
  expect(findings.filter(({ severity }) => severity !== 'ok')).toEqual([]);
  expect(problems).toBe(0);
  expect(findings.length).toBeGreaterThan(16);
});

test('one without anything but its controller does not blame GitLab for what it does not say', async () => {
  setUp = await aSetUp({ version: '18.9', administration: {} });
  const { findings } = await setUp.look({ deployed: { descriptorsVersion: '18.9' } });
  expect(findings.filter(({ severity }) => severity !== 'ok')).toEqual([]);
});

test('a GitLab that does not answer is unknown in all it would say: how long the sweep has heard nothing is the finding', async () => {
  setUp = await aSetUp();
  await setUp.close();
  const { findings, problems } = await setUp.look();
  expect(problems).toBe(0);
  const unknown = findings.filter(({ severity }) => severity !== 'ok');
  expect(unknown.map(({ about }) => about)).toEqual([
    ...['access token', 'licence', 'version of GitLab', 'controller', 'controller token', 'webhooks'],
    'clock of GitLab',
  ]);
  setUp = undefined;
});

test.each(Object.entries(BROKEN))('%s: one cause, one finding', async (_, broken) => {
  const { administration = {}, by, look } = broken;
  setUp = await aSetUp({ administration });
  await by?.(setUp);
  const { findings } = await setUp.look(typeof look === 'function' ? look(setUp) : look);
  const told = findings.filter(({ severity }) => severity === 'problem' || severity === 'warning');
  const [about, severity, text, remedy] = broken.found;
  expect(told.map((each) => [each.about, each.severity])).toEqual([[about, severity]]);
  expect(told[0]?.text).toMatch(text);
  expect(told[0]?.remedy).toMatch(remedy);
  expect(told[0]?.alarm).toBe('alarm' in broken ? broken.alarm : 'HealthProblems');
});

test('at least twenty-five ways to be broken are looked at', () => {
  expect(Object.keys(BROKEN).length).toBeGreaterThanOrEqual(25);
});

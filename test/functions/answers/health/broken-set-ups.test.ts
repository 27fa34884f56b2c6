/** Each broken in one way; the look names the cause with its remedy, and nothing else. */

import { expect, test } from 'vitest';
import type { HealthFinding } from '../../../../functions/answers/health/evidence.ts';
import type { ItemTable, Operations } from '../../../../functions/core/store/operation.ts';
import * as names from '../../../../functions/names.ts';
import type { InstanceSettings } from '../../../../scripts/local/gitlab/instance.ts';
import { aSetUp, type LookOptions, type SetUp } from './set-up.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const dayIn = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

interface BrokenSetUp {
  readonly administration?: InstanceSettings;
  /** What is done to it. */
  readonly by?: (setUp: SetUp) => unknown;
  readonly look?: LookOptions | ((setUp: SetUp) => LookOptions);
  readonly found: readonly [about: string, severity: HealthFinding['severity'], text: RegExp, remedy: RegExp];
  /** @default that of the hourly look */
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
  'a GitLab whose clock is ahead': {
    look: { gitlabAheadMs: 4 * 60_000 },
    found: ['clock of GitLab', 'problem', /^4 minutes ahead of this machine/, /set the clock/],
  },
  'a machine whose clock is behind GitLab and relays': {
    look: ({ nowMs }) => ({ nowMs: nowMs - 10 * 60_000 }),
    found: ['clock of GitLab', 'problem', /^10 minutes ahead of this machine/, /set the clock/],
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
};

test('a set-up that holds has nothing to tell, nor one without anything but its controller', async () => {
  const { findings, problems } = await (await aSetUp()).look();
  expect(findings.filter(({ severity }) => severity !== 'ok')).toEqual([]);
  expect([problems, findings.length]).toEqual([0, 21]);
  const old = await (await aSetUp({}, '18.9')).look({ deployed: { descriptorsVersion: '18.9' } });
  expect(old.findings.filter(({ severity }) => severity !== 'ok')).toEqual([]);
});

test('a GitLab that does not answer is unknown in all it would say: how long the sweep has heard nothing is the finding', async () => {
  const { findings, problems } = await (await aSetUp()).look({ isDown: true });
  expect(problems).toBe(0);
  const unknown = findings.filter(({ severity }) => severity !== 'ok');
  expect(unknown.map(({ about }) => about)).toEqual([
    ...['access token', 'licence', 'version of GitLab', 'controller', 'controller token', 'webhooks'],
    'clock of GitLab',
  ]);
});

test.each(Object.entries(BROKEN))('%s: one cause, one finding', async (_, broken) => {
  const setUp = await aSetUp(broken.administration);
  await broken.by?.(setUp);
  const { look } = broken;
  const { findings } = await setUp.look(typeof look === 'function' ? look(setUp) : look);
  const told = findings.filter(({ severity }) => severity === 'problem' || severity === 'warning');
  const [about, severity, text, remedy] = broken.found;
  expect(told.map((each) => [each.about, each.severity])).toEqual([[about, severity]]);
  expect(told[0]?.text).toMatch(text);
  expect(told[0]?.remedy).toMatch(remedy);
  expect(told[0]?.alarm).toBe('alarm' in broken ? broken.alarm : 'HealthProblems');
});

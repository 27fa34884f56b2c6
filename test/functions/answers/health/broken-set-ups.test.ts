/** Each broken in one way; the look names the cause with its alarm, and nothing else. */
import { expect, test } from 'vitest';
import type { ItemTable } from '../../../../functions/core/store/operation.ts';
import * as names from '../../../../functions/names.ts';
import type { InstanceSettings } from '../../../../scripts/local/gitlab/instance.ts';
import { aSetUp, type LookOptions, type SetUp, TOKEN } from './set-up.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const dayIn = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

interface Break {
  readonly administration?: InstanceSettings;
  /** What is done to it. */
  readonly by?: (setUp: SetUp) => unknown;
  readonly look?: LookOptions | ((setUp: SetUp) => LookOptions);
}

/** A table that answers queries with an error of AWS's. */
const failing = (
  { table }: { readonly table: ItemTable },
  name: string,
  message: string,
): { readonly table: ItemTable } => ({
  table: {
    tableName: table.tableName,
    send: (operation, input, limit) =>
      operation === 'Query'
        ? Promise.reject(Object.assign(new Error(message), { name }))
        : table.send(operation, input, limit),
  },
});

const hookOf = ({ local }: SetUp, group: number) => {
  const [hook] = local.groupHooks.of(group);
  if (hook === undefined) throw new Error(`group ${group} has no webhook`);
  return hook;
};
type HookChange = Parameters<SetUp['local']['groupHooks']['change']>[1];
const hookWith = (group: number, change: HookChange) => ({
  by: (on: SetUp) => on.local.groupHooks.change(hookOf(on, group), change),
});
const controllerWith = (change: object) => ({
  by: ({ local }: SetUp) => local.changeController(7, change),
});
const REFUSED = ['access token problem SweepFailing', /does not take the token/] as const;
const DENIED =
  'User: arn:aws:sts::1:assumed-role/x/y is not authorized to perform: dynamodb:Query on resource: z because no identity-based policy allows it';

type Example = readonly [broken: Break, found: string, text: RegExp];

/** The alarm of a problem is that of the hourly health check unless another one tells of it. */
const BROKEN: readonly Example[] = [
  [
    {
      administration: { expiresAt: dayIn(-1) },
      by: ({ scopeRead, nowMs }) => scopeRead(nowMs - 2 * HOUR_MS),
    },
    ...REFUSED,
  ],
  [{ look: { token: 'glpat-of-somebody' } }, ...REFUSED],
  [{ administration: { expiresAt: dayIn(4) } }, 'access token problem', /in \d days/],
  [
    { administration: { administrator: false } },
    'access token problem SweepFailing',
    /does not let the token do this/,
  ],
  [
    { look: { unasked: 'it could not be read: ParameterNotFound' } },
    'access token problem SweepFailing',
    /ParameterNotFound/,
  ],
  [{ administration: { licence: 'none' } }, 'licence problem', /GitLab has none/],
  [{ look: { controllerId: 8 } }, 'controller problem', /no controller 8: it has 7 "tollgate"/],
  [controllerWith({ connected: false }), 'controller token warning', /no token of controller 7 was used/],
  [controllerWith({ instanceScope: false }), 'controller problem', /no scope: GitLab asks about no job/],
  [
    {
      by: async ({ local, beat, nowMs }) => {
        for (const token of local.controllerTokens.of(7)) local.controllerTokens.revoke(token);
        for (const relay of ['a', 'b'])
          await beat(relay, { [names.HEARTBEAT_AT]: { N: String(nowMs - 600_000) } });
      },
    },
    'controller token problem RelayDisconnected',
    /none: no relay can open a stream/,
  ],
  [
    { by: ({ local, nowMs }) => local.controllerTokens.make(7, 'old', nowMs - 500 * DAY_MS, () => 0.5) },
    'controller token warning',
    /500 days old/,
  ],
  [
    { by: (on) => on.local.groupHooks.remove(hookOf(on, 11)) },
    'webhooks problem',
    /^1 of 2 .* umbrella has no webhook$/,
  ],
  [hookWith(11, { url: 'https://hooks.example.com/other' }), 'webhooks problem', /umbrella has no webhook$/],
  [hookWith(10, { job_events: false }), 'webhooks problem', /acme has one that sends no job events$/],
  [
    hookWith(10, { custom_webhook_template: '{}' }),
    'webhooks problem',
    /acme has one with a template, which changes what it sends$/,
  ],
  [
    {
      administration: { disablesHooks: true },
      by: (on) => Object.assign(hookOf(on, 10), { failures: 40 }),
    },
    'webhooks problem',
    /disabled because it failed$/,
  ],
  [
    {
      by: async (on) => {
        on.receive(500);
        for (const _ of [1, 2, 3]) await on.local.groupHooks.send(hookOf(on, 10), {}, crypto.randomUUID());
      },
    },
    'webhooks problem',
    /last deliveries failed$/,
  ],
  [
    { look: ({ nowMs }) => ({ nowMs: nowMs - 10 * 60_000 }) },
    'clock of GitLab problem',
    /^10 minutes ahead of this machine/,
  ],
  [
    { by: ({ ran }) => ran(-1_500, 60) },
    'coverage problem',
    /^60 of 500 jobs in 2 days ran without an admission request/,
  ],
  [{ by: ({ ran }) => ran(0, 600) }, 'coverage problem UnadmittedShare', /^600 of 2,000 jobs/],
  [
    { look: (on) => failing(on, 'ThrottlingException', 'slow down') },
    'rights problem TableThrottled',
    /^DynamoDB throttles: signs of life/,
  ],
  [
    { look: (on) => failing(on, 'AccessDeniedException', DENIED) },
    'rights problem',
    /^AWS refuses dynamodb:Query: signs of life/,
  ],
];

const notOk = async (setUp: SetUp, look: LookOptions = {}) =>
  (await setUp.look(look)).findings.filter(({ severity }) => severity !== 'ok');

test('a set-up that holds has nothing to tell, nor one without anything but its controller', async () => {
  const setUp = await aSetUp();
  expect(await notOk(setUp)).toEqual([]);
  expect(await setUp.look()).toMatchObject({ problems: 0, findings: { length: 19 } });
  expect(await notOk(await aSetUp({}, '18.9'), { deployed: { descriptorsVersion: '18.9' } })).toEqual([]);
});

test('other controllers whose answers GitLab obeys are named', async () => {
  const setUp = await aSetUp();
  const body = JSON.stringify({ description: 'policy bot', state: 'enabled' });
  const headers = { 'private-token': TOKEN, 'content-type': 'application/json' };
  await setUp.local.fetch('https://gitlab.example.com/api/v4/runner_controllers', {
    method: 'POST',
    headers,
    body,
  });
  const { findings } = await setUp.look({ controllerId: 7 });
  expect(findings.find(({ about }) => about === 'controller')?.text).toBe(
    'enabled: GitLab asks and obeys; it obeys 8 "policy bot" too',
  );
});

test('a GitLab that does not answer is unknown in all it would say: how long the sweep has heard nothing is the finding', async () => {
  const unknown = await notOk(await aSetUp(), { isDown: true });
  expect(unknown.map(({ about, severity }) => `${about} ${severity}`)).toEqual(
    [
      ...['access token', 'licence', 'version of GitLab', 'controller', 'controller token', 'webhooks'],
      'clock of GitLab',
    ].map((about) => `${about} unknown`),
  );
});

test.each(BROKEN)('%j: one cause, one finding (%s)', async (broken, found, text) => {
  const setUp = await aSetUp(broken.administration);
  await broken.by?.(setUp);
  const { look } = broken;
  const all = await notOk(setUp, typeof look === 'function' ? look(setUp) : look);
  const told = all.filter(({ severity }) => severity !== 'unknown');
  const shown = told.map(({ about, severity, alarm }) => [about, severity, alarm].join(' '));
  expect(shown.map((each) => each.replace(' HealthProblems', '').trim())).toEqual([found]);
  expect(told[0]?.text).toMatch(text);
  expect(told[0]?.remedy).toBeDefined();
});

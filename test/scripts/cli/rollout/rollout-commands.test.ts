import { expect, test } from 'vitest';
import type { RolloutView } from '../../../../functions/answers/rollout/model.ts';
import { DAY_MS } from '../../../../policies/limits/calendar.ts';
import { USERS } from '../../../functions/console/house.ts';
import { consoleOn } from '../bench-console.ts';
import { budgetBench } from '../budget/budget-bench.ts';
import { aRequest } from '../ledger-bench.ts';

const WHY = ['--reason', 'because'];

/** The instance watches. */
async function bench() {
  const made = await budgetBench();
  const told: string[] = [];
  Object.assign(made.tables, {
    reporter:
      (topicArn: string, origin: string | undefined) => async (message: { text: string; owner?: string }) => {
        told.push(`${topicArn} ${message.owner} ${message.text.split('\n').at(-1)} ${origin}`);
        return 'sent' as const;
      },
  });
  expect(await made.run('rollout back', ['instance', '--to', 'shadow', ...WHY])).toMatchObject({
    code: 0,
  });
  const worked = async (subject: string, days: number): Promise<void> => {
    const first = made.clock.nowMs();
    const usage = Array.from({ length: days }, (_, index) => ({
      key: { subject, day: new Date(first + index * DAY_MS).toISOString().slice(0, 10) },
      delta: new Map([
        ['jobs', 10],
        ['ran', 10],
      ]),
    }));
    await made.rollup.commit({ contributions: [], usage });
    made.clock.advance(days * DAY_MS);
  };
  return { ...made, told, worked };
}

test('a list says where everybody stands, since when, and what is missing; one group has every need', async () => {
  const { run, worked } = await bench();
  await worked('group/100', 3);
  const { out, code, err } = await run('rollout', []);
  expect([code, err]).toEqual([0, '']);
  expect(out.split('\n').map((line) => line.replace(/ +/g, ' ').trim())).toEqual([
    'group rules step since days jobs violations asked the next step needs',
    'instance cost shadow 3 days 0 0 0 – reported: 0 of 7 days, no report',
    'capacity shadow 3 days 0 0 0 – reported: 0 of 7 days, no report',
    'acme cost shadow as instance 3 30 0 100 % reported: 3 of 7 days, no report',
    'capacity shadow as instance 3 30 0 100 % reported: 3 of 7 days, no report',
    '',
  ]);
  const one = await run('rollout', ['acme/payments/checkout']);
  expect(one.out).toContain('cost: shadow → reported\n  missing  0 of 7 days with jobs on this step\n');
});

test('the way of one group: held, reported, on, forced, and one command back', async () => {
  const { run, worked, told } = await bench();
  const held = await run('rollout next', ['acme', ...WHY]);
  expect(held).toMatchObject({ code: 2, out: '' });
  expect(held.err).toContain(
    'stays  acme: 0 of 7 days with jobs on this step; the owner has no report yet\n',
  );

  const unsent = await run('rollout report', ['acme']);
  expect(unsent.code).toBe(2);
  expect(unsent.out).toContain('acme  not sent to finance\n\nCI limits of acme: what would have failed\n');
  expect(unsent.err).toContain('Nothing was sent, and nothing was written down');
  const sent = await run('rollout report', [
    ...['acme', '--topic', 'arn:aws:sns:eu-central-1:1:owners'],
    ...['--console', 'https://budget.example.com'],
  ]);
  expect(sent).toMatchObject({ code: 0, out: 'acme  sent to finance\n' });
  expect(told).toEqual([
    'arn:aws:sns:eu-central-1:1:owners finance https://budget.example.com/groups/100 https://budget.example.com',
  ]);

  await worked('group/100', 7);
  const dry = await run('rollout next', ['acme', '--dry-run']);
  expect(dry).toMatchObject({ code: 0, err: '' });
  expect(dry.out).toContain('reported → warn');
  const on = await run('rollout next', ['acme', ...WHY]);
  expect(on.code).toBe(0);
  expect(on.out).toMatch(/^If enforced now: 0 of 0 jobs of the last 7 days would have failed/);
  expect(on.out).toMatch(
    /acme {2}cost {6}reported → warn\s+acme {2}capacity {2}reported → warn\s+live {2}set \w+, edit \d+/,
  );

  const forced = await run('rollout next', ['acme', 'acme/payments', '--force', ...WHY]);
  expect(forced.code).toBe(0);
  expect(forced.out).toMatch(/acme\/payments +cost +warn → enforce/);
  const back = await run('rollout back', ['acme/payments', ...WHY]);
  expect(back).toMatchObject({ code: 0, err: '' });
  expect(back.out).toMatch(/acme\/payments {2}cost {6}enforce → warn/);
  const out = await run('rollout back', ['acme/payments/checkout', '--to', 'off', ...WHY]);
  expect(out.out).toMatch(/acme\/payments\/checkout {2}cost {6}warn → off/);
});

test('a project with a step of its own stands in the list with its own figures, and its owner gets a report about it', async () => {
  const { run, worked, told } = await bench();
  const project = 'project/1001';
  await run('rollout back', [project, '--to', 'off', ...WHY]);
  await run('rollout next', [project, ...WHY]);
  await worked('project/1001', 2);
  expect((await run('rollout', [])).out).toMatch(
    /^acme\/payments\/checkout +cost +shadow +2 days +2 +20 +0 +100 % +reported: 2 of 7 days, no report$/m,
  );
  const topic = ['--topic', 'arn:aws:sns:eu-central-1:1:owners', '--console', 'https://budget.example.com'];
  const sent = await run('rollout report', [project, ...topic]);
  expect(sent).toMatchObject({ code: 0, out: `acme/payments/checkout  sent to payments-leads\n` });
  expect(told[0]).toContain('https://budget.example.com/projects/1001');
  expect((await run('rollout', [project])).out).toContain('cost: reported → warn');
});

test('before a step is made, it says which jobs of the last week would have failed', async () => {
  const { run, json, ask, documents, clock } = await bench();
  const watched = documents({}, [{ on: { group: 101 }, money: '7.50', per: 'month', mode: 'shadow' }]);
  await ask(
    [1, 2, 3, 4, 5, 6, 7, 8].map((jobId) => aRequest(jobId)),
    watched,
  );
  clock.advance(60_000);
  const { out } = await run('rollout next', ['acme', '--force', '--dry-run']);
  expect(out).toMatch(
    /^If enforced now: 1 of 8 jobs of the last 7 days would have failed that run as it is\.\n/,
  );
  expect(out).toMatch(
    /acme\/payments {2}budgets {2}BUDGET_EXHAUSTED {2}acme\/payments money-month {2}1\n +job 8\n/,
  );
  const told = await json('rollout next', 'acme', '--force', '--dry-run');
  expect(told).toMatchObject({
    dryRun: true,
    forecast: { wouldFail: 1 },
    moved: [{ from: 'shadow', to: 'warn' }, {}],
  });
});

test.each([
  ['rollout next', [], 'expected a group, or --all'],
  ['rollout next', ['acme', '--all'], '--all "acme": expected no group beside it'],
  ['rollout next', ['acme', '--class', 'security', ...WHY], '--class "security": expected cost or capacity'],
  ['rollout next', ['acme'], '--reason: expected why'],
  ['rollout next', ['acme/paymets', ...WHY], 'did you mean acme/payments?'],
  [
    'rollout next',
    ['777', ...WHY],
    '"777": no group or project that can be rolled out; see tollgate rollout',
  ],
  ['rollout back', ['acme', '--to', 'enforce', ...WHY], '--to "enforce": expected warn, shadow or off'],
] as const)('%o: what cannot be meant is named with its remedy', async (command, args, message) => {
  const { run } = await bench();
  const { code, err } = await run(command, args);
  expect(code).toBe(3);
  expect(err).toContain(message);
});

test('a weaker role is refused what it may not do, and a set that is not live any more', async () => {
  const { run } = await bench();
  const denied = await run('rollout back', ['acme', '--to', 'off', '--as', 'finance', ...WHY]);
  expect(denied).toMatchObject({ code: 2, out: '' });
  expect(denied.err).toContain('You may not do this; nothing was changed.');
  const stale = await run('rollout back', ['acme', '--to', 'off', '--base', 'another', ...WHY]);
  expect(stale.code).toBe(2);
  expect(stale.err).toContain('Others changed the limits');
});

test('page, API and command line say the same of every group', async () => {
  const made = await bench();
  const { run, json, worked } = made;
  await worked('group/100', 7);
  await run('rollout report', ['acme', '--told']);
  await run('rollout next', ['acme', '--class', 'cost', '--force', ...WHY]);
  const { page, api } = consoleOn(made, { user: USERS.admin });

  const byCommand: RolloutView = await json('rollout');
  const byApi = (await api('/rollout')) as RolloutView;
  expect(byCommand.rows).toEqual(byApi.rows);
  const html = await page('/rollout');
  const tags = [...html.matchAll(/<span class="tag[^"]*">(\w+)<\/span>/g)].map(([, step]) => step);
  expect(tags).toEqual(byApi.rows.flatMap(({ classes }) => classes.map(({ step }) => step)));
  const [, acme] = byApi.rows;
  expect(acme?.classes.map(({ step, from }) => [step, from])).toEqual([
    ['warn', 'group/100'],
    ['reported', 'instance'],
  ]);
  const one = await page('/rollout/step?subject=group/100');
  for (const { jobs, days } of acme?.classes ?? []) expect(one).toContain(`${jobs} jobs on ${days} day`);
});

import { expect, test } from 'vitest';
import { DAY_MS } from '../../../../policies/limits/calendar.ts';
import { reportSender } from '../../../../scripts/cli/api/open-books.ts';
import { budgetBench } from '../budget/budget-bench.ts';

const WHY = ['--reason', 'because'];

/** The instance watches. */
async function bench() {
  const made = await budgetBench();
  const told: string[] = [];
  const sender: typeof reportSender =
    (topicArn, { ledger, origin }) =>
    async (message) => {
      // The table is read-only for all other commands; a report marks that it was sent.
      await ledger.announceOnce([message.subject], { ttlMs: 1, timeoutMs: 1_000 });
      told.push(`${topicArn} ${message.owner} ${message.text.split('\n').at(-1)} ${origin}`);
      return 'sent';
    };
  made.standIns.set(reportSender, sender);
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

test('a list says where everybody stands, since when, and what is missing', async () => {
  const { run, worked } = await bench();
  await worked('group/100', 3);
  const { out, code, err } = await run('rollout', [], { columns: 300 });
  expect([code, err]).toEqual([0, '']);
  expect(out.split('\n').map((line) => line.replace(/ +/g, ' ').trim())).toEqual([
    'group rules step since days jobs violations asked the next step needs',
    'instance cost shadow 3 days 0 0 0 – reported: 0 of 7 days with jobs on this step; the owner has no report yet',
    'capacity shadow 3 days 0 0 0 – reported: 0 of 7 days with jobs on this step; the owner has no report yet',
    'acme cost shadow as instance 3 30 0 100 % reported: 3 of 7 days with jobs on this step; the owner has no report yet',
    'capacity shadow as instance 3 30 0 100 % reported: 3 of 7 days with jobs on this step; the owner has no report yet',
    '',
  ]);
  const one = await run('rollout', ['acme/payments/checkout']);
  expect(one.out).toContain('reported: 0 of 7 days with jobs on this step');
});

test('the way of one group: held, reported, on, forced, and one command back', async () => {
  const { run, json, worked, told } = await bench();
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
  const planned = JSON.parse((await run('rollout next', ['acme', '--dry-run', '--json'])).out);
  expect(Object.keys(planned)).toEqual(['outcome', 'moved', 'held', 'dryRun', 'forecast']);
  const on = await run('rollout next', ['acme', ...WHY]);
  expect(on.code).toBe(0);
  expect((await json('budget history', '--count', '1')).edits).toMatchObject([{ source: 'cli' }]);
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

test.each([
  ['rollout next', [], 'expected a group, or --all'],
  ['rollout next', ['acme', '--all'], '--all "acme": expected no group'],
  ['rollout next', ['acme', '--class', 'security', ...WHY], '--class "security": expected cost, capacity'],
  ['rollout next', ['acme'], '--reason: expected why'],
  ['rollout next', ['acme/paymets', ...WHY], 'did you mean acme/payments?'],
  [
    'rollout next',
    ['777', ...WHY],
    '"777": no group or project that can be rolled out; see tollgate rollout',
  ],
  ['rollout back', ['acme', '--to', 'enforce', ...WHY], '--to "enforce": expected warn, shadow, off'],
] as const)('%o: what cannot be meant is named with its remedy', async (command, args, message) => {
  const { run } = await bench();
  const { code, err } = await run(command, args);
  expect(code).toBe(3);
  expect(err).toContain(message);
});

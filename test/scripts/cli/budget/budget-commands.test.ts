import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { aRequest } from '../ledger-bench.ts';
import { budgetBench, LIMITS } from './budget-bench.ts';

type Bench = Awaited<ReturnType<typeof budgetBench>>;

/** Made by one person and approved by another. */
async function approved({ run }: Bench, ...[command, args]: Parameters<Bench['run']>): Promise<void> {
  const { code, err } = await run(command, args);
  expect(code).toBe(2);
  const id = /Request (r-\S+) waits/.exec(err)?.[1] ?? '';
  expect((await run('budget approve', [id, '--actor', 'zoe'])).code).toBe(0);
}

/** One job of 1.00 that ended, four that hold as much. */
async function withJobs(): Promise<Bench> {
  const bench = await budgetBench();
  await bench.ask([1, 2, 3, 4, 5].map((jobId) => aRequest(jobId)));
  bench.clock.advance(60_000);
  await bench.ledger.settle([{ jobId: 1, durationSeconds: 600, endedAtMs: bench.clock.nowMs() }]);
  return bench;
}

test('limits are listed the fullest first, with what is used, held and left', async () => {
  const { run, json } = await withJobs();
  const { out } = await run('budget ls', []);
  expect(out.split('\n').slice(0, 3)).toEqual([
    'group                            limit  used  held      left   %  runs out  owner',
    'acme/payments           7.50 EUR/month  1.00  4.00      2.50  66  ?         payments-leads',
    'acme                9,000.00 EUR/month  1.00  4.00  8,995.00   0  ?         finance',
  ]);
  const { limits } = await json('budget ls', '--over', '50%', '--group', 'acme');
  expect(limits).toEqual([
    {
      subject: 'group/101',
      path: 'acme/payments',
      limit: 'money-month',
      kind: 'money',
      unit: 'micros',
      amount: 7_500_000,
      per: 'month',
      mode: 'enforce',
      used: 1_000_000,
      held: 4_000_000,
      left: 2_500_000,
      percent: 66,
      runsOut: null,
      owner: 'payments-leads',
      thresholds: [50, 75, 90, 100].map((percent) => ({
        name: `${percent} %`,
        amount: 75_000 * percent,
        reached: percent === 50,
      })),
      told: 'payments-leads',
      alerts: [],
    },
  ]);
});

test('an edit that cannot be is told by its field and by the group as it was written', async () => {
  const { run } = await budgetBench();
  const soft = await run('budget set', ['acme/payments', '9', '--soft', '80', '--reason', 'x']);
  expect([soft.code, soft.err]).toEqual([3, expect.stringMatching(/^soft: '80'; /)]);
  const several = await run('budget set', ['acme/platform', '--mode', 'shadow', '--reason', 'x']);
  expect(several.err).toContain('acme/platform has several limits like this');
});

test('--dry-run shows what changes and which jobs would have failed, and writes nothing', async () => {
  const { run, live, json } = await withJobs();
  const before = await live();
  const args = ['acme/payments', '2', 'EUR/month', '--dry-run'];
  const { code, out } = await run('budget set', args);
  expect(code).toBe(0);
  expect(out).toBe(
    [
      'tightens  acme/payments  money-month  amount  7.50 EUR → 2.00 EUR',
      'last 30 days: 3 of 5 jobs would have failed; 0 fail with the current limits; 0 were rejected then; 5 records read',
      '1 of these change an amount more than threefold, or a mode to a milder one: --confirm is needed',
      'Nothing was written.',
      '',
    ].join('\n'),
  );
  expect(await json('budget set', ...args)).toMatchObject({
    outcome: 'dry_run',
    base: before?.set,
    stale: false,
    rows: [{ field: 'amount', from: 7_500_000, to: 2_000_000 }],
    backtest: { days: 30, jobs: 5, wouldFail: 3, wouldFailNow: 0, failed: 0 },
  });
  expect(await live()).toEqual(before);
});

test('a set limit is live, and its change is told with who and why', async () => {
  const { run, json, live } = await budgetBench();
  const args = ['acme/payments', '9', 'EUR/month', '--reason', 'more people', '--actor', 'ann'];
  expect(await run('budget set', args)).toMatchObject({ code: 0, err: '' });
  expect((await live())?.edit).toBe(2);
  const { edits } = await json('budget history', 'acme/payments', '--count', '1');
  expect(edits).toMatchObject([
    { edit: 2, actor: 'ann', why: 'more people', source: 'cli', rows: [{ from: 7_500_000, to: 9_000_000 }] },
  ]);
  expect((await run('budget history', ['101'])).out).toContain('ann: more people\n');
  expect(await run('budget set', args)).toMatchObject({
    code: 0,
    out: 'It is so already; nothing was written.\n',
  });
});

test.each<[readonly string[], object]>([
  [['acme/platform', '500', 'EUR/month', '--soft', '80%'], { limit: 'money-month', amount: 500_000_000 }],
  [['acme/platform', '--limit', 'jobs-now', '--soft', '5'], { limit: 'jobs-now', amount: 7 }],
  [['instance', 'unlimited', 'min/week'], { subject: 'instance', amount: 'unlimited' }],
  [['acme/platform', 'unlimited', 'EUR/month'], { subject: 'group/102', amount: 'unlimited' }],
  [['acme/payments/checkout', '256Gi', 'memory'], { subject: 'project/1001', amount: 2 ** 38 }],
])('budget set %j', async (args, expected) => {
  const { run, json } = await budgetBench(LIMITS.filter((each) => !('minutes' in each)));
  expect(await run('budget set', [...args, '--reason', 'x'])).toMatchObject({ code: 0, err: '' });
  const { limits } = await json('budget ls');
  expect(limits).toContainEqual(expect.objectContaining(expected));
});

test.each<[Parameters<Bench['run']>[0], readonly string[], string]>([
  ['budget show', ['acme/paymets'], 'did you mean acme/payments?'],
  ['budget show', ['4711'], 'the directory knows no group of this id'],
  ['budget show', ['runner-class/larg'], 'expected one of '],
  ['budget history', ['4711'], 'the directory knows no group of this id'],
])('%# what nobody knows is not shown as nothing: %j', async (command, args, said) => {
  const { run } = await budgetBench();
  const { code, out, err } = await run(command, args);
  expect([code, out]).toEqual([3, '']);
  expect(err).toContain(said);
});

test.each<[readonly string[], string]>([
  [[], 'expected a group and an amount'],
  [['acme/paymets', '5'], '"acme/paymets": the directory knows no group'],
  [['acme/platform', '5'], 'several limits like this; expected --limit with one of minutes-month, jobs-now'],
  [['acme/payments', '5', 'USD/month'], 'is in USD, and all money here is in EUR'],
  [['acme/payments', '5', 'widgets'], '"widgets": expected EUR, min'],
  [['acme/payments', '5', 'EUR/fortnight'], '"fortnight" in "5 EUR/fortnight": expected a period'],
  [['acme/payments', '5', '--mode', 'hard'], '--mode "hard": expected off'],
  [['acme/payments', '1.500', 'EUR/month'], 'may be 1500 or 1.5'],
])('budget set %j is refused with the remedy', async (args, message) => {
  const { run, live } = await budgetBench();
  const { code, err } = await run('budget set', [...args, '--reason', 'x']);
  expect([code, (await live())?.edit]).toEqual([3, 1]);
  expect(err).toContain(message);
});

test('more than threefold needs --confirm, and then somebody else', async () => {
  const { run, live } = await budgetBench();
  const args = ['acme/payments', '75', '--reason', 'x'];
  const asked = await run('budget set', args);
  expect([asked.code, (await live())?.edit]).toEqual([2, 1]);
  expect(asked.err).toContain('Say --confirm');
  const two = await run('budget set', [...args, '--confirm']);
  expect([two.code, (await live())?.edit]).toEqual([2, 1]);
  expect(two.err).toMatch(/Request r-\S+ waits for another user/);
  const id = /Request (r-\S+) waits/.exec(two.err)?.[1] ?? '';
  expect((await run('budget requests', [])).out).toContain('7.50 EUR → 75.00 EUR');
  expect((await run('budget approve', [id])).code).toBe(2);
  const done = await run('budget approve', [id, '--actor', 'zoe']);
  expect(done.out).toContain('approved; it is live');
  expect((await live())?.edit).toBe(2);
});

test('an edit of a set that is not live any more changes nothing and shows both versions', async () => {
  const { run, json, live } = await budgetBench();
  const base = (await live())?.set ?? '';
  await run('budget set', ['acme/payments', '8', '--reason', 'theirs']);
  const args = ['acme/payments', '9', '--reason', 'mine', '--base', base];
  const late = await run('budget set', args);
  expect(late.code).toBe(2);
  expect(late.err).toContain('by     jane, from cli: theirs');
  expect(late.err).toMatch(/theirs\n.*7\.50 EUR → 8\.00 EUR\nmine\n.*7\.50 EUR → 9\.00 EUR\n/);
  expect(await json('budget set', ...args)).toMatchObject({
    outcome: 'stale',
    base,
    live: { edit: 2 },
    mine: [{ to: 9_000_000 }],
    theirs: [{ to: 8_000_000 }],
  });
});

test('as long as no set is live nothing is changed unless told to begin one', async () => {
  const { run, live, json } = await budgetBench(LIMITS, false);
  expect((await json('budget ls')).limits).toHaveLength(5);
  expect((await run('budget ls', [])).out).toContain('no set was ever published');
  const args = ['acme/payments', '9', '--reason', 'x'];
  const refused = await run('budget set', args);
  expect([refused.code, await live()]).toEqual([1, undefined]);
  expect(refused.err).toContain('tollgate limits publish');
  expect((await run('budget export', [])).code).toBe(1);
  expect((await run('budget set', [...args, '--base', 'none'])).code).toBe(0);
  expect((await json('budget ls')).limits).toHaveLength(5);
});

test('a removed limit asks nothing, and those above it still do', async () => {
  const bench = await budgetBench();
  const { run, json } = bench;
  expect((await run('budget remove', ['acme/payments', 'money-day', '--reason', 'x'])).err).toContain(
    'expected one of money-month',
  );
  await approved(bench, 'budget remove', ['acme/payments', 'money-month', '--reason', 'x']);
  const { limits } = await json('budget show', 'acme/payments');
  expect(limits).toMatchObject([{ subject: 'group/100', own: false }]);
});

test('a grant is on top at once, shown with its id, and revoked by it', async () => {
  const { run, json, clock } = await budgetBench();
  const args = [
    'acme/payments',
    '+2.50',
    '--until',
    '31.12.2026',
    '--reason',
    'release',
    '--ticket',
    'FIN-1',
  ];
  expect((await run('budget grant', args)).code).toBe(0);
  const shown = await json('budget show', 'acme/payments');
  expect(shown.limits[0]).toMatchObject({ amount: 10_000_000, own: true });
  const [grant] = shown.exceptions;
  expect(grant).toMatchObject({
    kind: 'grant',
    what: '+2.50 on money-month',
    until: '2026-12-31',
    by: 'jane',
  });
  clock.advance(60_000);
  expect((await run('budget revoke', [grant.id, '--reason', 'done'])).code).toBe(0);
  expect((await json('budget show', 'acme/payments')).limits[0]).toMatchObject({ amount: 7_500_000 });
  expect((await run('budget revoke', ['g-none', '--reason', 'x'])).code).toBe(3);
});

test('a large grant waits until somebody else approves it', async () => {
  const { run, json } = await budgetBench();
  const args = ['acme/payments', '+20', '--until', '2026-12-31', '--reason', 'release'];
  const asked = await run('budget grant', args);
  expect(asked.code).toBe(2);
  const [{ id }] = (await json('budget requests')).requests;
  expect(asked.err).toContain(`tollgate budget approve ${id}`);
  expect((await run('budget requests', [])).out).toMatch(/pending +acme\/payments +money-month +\+20/);
  expect(await run('budget approve', [id])).toMatchObject({
    code: 2,
    err: expect.stringContaining('a request of your own'),
  });
  expect((await run('budget approve', [id, '--actor', 'bob'])).code).toBe(0);
  expect((await json('budget ls', '--group', '101')).limits).toMatchObject([{ amount: 27_500_000 }]);
  expect((await run('budget decline', [id, '--actor', 'eve', '--note', 'no'])).err).toContain(
    'bob has approved it already',
  );
  expect((await run('budget approve', ['r-none', '--actor', 'bob'])).code).toBe(2);
  expect((await run('budget requests', [])).out).toBe('No request waits.\n');
});

test('a frozen group starts no job, is shown as frozen, and is lifted by its name', async () => {
  const { run, json } = await withJobs();
  const args = ['acme/payments', '--until', '2026-12-01', '--reason', 'migration'];
  expect((await run('freeze', args)).code).toBe(0);
  expect((await json('budget show', 'acme/payments')).exceptions).toMatchObject([
    { kind: 'freeze', subject: 'group/101', until: '2026-12-01', reason: 'migration' },
  ]);
  expect((await run('unfreeze', ['acme/platform', '--reason', 'x'])).err).toContain('is not frozen itself');
  expect((await run('unfreeze', ['acme/payments', '--reason', 'done'])).code).toBe(0);
  expect((await json('budget show', 'acme/payments')).exceptions).toEqual([]);
});

test('a broken glass is capped, listed, ended and reviewed', async () => {
  const { run, json, clock } = await budgetBench();
  const args = ['acme/payments', '--jobs', '3', '--until', '2026-11-23', '--reason', 'incident'];
  expect((await run('breakglass', args)).err).toContain('it would let all users in');
  expect((await run('breakglass', [...args, '--users', '5,6'])).code).toBe(0);
  const [glass] = (await json('breakglass ls')).breakglasses;
  expect(glass).toMatchObject({ subject: 'group/101', users: [5, 6], jobs: 3, used: 0, open: true });
  expect((await run('breakglass ls', [])).out).toMatch(/open +acme\/payments +0 of 3/);
  clock.advance(60_000);
  expect((await run('breakglass end', [glass.id, '--reason', 'over'])).code).toBe(0);
  expect((await run('breakglass review', [glass.id, '--reason', 'fine', '--actor', 'bob'])).code).toBe(0);
  expect((await json('breakglass ls')).breakglasses).toMatchObject([
    { open: false, reviewedBy: 'bob', note: 'fine' },
  ]);
});

test('an export is edited and imported: shown with totals first, then live as a whole', async () => {
  const { run, json, live, folder } = await withJobs();
  const file = join(folder, 'limits.csv');
  await run('budget export', ['--out', 'limits.csv', '--bom']);
  expect(await json('budget import', 'limits.csv')).toMatchObject({ rows: [], stale: false });
  writeFileSync(file, readFileSync(file, 'utf8').replace(',9000,', ',12000,').replace(',7.50,', ',2,'));
  const { code, out } = await run('budget import', ['limits.csv']);
  expect(code).toBe(0);
  expect(out).toContain('5 rows read\n');
  expect(out).toMatch(/money per month +now +2 +9,007\.50 EUR +2 +12,002\.00 EUR +\+2,994\.50 EUR\n/);
  expect(out).toContain('loosens   acme           money-month  amount  9,000.00 EUR → 12,000.00 EUR');
  expect(out).toContain('3 of 5 jobs would have failed');
  expect((await live())?.edit).toBe(1);
  const apply = ['limits.csv', '--apply', '--reason', 'Q4', '--confirm'];
  expect((await run('budget import', apply)).code).toBe(0);
  expect((await live())?.edit).toBe(2);
  expect((await json('budget history', '--count', '1')).edits).toMatchObject([
    { source: 'file limits.csv', why: 'Q4' },
  ]);
  // The same file again: it is an edit of a set that is gone, and both versions are shown.
  const again = await json('budget import', ...apply);
  expect(again).toMatchObject({ outcome: 'stale', mine: [{ to: 12_000_000_000 }, { to: 2_000_000 }] });
});

test('the last edit is taken back by an edit of its own, and only while it is the last', async () => {
  const { run, json, live } = await budgetBench();
  await run('budget set', ['acme/payments', '9', '--reason', 'more people']);
  const dry = await run('budget undo', ['--dry-run']);
  expect(dry.out).toContain('9.00 EUR → 7.50 EUR');
  expect((await live())?.edit).toBe(2);
  expect((await run('budget undo', ['2'])).code).toBe(0);
  expect((await json('budget show', 'acme/payments')).limits[0]).toMatchObject({ amount: 7_500_000 });
  expect((await json('budget history', '--count', '1')).edits).toMatchObject([
    { edit: 3, why: 'undoes edit 2: more people', rows: [{ from: 9_000_000, to: 7_500_000 }] },
  ]);
  const late = await run('budget undo', ['2']);
  expect([late.code, (await live())?.edit]).toEqual([2, 3]);
  expect(late.err).toContain('others edited since');
  // Taken back itself, and what takes two by hand takes two here.
  expect((await run('budget undo', [])).code).toBe(0);
  expect((await json('budget show', 'acme/payments')).limits[0]).toMatchObject({ amount: 9_000_000 });
  await run('budget set', ['acme/payments', '1', '--reason', 'slip', '--confirm']);
  const back = await run('budget undo', ['--confirm']);
  expect(back.code).toBe(2);
  expect(back.err).toMatch(/Request r-\S+ waits for another user/);
});

test('all limits of a group are changed by a share, as one edit', async () => {
  const { run, json, live } = await budgetBench();
  const dry = await run('budget scale', ['acme/payments', '+20%', '--dry-run']);
  expect(dry.out).toContain('7.50 EUR → 9.00 EUR');
  expect(
    (await run('budget scale', ['acme/payments', '+20%', '--round', '5', '--reason', 'year'])).code,
  ).toBe(0);
  expect((await json('budget show', 'acme/payments')).limits[0]).toMatchObject({ amount: 10_000_000 });
  expect((await live())?.edit).toBe(2);
  const { code, err } = await run('budget scale', ['acme/payments', '20%', '--reason', 'year']);
  expect([code, err.includes('expected a share such as +8%')]).toEqual([3, true]);
});

test('only --prune takes limits out that the file does not name', async () => {
  const bench = await budgetBench();
  const { run, json, folder } = bench;
  const { out } = await run('budget export', []);
  writeFileSync(join(folder, 'few.csv'), out.split('\r\n').slice(0, 3).join('\r\n'));
  const stay = await run('budget import', ['few.csv']);
  expect(stay.out).toContain('3 limits are not in the file and stay');
  expect(stay.out).toContain('No limit differs');
  await approved(bench, 'budget import', ['few.csv', '--prune', '--apply', '--reason', 'x']);
  expect((await json('budget ls')).limits).toHaveLength(2);
});

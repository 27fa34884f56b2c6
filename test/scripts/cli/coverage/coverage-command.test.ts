import { expect, test } from 'vitest';
import { budgetBench } from '../budget/budget-bench.ts';

const TODAY = '2026-11-21';

async function bench(runners: Readonly<Record<string, number>>) {
  const limitEdits = await budgetBench();
  const total = (prefixes: string): number =>
    Object.entries(runners).reduce(
      (sum, [name, jobs]) => sum + (prefixes.includes(name.charAt(0)) ? jobs : 0),
      0,
    );
  const counts = [
    ['ran', total('ab')],
    ['unasked', total('b')],
  ] as const;
  const named = new Map([...counts, ...Object.entries(runners)].filter(([, jobs]) => jobs > 0));
  const plain = new Map(counts.filter(([, jobs]) => jobs > 0));
  await limitEdits.rollup.commit({
    contributions: [],
    usage: [
      { key: { subject: 'instance', day: TODAY }, delta: plain },
      { key: { subject: 'group/100', day: TODAY }, delta: named },
      { key: { subject: 'group/101', day: TODAY }, delta: named },
    ],
  });
  const run = (...args: readonly string[]) => limitEdits.run('coverage', args);
  return { run };
}

test('where jobs passed by: which runners, what to do once for all that it helps, and exit code 2', async () => {
  const { run } = await bench({ 'a:41': 90, 'b:42': 6, 'b:43': 3, 'a:?': 1 });
  const { code, out } = await run();
  expect(code).toBe(2);
  expect(out).toContain('91 % of the jobs that ran were asked about: 91 of 100.');
  expect(out).toContain('9 bypassed Tollgate, the last on 2026-11-21; they were charged, not checked.');
  expect(out).toMatch(/^42 +not known +6 +0 +6 +0 % +2026-11-21$/m);
  expect(out).toMatch(/^Runners 42, 43: Its version is not known/m);
  expect(out).toContain('1 of 3 runners ask about every job');
  expect(out).toMatch(/^acme +9 +91 +100 +91 % +2026-11-21$/m);
  expect(out).not.toMatch(/^41 /m);
  expect((await run('--all')).out).toMatch(/^41 +not known +0 +90 +90 +100 %$/m);
});

test('one group, as JSON; a group that nobody knows, a project and a day too many are wrong usage', async () => {
  const { run } = await bench({ 'a:41': 5, 'b:42': 5 });
  const { out, code } = await run('--group', 'acme/payments', '--json');
  expect(code).toBe(2);
  expect(JSON.parse(out)).toMatchObject({
    subject: 'group/101',
    total: { ran: 10, asked: 5, bypass: 5 },
    runners: [{ runnerId: 42 }, { runnerId: 41 }],
  });
  for (const words of [
    ['--group', 'nobody'],
    ['--group', 'project/1001'],
    ['--days', '32'],
    ['--days', '0'],
  ])
    expect((await run(...words)).code).toBe(3);
});

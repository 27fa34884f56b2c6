import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { approveCommandOn } from '../../../../scripts/cli/budget/requests-command.ts';
import { undoCommandOn } from '../../../../scripts/cli/budget/undo-command.ts';
import { planAdoptCommandOn } from '../../../../scripts/cli/plan/adopt-command.ts';
import { planExportCommandOn, planImportCommandOn } from '../../../../scripts/cli/plan/file-commands.ts';
import { planLsCommandOn, planNewCommandOn } from '../../../../scripts/cli/plan/ls-command.ts';
import { planShowCommandOn } from '../../../../scripts/cli/plan/show-command.ts';
import { budgetBench } from '../budget/budget-bench.ts';

const NAME = 'Year 2027';

async function house() {
  const bench = await budgetBench();
  await bench.run(planNewCommandOn, [NAME, '--from', '2027-01-01']);
  const file = join(bench.folder, 'plan.csv');
  /** The file as exported, with one cell changed. */
  const edited = async (from: string, to: string, ...more: readonly string[]) => {
    await bench.run(planExportCommandOn, [NAME, '--out', file, ...more]);
    const text = readFileSync(file, 'utf8');
    if (!text.includes(from)) throw new Error(text);
    writeFileSync(file, text.replace(from, to));
    return bench.run(planImportCommandOn, [NAME, file, ...more]);
  };
  return { ...bench, file, edited };
}

test('a plan goes out as a file, comes back, and stands beside what is in force', async () => {
  const { run, json, edited } = await house();
  expect((await run(planLsCommandOn, [])).out).toContain(NAME);
  expect((await edited('7.5,7.5,', '7.5,+20%,')).out).toMatch(/^limits planned: 1;/);
  const { out } = await run(planShowCommandOn, [NAME]);
  const lines = out.split('\n').map((line) => line.trim().split(/ {2,}/));
  expect(lines[0]).toEqual([NAME, expect.stringMatching(/^p-/), 'from 2027-01-01, a draft']);
  expect(lines[3]).toEqual(['acme/payments', 'Money per month', '7.50', '9.00', '20']);
  expect(lines.at(-3)).toEqual(['Money per month', '2', '9,007.50', '9,009.00', '1.50']);
  const told = await json(planShowCommandOn, NAME);
  expect(told.rows.map(({ path, planned }: { path: string; planned: number }) => [path, planned])).toEqual([
    ['acme', 9_000_000_000],
    ['acme/payments', 9_000_000],
    ['acme/platform', 1_200_000],
  ]);
});

test('a file that came back from a spreadsheet of another country says the same', async () => {
  const { edited, json } = await house();
  const { code } = await edited('7,5;7,5;', '7,5;8,25;', '--delimiter', ';', '--decimal', ',');
  expect(code).toBe(0);
  const { rows } = await json(planShowCommandOn, NAME);
  expect(rows[1].planned).toBe(8_250_000);
});

test('rows that cannot be read are told with their line, and nothing is written', async () => {
  const { edited, json } = await house();
  const refused = await edited('7.5,7.5,', '7.5,"1.000",');
  expect([refused.code, refused.err]).toEqual([
    3,
    expect.stringMatching(/plan\.csv: line 3, limit: '1\.000' may be 1000 or 1/),
  ]);
  const foreign = await edited('acme/payments,101', 'acme/payments,102');
  expect([foreign.code, foreign.err]).toEqual([3, expect.stringContaining('line 3, group_path')]);
  const { plans } = await json(planLsCommandOn);
  expect(plans[0].amounts).toBe(0);
});

test('adopting shows what it does, waits for a second person, and is taken back', async () => {
  const { run, edited, json, live } = await house();
  await edited('7.5,7.5,', '7.5,9,');
  const before = await live();
  const shown = await run(planAdoptCommandOn, [NAME, '--dry-run']);
  expect(shown.code).toBe(0);
  expect(shown.out).toContain('money-month-2027-01-01');
  expect(await live()).toEqual(before);
  const asked = await run(planAdoptCommandOn, [NAME, '--reason', 'next year']);
  expect(asked.code).toBe(2);
  const id = /Request (r-\S+) waits/.exec(asked.err)?.[1] ?? '';
  expect(await json(planShowCommandOn, NAME)).toMatchObject({ state: 'asked', request: id });
  expect((await run(approveCommandOn, [id, '--actor', 'zoe'])).code).toBe(0);
  expect(await json(planShowCommandOn, NAME)).toMatchObject({ state: 'adopted' });
  const again = await run(planAdoptCommandOn, [NAME, '--reason', 'again']);
  expect([again.code, again.err]).toEqual([3, expect.stringContaining('changes nothing')]);
  const back = await run(undoCommandOn, ['--reason', 'not yet']);
  expect(back.code).toBe(2);
  const undo = /Request (r-\S+) waits/.exec(back.err)?.[1] ?? '';
  expect((await run(approveCommandOn, [undo, '--actor', 'zoe'])).code).toBe(0);
  expect(await json(planShowCommandOn, NAME)).toMatchObject({ state: 'draft' });
});

test.each([
  { args: ['Yaer 2027'], says: 'did you mean "Year 2027"?' },
  { args: [], says: 'expected a plan' },
])('a plan that is not there is told: $args', async ({ args, says }) => {
  const { run } = await house();
  const { code, err } = await run(planShowCommandOn, args);
  expect([code, err]).toEqual([3, expect.stringContaining(says)]);
});

test('a plan for a day that is over is refused', async () => {
  const { run } = await house();
  const { code, err } = await run(planNewCommandOn, ['Past', '--from', '2026-01-01']);
  expect([code, err]).toEqual([3, expect.stringContaining('expected a day to come')]);
});

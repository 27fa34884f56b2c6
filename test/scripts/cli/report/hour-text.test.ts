import { expect, test } from 'vitest';
import { spendText } from '../../../../scripts/cli/report/spend.ts';
import { USERS } from '../../../functions/console/house.ts';
import { sampleWorld } from '../../../functions/console/sample-world.ts';

test('hours are a line for each hour of the day and a column for each weekday, with the total below', async () => {
  const { read } = await sampleWorld(true);
  const answer = await read.spend({ by: 'hour' }, USERS.finance);
  if (answer.outcome !== 'reported') throw new Error(answer.outcome);
  const { report } = answer;
  const days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
  const rows = Array.from({ length: 7 * 24 - 1 }, (_, at) => {
    const name = `${days[Math.floor(at / 24)]} ${String(at % 24).padStart(2, '0')}:00`;
    return { ...report.total, name, micros: (at + 1) * 1_000_000, trend: [] };
  });
  const lines = spendText({ ...report, rows }, 200).split('\n');
  expect(lines.find((line) => line.startsWith('hour'))).toMatch(/Mon +Tue +Wed +Thu +Fri +Sat +Sun$/);
  const cells = lines.filter((line) => /^\d\d:00 /.test(line)).map((line) => line.trim().split(/ +/));
  expect(cells).toHaveLength(24);
  expect(Number(cells[13]?.[1])).toBe(14);
  expect(cells.map((line) => line.length)).toEqual([...Array(23).fill(8), 7]);
  expect(lines.filter((line) => line.startsWith('total'))).toHaveLength(1);
});

import { expect, test } from 'vitest';
import { spendText } from '../../../../scripts/cli/report/spend.ts';
import { spendAnswer } from '../../../functions/console/pages/fake-report.ts';

test('hours are a line for each hour of the day and a column for each weekday, with the total below', () => {
  const answer = spendAnswer({ by: 'hour' }, 1);
  if (answer.outcome !== 'reported') throw new Error(answer.outcome);
  const { report } = answer;
  const gone = report.rows.filter(({ name }) => name !== 'Sun 23:00');
  const lines = spendText({ ...report, rows: gone }, 200).split('\n');
  expect(lines.find((line) => line.startsWith('hour'))).toMatch(/Mon +Tue +Wed +Thu +Fri +Sat +Sun$/);
  const cells = lines.filter((line) => /^\d\d:00 /.test(line)).map((line) => line.trim().split(/ +/));
  expect(cells).toHaveLength(24);
  const mondayAtOne = report.rows.find(({ name }) => name === 'Mon 13:00')?.micros ?? 0;
  expect(Number(cells[13]?.[1])).toBe(mondayAtOne / 1e6);
  expect(cells.map((line) => line.length)).toEqual([...Array(23).fill(8), 7]);
  expect(lines.filter((line) => line.startsWith('total'))).toHaveLength(1);
});

import { expect, test } from 'vitest';
import { coloursWanted, cutToColumns, printable, table } from '../../../scripts/terminal/table.ts';

const WIDE = Number.POSITIVE_INFINITY;

test('columns are aligned, numbers to the right, no blanks at the end of a line', () => {
  const columns = [{ title: 'rule' }, { title: 'n', align: 'right' }, { title: 'why' }] as const;
  expect(
    table(
      columns,
      [
        ['budgets', '2', ''],
        ['x', '10', 'text'],
      ],
      WIDE,
    ),
  ).toBe('rule      n  why\nbudgets   2\nx        10  text\n');
});

test('numbers of a column have as many decimals as the longest of them, and counts have none', () => {
  const rows = [
    ['a', '2.50'],
    ['b', '0.125'],
    ['c', '1,000.5 EUR'],
    ['d', '3'],
    ['e', '1.2.3'],
  ];
  expect(
    table([{}, { align: 'right', even: true }], rows, 80)
      .split('\n')
      .map((line) => line.slice(3).trim()),
  ).toEqual([...['2.500', '0.125', '1,000.500 EUR', '3', '1.2.3'], '']);
  expect(
    table(
      [{}, {}],
      [
        ['a', '2.50'],
        ['b', '0.125'],
      ],
      80,
    ),
  ).toBe('a  2.50\nb  0.125\n');
});

test('characters that are two columns wide keep the columns aligned, and are cut to fit', () => {
  const rows = [
    ['課金', 'a'],
    ['pay', 'b'],
  ];
  expect(table([{}, {}], rows, WIDE)).toBe('課金  a\npay   b\n');
  expect(cutToColumns('課金課金', 6)).toBe('課金…');
});

test.each([
  [true, {}, true],
  [false, {}, false],
  [true, { NO_COLOR: '1' }, false],
  [true, { NO_COLOR: '' }, true],
  [true, { TERM: 'dumb' }, false],
  [false, { FORCE_COLOR: '1' }, true],
  [true, { FORCE_COLOR: '0' }, false],
  [false, { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
])('terminal %s with %j: colours %s', (terminal, env, wanted) => {
  expect(coloursWanted(terminal, env)).toBe(wanted);
});

test('names cannot steer the terminal', () => {
  expect(printable('a\u001b[31mb\u202ec\u0007')).toBe('a�[31mb�c�');
  expect(printable('pay\u200bments\u200f\n1.200')).toBe('pay�ments�\n1.200');
});

import { expect, test } from 'vitest';
import { editDocument } from '../../../../../functions/core/limits/edit-document.ts';
import type { ScaleLimits } from '../../../../../functions/core/limits/edit-model.ts';

const DOCUMENT = {
  limits: [
    { on: 'instance', money: 10_000, per: 'month' },
    { on: { group: 100 }, money: '900.50', per: 'month' },
    { on: { group: 100 }, minutes: 500, per: 'month' },
    { on: { group: 101 }, money: 'unlimited', per: 'month' },
    { on: { group: 104 }, money: 3, per: 'month', soft: '80%' },
    { on: { project: 1 }, money: 0, per: 'month' },
    { on: { project: 1 }, money: '0.10', per: 'day' },
    { on: { each: 'user', group: 100 }, money: 5, per: 'day' },
    { on: { group: 200 }, money: 100, per: 'month' },
  ],
};
/** 100 ▸ 101 ▸ 104 ▸ project 1. */
const BELOW_100 = ['group/100', 'group/101', 'group/104', 'project/1'];
const context = {
  actor: 'fritz',
  nowMs: 0,
  newId: () => 'id',
  reaches: (above: string, subject: string) => above === 'group/100' && BELOW_100.includes(subject),
};

function scaled(edit: Omit<ScaleLimits, 'kind'>) {
  const edited = editDocument(DOCUMENT, [{ kind: 'scale', ...edit }], context);
  if (!edited.ok) return edited.problems.map(({ path, message }) => `${path.at(-1)}: ${message}`);
  const { limits } = edited.document as typeof DOCUMENT;
  return limits.map(({ money, minutes }) => money ?? minutes);
}

test('all limits of a kind in a place and below it go by a share; unlimited, 0, caps and others stay', () => {
  expect(scaled({ subject: 'group/100', by: '+8 %' })).toEqual([
    ...[10_000, '972.54', 500, 'unlimited', '3.24', 0, '0.108', 5, 100],
  ]);
});

test.each([
  ['its own alone', { subject: 'group/100', by: '-50%', below: false }, [1, '450.25']],
  ['minutes', { subject: 'group/100', by: '+10%', unit: 'minutes' }, [2, '550']],
  ['everything', { subject: 'instance', by: '+12,5%' }, [8, '112.5']],
  ['to tens', { subject: 'instance', by: '+8%', round: 10 }, [1, '970']],
  ['a half up', { subject: 'group/200', by: '+5%', round: '10' }, [8, '110']],
  ['never to nothing', { subject: 'group/104', by: '+1%', round: 100 }, [4, '100']],
] as const)('%s', (_, edit, [index, amount]) => {
  expect(scaled(edit)[index]).toBe(amount);
});

test.each([
  [{ subject: 'group/100', by: '8%' }, "by: '8%'; expected a share such as +8% or -12.5%"],
  [{ subject: 'group/100', by: '-101%' }, "by: '-101%' would be less than nothing"],
  [{ subject: 'group/100', by: '+8%', round: '0' }, "round: '0'; expected a step above 0, such as 10 or 0.5"],
] as const)('%j is refused', (edit, problem) => {
  expect(scaled(edit)).toEqual([problem]);
});

test('a place without such limits is no change', () => {
  expect(scaled({ subject: 'group/300', by: '+8%' })).toEqual(
    DOCUMENT.limits.map(({ money, minutes }) => money ?? minutes),
  );
});

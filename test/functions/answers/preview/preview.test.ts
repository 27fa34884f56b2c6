import { expect, test } from 'vitest';
import { consoleHouse, LIMITS, USERS } from '../../console/house.ts';

const edit = (amount: number, subject = 'group/101') =>
  ({ kind: 'set', subject, limit: 'money-month', amount }) as const;

async function live() {
  const house = consoleHouse();
  const set = await house.apply(LIMITS);
  return { ...house, set };
}

test('before it is saved: the differences and the new run-out date', async () => {
  const { read, counts, used, set } = await live();
  counts('group/101', 'money-month', '2026-11', 200_000_000);
  for (let day = 1; day <= 20; day += 1)
    await used('group/101', `2026-11-${String(day).padStart(2, '0')}`, 10_000_000, 10);
  const shown = await read.preview([edit(150)], set, USERS.owner);
  if (shown.outcome !== 'valid') throw new Error(JSON.stringify(shown));
  expect(shown.stale).toBe(false);
  const [effect] = shown.effects;
  expect(effect?.before?.forecast?.outcome).toBe('lasts');
  expect(effect?.after?.forecast?.outcome).toBe('used_up');
  expect('document' in shown).toBe(false);
});

test('nobody learns of a subject by asking what an edit of it would do', async () => {
  const { read, set } = await live();
  const foreign = await read.preview([edit(1, 'group/200')], set, USERS.owner);
  const never = await read.preview([edit(1, 'group/999')], set, USERS.owner);
  expect([foreign, never]).toEqual([
    { outcome: 'unknown_subject', subject: 'group/200' },
    { outcome: 'unknown_subject', subject: 'group/999' },
  ]);
});

test('a pool above what they see is not told', async () => {
  const { read, set } = await live();
  const shown = await read.preview([edit(950)], set, USERS.owner);
  const all = await read.preview([edit(950)], set, USERS.finance);
  expect(shown.outcome === 'valid' && shown.oversubscription).toEqual([]);
  expect(all.outcome === 'valid' && all.oversubscription.map(({ subject }) => subject)).toContain(
    'group/100',
  );
});

/** The list of the last statements: what it asks the table, and how it goes over the end of a block of numbers. */
import { expect, test } from 'vitest';
import { placesOf } from '../../../../functions/answers/reading/scope.ts';
import {
  closedMonthsOf,
  lastStatementsOf,
  statementNumbersOf,
} from '../../../../functions/answers/statement/closed-months.ts';
import { directoryOf } from '../../../../policies/directory.ts';

const ACME = { id: 101, path: 'acme', personal: false };
const BOOKS = { instance: 'gitlab.example.com', description: 'table tollgate-ledger' };

function house(last: number) {
  const asked: string[] = [];
  const chain = {
    of: async () => [],
    register: async () => {
      asked.push('register');
      return { last, lookedAtMs: 0 };
    },
    numbers: async (from: number) => {
      asked.push(`numbers from ${from}`);
      const end = Math.min(last, Math.floor(from / 1000) * 1000 + 999);
      return Array.from({ length: Math.max(0, end - from + 1) }, (_, index) => {
        const number = from + index;
        return { number, subject: number % 2 === 0 ? 'group/101' : 'group/7', month: '2026-10', sha256: '' };
      });
    },
  };
  const places = async () => {
    asked.push('places');
    return placesOf(directoryOf([ACME]));
  };
  const context = { places, books: { ...BOOKS, chain } };
  return {
    asked,
    read: lastStatementsOf(context),
    numbers: statementNumbersOf(context as never),
    months: closedMonthsOf(context as never),
  };
}

test('the last statements are the youngest first, over the end of a block, with the paths of their groups', async () => {
  const { read, asked } = house(1_002);
  const found = await read(5);
  expect(found.map(({ number, group }) => [number, group])).toEqual([
    [1_002, 'acme'],
    [1_001, undefined],
    [1_000, 'acme'],
    [999, undefined],
    [998, 'acme'],
  ]);
  expect(asked.toSorted()).toEqual(['numbers from 1000', 'numbers from 998', 'places', 'register']);
});

test('within one block the numbers are read once, and where none was given there is nothing', async () => {
  const some = house(3);
  expect((await some.read(5)).map(({ number }) => number)).toEqual([3, 2, 1]);
  expect(some.asked.toSorted()).toEqual(['numbers from 1', 'places', 'register']);
  expect(await house(0).read(5)).toEqual([]);
});

test('a block that has only the last number is read, too', async () => {
  const { read, numbers } = house(1_000);
  expect((await read(2)).map(({ number }) => number)).toEqual([1_000, 999]);
  expect(await numbers(998)).toMatchObject({
    numbers: [{ number: 998 }, { number: 999 }],
    last: 1_000,
    next: 1_000,
  });
  expect(await house(999).numbers(998)).not.toHaveProperty('next');
});

const NOTHING = { admin: false, finance: false, ownedGroupIds: [], viewerGroupIds: [] };

test.each([
  ['the group’s viewer', { ...NOTHING, viewerGroupIds: [101] }, ['acme', undefined]],
  ['finance', { ...NOTHING, finance: true }, ['acme', 'all groups']],
  ['a viewer of another group', { ...NOTHING, viewerGroupIds: [7] }, [undefined, undefined]],
])('%s reads the closed months of the groups they see, and no others', async (_, roles, seen) => {
  const { months } = house(0);
  const read = async (group: string) =>
    (await months(group, { id: 5, username: 'ann', name: 'Ann', roles }))?.group;
  expect([await read('acme'), await read('instance')]).toEqual(seen);
  expect(await read('no-such-group')).toBeUndefined();
});

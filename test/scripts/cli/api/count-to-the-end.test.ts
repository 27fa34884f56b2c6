import { expect, test } from 'vitest';
import { countToTheEnd } from '../../../../scripts/cli/api/api-in-process.ts';

const PAGES = [
  { days: 30, daysCounted: 0, jobsRead: 0, next: 'a' },
  { days: 30, daysCounted: 12, jobsRead: 20_000, next: 'b' },
  { days: 30, daysCounted: 30, jobsRead: 31_000 },
];

async function counted(pages: readonly (typeof PAGES)[number][], progress: boolean) {
  const asked: unknown[] = [];
  let shown = '';
  const io = {
    progress,
    err: (text: string): void => {
      shown += text;
    },
  };
  const ask = async (query: object) => {
    asked.push(query);
    return pages[asked.length - 1];
  };
  const last = await countToTheEnd(ask, (page) => page, io);
  return { last, asked, shown: shown.split('\r').map((line) => line.replace('\u001b[K', '')) };
}

test('a command counts request by request to the last day, and says on the terminal how far it is', async () => {
  const { last, asked, shown } = await counted(PAGES, true);
  expect(last).toEqual(PAGES[2]);
  expect(asked).toEqual([{}, { cursor: 'a' }, { cursor: 'b' }]);
  expect(shown).toEqual([
    '',
    '0 of 30 days counted, 0 records read',
    '12 of 30 days counted, 20,000 records read',
    '',
  ]);
});

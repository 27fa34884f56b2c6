import { USERS } from '../../../test/functions/console/house.ts';
import { tenThousandGroups } from '../../../test/support/reports/ten-thousand-groups.ts';
import { twoYearsOfGroups } from '../../../test/support/reports/two-years-of-groups.ts';
import { type Figure, ratioOfRounds } from './figure.ts';

const ROUNDS = 15;
/** The first calls are compiled. */
const WARM_CALLS = 10;
/** One takes milliseconds, and CPU time moves in steps of them on some machines. */
const PARSES = 10;

/** CPU of the pages of finance with ten thousand groups, beside that of parsing the counters or the month they are made of as JSON. */
export async function deskFigures(): Promise<readonly Figure[]> {
  const { read, copies } = await tenThousandGroups();
  const counters = JSON.stringify(copies);
  const books = await twoYearsOfGroups();
  const month = JSON.stringify([...books.rows].map(([id, sum]) => [id, [...sum]]));
  const years = { from: '2024-11-22', to: '2026-11-21' };
  const { finance } = USERS;
  const figure = async (
    name: string,
    atMost: number,
    ask: () => Promise<unknown>,
    text: string,
    note: string,
  ): Promise<Figure> => {
    const page = async () => cpuMicros(ask);
    const base = async () => (await cpuMicros(async () => parsed(text))) / PARSES;
    for (let call = 0; call < WARM_CALLS; call += 1) {
      await page();
      await base();
    }
    const { median, range, noisy } = await ratioOfRounds(ROUNDS, page, base);
    return { name, value: median, must: { atMost }, unit: '×', kind: 'ratio', range, noisy, note };
  };
  const items = 'JSON.parse of its 20 000 counters';
  return [
    await figure(
      `desk: CPU of the overview of 10000 groups ÷ ${items}`,
      8,
      () => read.overview({ max: 50 }, finance),
      counters,
      'ranked by trouble, with eight weeks of the fifty that are shown; limits, groups and copies are in memory',
    ),
    await figure(
      `desk: CPU of a search over 10000 groups ÷ ${items}`,
      8,
      () => read.overview({ max: 50, search: 'team' }, finance),
      counters,
      'every group matches',
    ),
    await figure(
      `desk: CPU of the list of 10000 limits ÷ ${items}`,
      8.5,
      () => read.budgets({ sort: 'trouble', caps: true, max: 50 }, finance),
      counters,
      'ranked by trouble',
    ),
    await figure(
      'desk: CPU of a report of two years of 10000 groups ÷ JSON.parse of the groups of one month',
      50,
      () => books.read.spend(years, finance),
      month,
      'beside the two years before: sixty-six sheets of ten thousand rows',
    ),
  ];
}

function parsed(text: string): void {
  for (let parse = 0; parse < PARSES; parse += 1) JSON.parse(text);
}

async function cpuMicros(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

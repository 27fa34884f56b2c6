import { openBudget } from '../../../../scripts/cli/api/open-api.ts';

/** Page, API and command line print the same number of the same limit. */

import { join } from 'node:path';
import fc from 'fast-check';
import type { Hono } from 'hono';
import { expect, test } from 'vitest';
import { createConsoleRead } from '../../../../functions/answers/create-console-read.ts';
import { coverageShareText } from '../../../../functions/answers/groups/coverage.ts';
import type { CoverageView, SubjectView } from '../../../../functions/answers/groups/model.ts';
import { placesOf } from '../../../../functions/answers/reading/scope.ts';
import type { LimitRow } from '../../../../functions/answers/status/model.ts';
import { forecastText } from '../../../../functions/answers/status/texts.ts';
import { API_PATH, createApi } from '../../../../functions/console/api/create-api.ts';
import { createPages } from '../../../../functions/console/pages/create-pages.ts';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import type { Counter } from '../../../../functions/core/ledger/ledger.ts';
import type { LedgerStore } from '../../../../functions/core/ledger/store.ts';
import { createLimitsDesk } from '../../../../functions/core/limits/create-limits-desk.ts';
import { createUploads } from '../../../../functions/core/limits/limit-table.ts';
import type { SignInEnv } from '../../../../functions/core/signin/model.ts';
import { MemoryRollupStore } from '../../../../functions/core/usage/rollup-store.ts';
import type { UsageTally } from '../../../../functions/core/usage/usage.ts';
import { dayIn, two } from '../../../../policies/limits/calendar.ts';
import type { Unit } from '../../../../policies/units/unit.ts';
import { bareAmountText } from '../../../../policies/units/unit-texts.ts';
import { withoutAbsent } from '../../../../policies/without-absent.ts';
import { readDirectory, readPolicy } from '../../../../scripts/policy/read-documents.ts';
import { servedTo, USERS } from '../../../functions/console/house.ts';
import { someLimits } from '../../../policies/documents.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { budgetBench } from './budget-bench.ts';

/** What a mouth says of one limit. Amounts as they are printed, `-` before what is passed. */
interface Figures {
  readonly limit: string;
  readonly used: string;
  readonly held: string;
  readonly left: string;
  readonly percent: string;
  /** An instant, `lasts`, `used_up`, or nothing. */
  readonly runsOut: string;
}

/** What a limit's period comes to, as the sentence of a mouth has it; nothing where nobody knows. */
interface SaidForecast {
  readonly limit: string;
  readonly text: string;
}

const SUBJECT = 'group/101';
const GROUP = 'acme/payments';

interface Case {
  readonly limits: readonly object[];
  /** By the limit's id. */
  readonly counters: ReadonlyMap<string, Pick<Counter, 'committed' | 'settled'>>;
  /** On the days before today, micros. */
  readonly perDay: readonly number[];
  /** The zone of the money; everything else is in UTC. */
  readonly zone: string;
}

/** A counter about where the amount is: what stands on an edge is where two computations part. */
const counted = (whole: number): fc.Arbitrary<Pick<Counter, 'committed' | 'settled'>> =>
  fc
    .tuple(
      fc.oneof(
        fc.integer({ min: 0, max: Math.max(1, whole * 2) }),
        fc.integer({ min: Math.max(0, whole - 2), max: whole + 2 }),
      ),
      fc.double({ min: 0, max: 1, noNaN: true }),
    )
    .map(([committed, share]) => ({ committed, settled: Math.floor(committed * share) }));

const written = fc.oneof(fc.constant('unlimited' as const), fc.integer({ min: 0, max: 500 }));

const cases: fc.Arbitrary<Case> = fc
  .record({
    money: written,
    minutes: written,
    // Never above 9,999 %, for which the page has no room.
    jobs: fc.integer({ min: 2, max: 50 }),
    per: fc.constantFrom('day', 'month', 'year', 'once'),
    zone: fc.constantFrom('UTC', 'Europe/Berlin'),
    mode: fc.constantFrom('enforce', 'warn'),
    perDay: fc.oneof(
      fc.array(fc.integer({ min: 0, max: 30_000_000 }), { maxLength: 10 }),
      // Enough for a band, a trend and past forecasts.
      fc.array(fc.integer({ min: 1, max: 3_000_000 }), { minLength: 60, maxLength: 90 }),
    ),
  })
  .chain(({ money, minutes, jobs, per, zone, mode, perDay }) =>
    fc
      .tuple(
        counted(money === 'unlimited' ? 1_000_000 : money * 1_000_000),
        // Whole minutes: which way a part of one is rounded is another promise.
        counted(minutes === 'unlimited' ? 10 : minutes).map(({ committed, settled }) => ({
          committed: committed * 60,
          settled: settled * 60,
        })),
        fc.integer({ min: 0, max: 100 }),
      )
      .map(([moneyCount, minutesCount, running]) => ({
        limits: [
          { on: { group: 101 }, money, per, ...(per !== 'once' && { zone }), mode },
          { on: { group: 101 }, minutes, per: 'month' },
          // What is counted at once is held, and never final.
          { on: { group: 101 }, jobs },
        ],
        counters: new Map([
          [`money-${per}`, moneyCount],
          ['minutes-month', minutesCount],
          ['jobs-now', { committed: running, settled: 0 }],
        ]),
        perDay,
        zone: per === 'once' ? 'UTC' : zone,
      })),
  );

/** Nobody may spend anything, and nobody has: the chart has no height. */
const BLOCKED: Case = {
  limits: [
    { on: { group: 101 }, money: 0, per: 'once' },
    { on: { group: 101 }, minutes: 'unlimited', per: 'month' },
    { on: { group: 101 }, jobs: 1 },
  ],
  counters: new Map(),
  perDay: [],
  zone: 'UTC',
};

/** Three months of days, and a month that is not used up. */
const KNOWN: Case = {
  limits: [
    { on: { group: 101 }, money: 500, per: 'month' },
    { on: { group: 101 }, minutes: 10, per: 'month' },
    { on: { group: 101 }, jobs: 1 },
  ],
  counters: new Map([['money-month', { committed: 21_000_000, settled: 20_000_000 }]]),
  perDay: Array.from({ length: 90 }, (_, index) => 1_000_000 + 37_000 * (index % 5)),
  zone: 'UTC',
};

type Bench = Awaited<ReturnType<typeof budgetBench>>;

/** The pages and the API over the tables of a bench, as finance meets them. */
function consoleOn(bench: Bench, store: LedgerStore) {
  const { clock, table } = bench;
  const policy = readPolicy(join(bench.folder, 'policy.yaml'));
  const directory = readDirectory(join(bench.folder, 'directory.yaml'));
  const ledger = createLedger({ store, clock });
  const newId = (): string => 'id';
  const whole = async () => directory;
  const desk = createLimitsDesk({ table, policy, directory: whole, ledger, clock, newId });
  const read = createConsoleRead({
    desk,
    limitTable: table,
    packedLimits: someLimits({}),
    policy,
    ledger,
    usage: bench.tables.rollup,
    places: async () => placesOf(directory),
    zone: 'UTC',
    clock,
  });
  const parts = { desk, read, policy, directory: whole, clock, log: silentLog };
  const uploads = createUploads({ table, clock, newId });
  const pages = createPages({ ...parts, uploads, zone: 'UTC', origin: 'https://budget.example.com' });
  const get = async (path: string, from: Hono<SignInEnv>, below = '/'): Promise<Response> =>
    servedTo(USERS.finance, below, from).request(path);
  return {
    page: async (path: string) => (await get(path, pages)).text(),
    api: async (path: string) => (await get(`${API_PATH}${path}`, createApi(parts), API_PATH)).json(),
  };
}

/** The same tables for all three; the command line may read counters that are off by so much. */
async function mouths({ limits, counters, perDay }: Case, off = 0) {
  const bench = await budgetBench(limits);
  await bench.spend(SUBJECT, perDay);
  const counting = (more: number): LedgerStore => ({
    ...bench.tables.ledger,
    readCounters: async (keys) =>
      keys.map((key): Counter => {
        const { committed = 0, settled = 0 } = counters.get(key.limit) ?? {};
        const unchecked = { exempt: 0, unmetered: 0, bypass: 0 };
        return { key, committed: committed + more, settled, fitted: committed, unchecked, rev: 1 };
      }),
  });
  const open = async () => ({ ...(await bench.open()), ledger: counting(off) });
  const run = (name: string, args: readonly string[], more = {}) =>
    bench.run(name, args, more, [[openBudget, open]]);
  const ls = await run('budget ls', ['--group', GROUP]);
  const show = JSON.parse((await run('budget show', [GROUP, '--json'])).out);

  const console = consoleOn(bench, counting(0));
  const api = (await console.api('/groups/101')) as SubjectView;
  const page = await console.page('/groups/101');
  const told = await run('budget show', [GROUP], { columns: 400 });
  const report = await run('report forecast', [GROUP]);
  return {
    page: pageFigures(page),
    api: api.limits.map(apiFigures),
    forecasts: {
      page: /<p>(Forecast [^<]+)<\/p>/.exec(page)?.[1],
      charted: api.burnUp?.limit,
      api: api.limits.flatMap((row) => saidForecast(row.id, forecastText(row, 'EUR'))),
      figures: api.limits.map(({ id, forecast }) => ({
        limit: id,
        forecast: forecast === undefined ? null : { ...NO_FORECAST, ...endOf(forecast) },
      })),
      json: (show.limits as readonly ToldForecast[])
        .filter(({ own }) => own)
        .map(({ limit, forecast }) => ({ limit, forecast })),
      cli: told.out.split('\n').flatMap((line) => {
        const [, limit = '', text] = new RegExp(`^${GROUP} (\\S+): (Forecast .*)$`).exec(line) ?? [];
        return saidForecast(limit, text);
      }),
      report: report.out.split('\n').filter((line) => line.startsWith('Forecast ')),
    },
    cli: (show.limits as readonly Told[]).filter(({ own }) => own).map(cliFigures),
    /** What each row of the table has after its limit. */
    printed: cellsOf(ls.out),
  };
}

interface ToldForecast extends Told {
  readonly forecast: object | null;
}

const NO_FORECAST = { atEnd: null, low: null, high: null, tested: null };

const endOf = ({ atEndAmount, atEndLow, atEndHigh, tested }: NonNullable<LimitRow['forecast']>): object =>
  withoutAbsent({ atEnd: atEndAmount, low: atEndLow, high: atEndHigh, tested });

const saidForecast = (limit: string, text: string | undefined): readonly SaidForecast[] =>
  text === undefined ? [] : [{ limit, text }];

const MARKUP = /<[^>]*>/g;

function pageFigures(html: string): readonly Figures[] {
  const [, after = ''] = html.split('Limits and how they stand');
  const [rows = ''] = after.split('</table>');
  return [...rows.matchAll(/<tr><th scope="row">.*?<\/tr>/gs)].map(([row]) => {
    const cells = row.split(/(?=<td\b)/);
    const plain = (index: number): string => (cells[index] ?? '').replace(MARKUP, '').trim();
    const left = plain(6);
    const runsOut = plain(7);
    return {
      limit: /<code>([^<]+)<\/code>/.exec(row)?.[1] ?? '',
      used: plain(3),
      held: plain(4) === '–' ? '' : plain(4),
      left: left === '–' ? '' : left.endsWith(' over') ? `-${bareOf(left.slice(0, -5))}` : bareOf(left),
      percent: plain(2) === '–' ? '' : plain(2).replace(' %', ''),
      runsOut:
        /datetime="([^"]+)"/.exec(cells[7] ?? '')?.[1] ??
        (runsOut === 'used up' ? 'used_up' : runsOut === 'lasts' ? 'lasts' : ''),
    };
  });
}

const bareOf = (amount: string): string => amount.replace(/ (EUR|min|jobs?)$/, '');

/** A limit without a counter has no figures. */
const usedFigures = (
  used: number | undefined,
  held: number | undefined,
  bare: (amount: number) => string,
): Pick<Figures, 'used' | 'held'> => ({
  used: used === undefined ? 'not counted' : bare(used),
  held: held === undefined ? '' : bare(held),
});

function apiFigures({ id, unit, settled, held, left, percent, forecast }: LimitRow): Figures {
  const bare = (amount: number): string => bareAmountText(amount, unit);
  return {
    limit: id,
    ...usedFigures(settled, held, bare),
    left: left === undefined ? '' : bare(left),
    percent: `${percent ?? ''}`,
    runsOut: forecast?.atMs === undefined ? (forecast?.outcome ?? '') : new Date(forecast.atMs).toISOString(),
  };
}

/** As `--json` has it. */
interface Told {
  readonly own: boolean;
  readonly limit: string;
  readonly unit: Unit;
  readonly used: number | null;
  readonly held: number | null;
  readonly left: number | null;
  readonly percent: number | null;
  readonly runsOut: string | null;
}

function cliFigures({ limit, unit, used, held, left, percent, runsOut }: Told): Figures {
  const bare = (amount: number): string => bareAmountText(amount, unit);
  return {
    limit,
    ...usedFigures(used ?? undefined, held ?? undefined, bare),
    left: left === null ? '' : bare(left),
    percent: `${percent ?? ''}`,
    runsOut: runsOut ?? '',
  };
}

const cellsOf = (table: string): readonly string[] =>
  table
    .split('\n')
    .filter((line) => line.startsWith(GROUP))
    .map((line) => line.split(/ {2,}/).slice(2).join(' '));

/** The row that a limit's figures make; what is empty leaves no trace between spaces. */
function rowOf({ limit, used, held, left, percent, runsOut }: Figures, zone: string): string {
  const { year, month, day } = dayIn(zone, Date.parse(runsOut) || 0);
  const date = runsOut.includes('T') ? `${year}-${two(month)}-${two(day)}` : runsOut.replace('_', ' ');
  const unknown = left !== '' && limit !== 'jobs-now' ? '?' : '';
  return [used, held, left, percent, date === '' ? unknown : date].filter((cell) => cell !== '').join(' ');
}

const byLimit = (all: readonly Figures[]): readonly Figures[] =>
  all.toSorted((a, b) => (a.limit < b.limit ? -1 : 1));

test('page, API and command line print the same number', async () => {
  await fc.assert(
    fc.asyncProperty(cases, async (some) => {
      const { page, api, cli, printed } = await mouths(some);
      expect(page).toHaveLength(3);
      expect(api).toEqual(page);
      expect(byLimit(cli)).toEqual(byLimit(page));
      const rows = page.map((each) => rowOf(each, each.limit.startsWith('money') ? some.zone : 'UTC'));
      expect(printed.toSorted()).toEqual(rows.toSorted());
    }),
    { numRuns: propertyRuns(150), examples: [[BLOCKED]] },
  );
});

test('a limit that no job is counted on has no figure on page, API and command line', async () => {
  const { page, api, cli, printed } = await mouths({
    limits: [
      { on: { group: 101 }, money: 'unlimited', per: 'month' },
      { on: { group: 101 }, minutes: 10, per: 'month', mode: 'off' },
    ],
    counters: new Map(),
    perDay: [29_730_000],
    zone: 'UTC',
  });
  const nothing = { used: 'not counted', held: '', left: '', percent: '', runsOut: '' };
  const all = ['minutes-month', 'money-month'].map((limit) => ({ limit, ...nothing }));
  expect([page, api, cli].map(byLimit)).toEqual([all, all, all]);
  // The list leaves out what is off.
  expect(printed).toEqual(['not counted']);
});

test('page, API and command line say the same forecast, with its band and how far off it was', async () => {
  const seen = { bands: 0, tested: 0 };
  await fc.assert(
    fc.asyncProperty(cases, async (some) => {
      const { forecasts } = await mouths(some);
      const { page, charted, api, figures, json, cli, report } = forecasts;
      expect(byName(json)).toEqual(byName(figures));
      expect(byName(cli)).toEqual(byName(api));
      expect(report.toSorted()).toEqual(api.map(({ text }) => text).toSorted());
      expect(page).toBe(api.find(({ limit }) => limit === charted)?.text);
      seen.bands += api.filter(({ text }) => text.includes(' to ')).length;
      seen.tested += api.filter(({ text }) => text.includes('on average')).length;
    }),
    { numRuns: propertyRuns(60), examples: [[KNOWN]] },
  );
  expect(Math.min(seen.bands, seen.tested)).toBeGreaterThan(0);
});

const byName = <Named extends { readonly limit: string }>(all: readonly Named[]): readonly Named[] =>
  all.toSorted((a, b) => (a.limit < b.limit ? -1 : 1));

test('a counter that one of them reads one off is noticed', async () => {
  await fc.assert(
    fc.asyncProperty(cases, async (some) => {
      // Cents hide a millionth, and tenths of a minute a second: jobs are told one by one.
      const { page, cli, printed } = await mouths(some, 1);
      expect(byLimit(cli)).not.toEqual(byLimit(page));
      const rows = page.map((each) => rowOf(each, each.limit.startsWith('money') ? some.zone : 'UTC'));
      expect(printed.toSorted()).not.toEqual(rows.toSorted());
    }),
    { numRuns: propertyRuns(15) },
  );
});

interface CoverageCase {
  /** Jobs of acme/payments by runner and of acme/platform, asked and unasked, on two days. */
  readonly days: readonly (readonly (readonly [asked: number, unasked: number])[])[];
}

/** Above a hundred, so that no line with a percentage begins like a runner's. */
const RUNNERS = [941, 942, 943];
const jobCount = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3_000 }));
const coverageCases: fc.Arbitrary<CoverageCase> = fc.record({
  days: fc.array(fc.array(fc.tuple(jobCount, jobCount), { minLength: 3, maxLength: 3 }), {
    minLength: 1,
    maxLength: 2,
  }),
});

/** In all, of each group and of each runner that passes by: asked, passed by, share. */
async function coverageMouths({ days }: CoverageCase) {
  const bench = await budgetBench();
  const { rollup } = bench.tables;
  if (!(rollup instanceof MemoryRollupStore)) throw new Error('no rollup in memory');
  const today = Math.floor(bench.clock.nowMs() / 86_400_000);
  for (const [index, runners] of days.entries()) {
    const day = new Date((today - index) * 86_400_000).toISOString().slice(0, 10);
    const tallyOf = (some: typeof runners, named: boolean): UsageTally => {
      const [asked, unasked] = [0, 1].map((at) => some.reduce((sum, each) => sum + (each[at] ?? 0), 0));
      const names = some.flatMap((each, at) => [
        [`a:${RUNNERS[at]}`, each[0]] as const,
        [`b:${RUNNERS[at]}`, each[1]] as const,
      ]);
      const all = [
        ['ran', (asked ?? 0) + (unasked ?? 0)],
        ['unasked', unasked ?? 0],
        ...(named ? names : []),
      ];
      return new Map((all as [string, number][]).filter(([, jobs]) => jobs > 0));
    };
    const usage = [
      { key: { subject: 'instance', day }, delta: tallyOf(runners, false) },
      { key: { subject: 'group/100', day }, delta: tallyOf(runners, true) },
      { key: { subject: 'group/101', day }, delta: tallyOf(runners.slice(0, 2), true) },
    ].filter(({ delta }) => delta.size > 0);
    if (usage.length > 0) await rollup.commit({ contributions: [], usage });
  }
  const { page, api } = consoleOn(bench, bench.tables.ledger);
  const view = (await api('/coverage?group=100&days=7')) as CoverageView;
  const told = await bench.run('coverage', ['--group', 'acme', '--days', '7']);
  const json = JSON.parse((await bench.run('coverage', ['--group', 'acme', '--json'])).out);
  return { page: await page('/coverage?group=100&days=7'), api: view, cli: json as CoverageView, told };
}

const cellsIn = (row: string): readonly string[] =>
  row
    .split(/<td\b[^>]*>/)
    .slice(1)
    .map((cell) => cell.replace(MARKUP, '').trim());

test('page, API and command line tell the same coverage', async () => {
  await fc.assert(
    fc.asyncProperty(coverageCases, async (some) => {
      const { page, api, cli, told } = await coverageMouths(some);
      expect(cli).toEqual(api);
      const sum = (at: 0 | 1): number => some.days.flat().reduce((total, each) => total + each[at], 0);
      expect([api.total.asked, api.total.bypass]).toEqual([sum(0), sum(1)]);
      expect(told.code).toBe(sum(1) > 0 ? 2 : 0);
      if (api.total.ran === 0) return;
      expect(page).toContain(`>${coverageShareText(api.total.share)}</dd>`);
      expect(told.out).toContain(`${coverageShareText(api.total.share)} of the jobs that ran`);
      const written = (jobs: number): string => jobs.toLocaleString('en-US');
      for (const { runnerId, asked, bypass, share } of api.runners.filter((row) => row.bypass > 0)) {
        const row = new RegExp(`Runner ${runnerId}<.*?</tr>`, 's').exec(page)?.[0] ?? '';
        const figures = [written(bypass), written(asked), coverageShareText(share)];
        expect(cellsIn(row).slice(0, 3)).toEqual(figures);
        const line = told.out.split('\n').find((each) => each.startsWith(`${runnerId} `)) ?? '';
        expect(line.split(/ {2,}/).slice(2, 5)).toEqual(figures);
      }
    }),
    { numRuns: propertyRuns(60) },
  );
});

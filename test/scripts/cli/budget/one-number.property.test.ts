/** Page, API and command line print the same number of the same limit. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SubjectView } from '../../../../functions/answers/groups/model.ts';
import type { BacktestAnswer } from '../../../../functions/answers/limits/models.ts';
import type { LimitRow } from '../../../../functions/answers/status/model.ts';
import { forecastText } from '../../../../functions/answers/status/texts.ts';
import type { Counter } from '../../../../functions/core/ledger/ledger.ts';
import type { LedgerStore } from '../../../../functions/core/ledger/store.ts';
import { writtenDay } from '../../../../policies/text/edge-text.ts';
import { bareAmountText } from '../../../../policies/unit-texts.ts';
import { openToEdit } from '../../../../scripts/cli/open-ledger.ts';
import { FULL } from '../../../support/property-runs.ts';
import { consoleOn } from '../bench-console.ts';
import { aRequest } from '../ledger-bench.ts';
import { budgetBench } from './budget-bench.ts';

const plain = (html: string): string => html.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ');

const cellsIn = (row: string): readonly string[] =>
  [...row.matchAll(/<td.*?<\/td>/gs)].map(([cell]) => plain(cell).trim());

const GROUP = 'acme/payments';

type Count = Pick<Counter, 'committed' | 'settled'>;

interface Case {
  /** Of acme/payments. */
  readonly limits: readonly object[];
  /** By the limit's id. */
  readonly counters: Readonly<Record<string, Count>>;
  /** Millionths of the currency used on each day before today. */
  readonly perDay: readonly number[];
}

/** Whole steps, often at the amount or one step off, where a different rounding or comparison shows. */
function countNear(amount: number | 'unlimited', scale: number, step: number): fc.Arbitrary<Count> {
  const whole = amount === 'unlimited' ? scale : amount * scale;
  const edge = fc.constantFrom(-step, 0, step).map((more) => Math.max(0, whole + more));
  const inSteps = (count: number): number => count - (count % step);
  return fc
    .tuple(fc.oneof(fc.nat(whole * 2), edge), fc.nat(100))
    .map(([count, percent]) => [inSteps(count), inSteps(Math.floor((count * percent) / 100))] as const)
    .map(([committed, settled]) => ({ committed, settled }));
}

const amounts = fc.oneof(fc.constant('unlimited' as const), fc.nat(500));

const cases: fc.Arbitrary<Case> = fc
  // The page has no space for more than 9,999 %.
  .tuple(amounts, amounts, fc.integer({ min: 2, max: 50 }), fc.constantFrom('day', 'month', 'year', 'once'))
  .chain(([money, minutes, jobs, per]) =>
    fc.record({
      limits: fc.constant([
        { money, per, ...(per !== 'once' && { zone: 'Europe/Berlin' }) },
        { minutes, per: 'month', mode: 'warn' },
        { jobs },
      ]),
      counters: fc.record({
        [`money-${per}`]: countNear(money, 1_000_000, 1),
        // Page and table round parts of a minute differently.
        'minutes-month': countNear(minutes, 60, 60),
        // Running jobs are held and never final.
        'jobs-now': fc.nat(100).map((committed) => ({ committed, settled: 0 })),
      }),
      perDay: fc.oneof(
        fc.array(fc.nat(30_000_000), { maxLength: 10 }),
        // A forecast's range, trend and past errors need two months.
        fc.array(fc.integer({ min: 1, max: 3_000_000 }), { minLength: 60, maxLength: 90 }),
      ),
    }),
  );

/** Three months of usage, and a month that is not used up. */
const KNOWN: Case = {
  limits: [{ money: 500, per: 'month' }],
  counters: { 'money-month': { committed: 21_000_000, settled: 20_000_000 } },
  perDay: Array.from({ length: 90 }, (_, index) => 1_000_000 + 37_000 * (index % 5)),
};

/** No money is allowed and none was spent: the chart has no height. */
const BLOCKED: Case = { limits: [{ money: 0, per: 'once' }], counters: {}, perDay: [] };

const runsOutOf = (forecast: LimitRow['forecast']): string | undefined =>
  forecast?.atMs === undefined ? forecast?.outcome : new Date(forecast.atMs).toISOString();

/** The API's rows by id under the names of `--json`, which has null for unknown figures. */
function jsonOf(rows: readonly LimitRow[]): object {
  const named = rows.map(({ id, unit, settled: used, held, left, percent, forecast }) => {
    const { atEndAmount: atEnd, atEndLow: low, atEndHigh: high, tested } = forecast ?? {};
    const end = { runsOut: runsOutOf(forecast), forecast: forecast && { atEnd, low, high, tested } };
    return [id, { unit, used, held, left, percent, ...end }];
  });
  return JSON.parse(JSON.stringify(Object.fromEntries(named), (_name, value) => value ?? null));
}

/** A limit's id, used, held, left, percent and end, as people read them; unknown ones are empty. */
function printedOf({ id, unit, settled, held, left, percent, forecast }: LimitRow): readonly string[] {
  const [used, ...others] = [settled, held, left].map((figure) =>
    figure === undefined ? '' : bareAmountText(figure, unit),
  );
  return [id, used || 'not counted', ...others, `${percent ?? ''}`, runsOutOf(forecast) ?? ''];
}

function printedOnPage(html: string): readonly (readonly string[])[] {
  const [rows = ''] = (html.split('<caption class="hidden">Limits</caption>')[1] ?? '').split('</table>');
  return [...rows.matchAll(/<tr><th scope="row" class="path">.*?<\/tr>/gs)].map(([row]) => {
    const known = cellsIn(row).map((cell) => (cell === '–' ? '' : cell));
    const [, used = '', held = '', , left = '', end = ''] = known;
    const [, amount = left, , over] = /^(\S+)( EUR| min| jobs?)?( over)?$/.exec(left) ?? [];
    const id = /<code>([^<]+)<\/code>/.exec(row)?.[1] ?? '';
    const endsAt = /datetime="([^"]+)"/.exec(row.split('<td')[6] ?? '')?.[1];
    const runsOut = endsAt ?? (/^(lasts|used up)$/.test(end) ? end.replace(' ', '_') : '');
    return [id, used, held, over ? `-${amount}` : amount, runsOut];
  });
}

/** The row of `budget ls` for these figures, without its empty cells. */
function listRow([id = '', ...cells]: readonly string[], zone = 'UTC'): string {
  const [left, runsOut = ''] = [cells[2], cells.at(-1)];
  const unknown = left === '' || id === 'jobs-now' ? '' : '?';
  const day = runsOut.includes('T') ? writtenDay(Date.parse(runsOut), zone) : runsOut.replace('_', ' ');
  return [...cells.slice(0, -1), day || unknown].filter((cell) => cell !== '').join(' ');
}

/** All three read the same tables. */
async function surfaces({ limits, counters, perDay }: Case) {
  const bench = await budgetBench(limits.map((limit) => ({ on: { group: 101 }, ...limit })));
  await bench.spend('group/101', perDay);
  const store: LedgerStore = {
    ...bench.tables.store,
    readCounters: async (keys) =>
      keys.map((key): Counter => {
        const { committed, settled } = counters[key.limit] ?? { committed: 0, settled: 0 };
        const unchecked = { exempt: 0, unmetered: 0, bypass: 0 };
        return { key, committed, settled, fitted: committed, unchecked, rev: 1 };
      }),
  };
  const tables = { ...bench.tables, store, close: async () => {} };
  const run = async (name: string, ...args: readonly string[]): Promise<string> =>
    (await bench.run(name, args, { columns: 400 }, [[openToEdit, async () => tables]])).out;
  const console = consoleOn(bench, { store });
  const api = (await console.api('/groups/101')) as SubjectView;
  const html = await console.page('/groups/101');
  const linesOf = (text: string, line: RegExp): readonly string[] =>
    [...text.matchAll(line)].map(([, found = '']) => found.replace(/ +/g, ' ').trim()).toSorted();
  const { limits: rows } = JSON.parse(await run('budget show', GROUP, '--json'));
  const own = (rows as readonly Record<string, unknown>[]).filter((row) => row.own);
  const byId = own.map(({ limit, unit, used, held, left, percent, runsOut, forecast }) => {
    return [`${limit}`, { unit, used, held, left, percent, runsOut, forecast }];
  });
  const printed = {
    page: printedOnPage(html).toSorted(),
    json: Object.fromEntries(byId),
    list: linesOf(await run('budget ls', '--group', GROUP), /^acme\/payments {2,}.*? {2,}(.*)$/gm),
    chart: linesOf(html, /<p>(Forecast [^<]+)<\/p>/g),
    show: linesOf(await run('budget show', GROUP), /^acme\/payments (\S+: Forecast .*)$/gm),
    report: linesOf(await run('report forecast', GROUP), /^(Forecast .*)$/gm),
  };
  const shown = api.limits.filter(({ mode }) => mode !== 'off');
  const forecasts = api.limits.map((row) => ({ id: row.id, text: forecastText(row, api.currency) ?? '' }));
  const known = forecasts.filter(({ text }) => text !== '');
  const expected = {
    page: api.limits.map((row) => printedOf(row).toSpliced(4, 1)).toSorted(),
    json: jsonOf(api.limits),
    list: shown.map((row) => listRow(printedOf(row), row.zone)).toSorted(),
    chart: known.filter(({ id }) => id === api.burnUp?.limit).map(({ text }) => text),
    show: known.map(({ id, text }) => `${id}: ${text}`).toSorted(),
    report: known.map(({ text }) => text).toSorted(),
  };
  return { printed, expected };
}

const holds = <T>(of: fc.Arbitrary<T>, first: T[], runs: number, check: (some: T) => Promise<void>) => {
  const options = { numRuns: FULL ? runs : Math.ceil(runs / 12), examples: first.map((some): [T] => [some]) };
  return fc.assert(fc.asyncProperty(of, check), options);
};

test('page, API and command line print the same use, rest, percentage, end and forecast of every limit', async () => {
  const charts: string[] = [];
  await holds(cases, [BLOCKED, KNOWN], 100, async (some) => {
    const { printed, expected } = await surfaces(some);
    expect(printed.page).toHaveLength(some.limits.length);
    expect(printed).toEqual(expected);
    charts.push(...printed.chart);
  });
  expect(charts.join('\n')).toMatch(/ to .* on average/);
});

/** Money a month: a job of 3,600 seconds costs 1.00. */
const money = fc.nat(1_500).map((cents) => (cents / 100).toFixed(2));
const life = fc.record({
  afterMinutes: fc.integer({ min: 61, max: 3_000 }),
  timeoutSeconds: fc.integer({ min: 60, max: 3_600 }),
  /** Undefined: it still runs. */
  ranSeconds: fc.option(fc.nat(3_600), { nil: undefined }),
  isElsewhere: fc.boolean(),
});
const changes = fc.tuple(fc.array(life, { minLength: 1, maxLength: 12 }), money, money);
const ELSEWHERE = { namespaceId: 102, projectId: 1002, projectPath: 'acme/platform/ops' };
const COUNTS =
  /(\d+) of (\d+) jobs? would have failed; (\d+) fail with the current limits; (\d+) were rejected then/;

test('page, API and command line count the same jobs that a changed limit would have failed', async () => {
  await holds(changes, [], 40, async ([lives, was, amount]) => {
    fc.pre(was !== amount);
    const bench = await budgetBench([
      { on: { group: 101 }, money: was, per: 'month' },
      { on: { group: 100 }, money: 2_000, per: 'month' },
    ]);
    const { clock, ledger, ask } = bench;
    for (const [index, { afterMinutes, timeoutSeconds, ranSeconds, isElsewhere }] of lives.entries()) {
      clock.advance(afterMinutes * 60_000);
      const jobId = index + 1;
      const [decision] = await ask([aRequest(jobId, { timeoutSeconds, ...(isElsewhere && ELSEWHERE) })]);
      if (decision?.outcome !== 'admitted' || ranSeconds === undefined) continue;
      clock.advance(ranSeconds * 1_000);
      await ledger.settle([{ jobId, durationSeconds: ranSeconds, endedAtMs: clock.nowMs() }]);
    }
    clock.advance(60_000);
    const { page, api } = consoleOn(bench, { lastJobId: lives.length });
    const base = (await bench.live())?.set ?? '';
    const edit = { kind: 'set', subject: 'group/101', limit: 'money-month', amount };
    const headers = { 'content-type': 'application/json', 'if-match': `"${base}"` };
    const body = JSON.stringify({ edits: [edit] });
    const answer = (await api('/limits/backtest', { method: 'POST', headers, body })) as BacktestAnswer;
    if (answer.outcome !== 'counted') throw new Error(JSON.stringify(answer));
    const { unasked, ...counts } = answer.all;
    expect([answer.complete, unasked]).toEqual([true, 0]);
    const { backtest } = await bench.json('budget set', GROUP, amount, '--dry-run');
    expect(backtest).toEqual({ days: 30, jobsRead: expect.any(Number), ...counts });
    const form = { ...edit, mode: 'enforce', 'was.mode': 'enforce', why: 'round', base, step: 'count' };
    const fields = new URLSearchParams({ ...form, 'was.amount': was });
    const shown = COUNTS.exec(plain(await page('/edit', { method: 'POST', body: fields })))?.slice(1);
    const { jobs, wouldFail, wouldFailNow, failed } = counts;
    expect(shown?.map(Number)).toEqual(jobs === 0 ? undefined : [wouldFail, jobs, wouldFailNow, failed]);
  });
});

import { expect, test } from 'vitest';
import type { LimitEdit } from '../../../functions/core/limits/edit-model.ts';
import { isValidAt } from '../../../policies/limits/period.ts';
import { aJob, consoleHouse, LIMITS, USERS } from './house.ts';

const NEXT_YEAR = '2027-01-01';
const NEW_YEAR_MS = Date.UTC(2027, 0, 1);
const HOUR_MS = 3_600_000;

interface Told {
  readonly outcome?: string;
  readonly problems?: readonly { readonly path: readonly unknown[]; readonly message: string }[];
  readonly rows?: readonly object[];
  readonly request: { readonly id: string };
}

/** The API as finance meets it, on a real desk and ledger. */
async function finance(more: readonly LimitEdit[] = []) {
  const house = consoleHouse();
  await house.apply([...LIMITS, ...more]);
  const app = house.appFor(USERS.finance);
  const exported = async (): Promise<string> => (await app.request('/api/v1/limits.csv')).text();
  const send = async (file: string, query: string, base?: string) => {
    const answer = await app.request(`/api/v1/limits/import?why=next&confirmed=yes&${query}`, {
      method: 'POST',
      headers: { 'content-type': 'text/csv', ...(base !== undefined && { 'if-match': `"${base}"` }) },
      body: file,
    });
    return { status: answer.status, body: (await answer.json()) as Told };
  };
  const approve = async (id: string): Promise<void> => {
    const zoe = { actor: 'zoe', rights: [{ role: 'finance' } as const] };
    const decided = await house.limitEdits.decide(id, { decision: 'approve' }, zoe);
    if (decided.outcome !== 'approved') throw new Error(JSON.stringify(decided));
  };
  /** Imports a file of the live limits; a second person approves it if it takes two. */
  const take = async (file: string, query = `from=${NEXT_YEAR}`): Promise<void> => {
    const set = file.includes('version') ? undefined : (await house.limitEdits.live())?.pointer.set;
    const { status, body } = await send(file, query, set);
    if (status === 202) await approve(body.request.id);
    else if (status !== 200) throw new Error(JSON.stringify(body));
  };
  /** The money limits of a group as they are written: id, amount, from, until. */
  const written = async (group: number): Promise<readonly string[]> => {
    const live = await house.limitEdits.live();
    const limits = (live?.document.limits ?? []) as Record<string, unknown>[];
    return limits
      .filter(({ on, money }) => (on as { group?: number }).group === group && money !== undefined)
      .map(({ id, money, from, until }) => [id, money, from, until].map((each) => each ?? '-').join(' '));
  };
  const travel = (toMs: number): void => house.clock.advance(toMs - house.clock.nowMs());
  /** What the API says of the money of a group now. */
  const money = async (group: number) => {
    const { limits } = (await (await app.request(`/api/v1/groups/${group}`)).json()) as {
      limits: {
        id: string;
        subject: string;
        kind: string;
        amount: number;
        fromMs?: number;
        untilMs?: number;
      }[];
    };
    return limits
      .filter(({ subject, kind }) => subject === `group/${group}` && kind === 'money')
      .filter((limit) => isValidAt(limit, house.clock.nowMs()))
      .map(({ id, amount }) => `${id} ${amount / 1_000_000}`);
  };
  /** Edits through the API; a second person approves what takes two. */
  const edit = async (...edits: readonly object[]): Promise<number> => {
    const base = (await house.limitEdits.live())?.pointer.set;
    const answer = await app.request('/api/v1/limits/edits', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'if-match': `"${base}"` },
      body: JSON.stringify({ edits, why: 'less', confirmed: true }),
    });
    if (answer.status === 202) await approve(((await answer.json()) as Told).request.id);
    return answer.status;
  };
  const grant = async (asked: object): Promise<void> => {
    const status = await edit({ kind: 'grant', subject: 'group/104', reason: 'release', ...asked });
    expect([200, 202]).toContain(status);
  };
  return { ...house, exported, send, take, written, travel, money, edit, grant };
}

const withAmount = (file: string, place: string, to: string): string =>
  file.replace(new RegExp(`(${place},)[^,]+,`), `$1${to},`);
const PAYMENTS = 'payments,101,money';
/** A year as a set of limits has it, however it was imported: the old limit ends, the new one takes over. */
const CARDS_NEXT_YEAR: readonly LimitEdit[] = [
  { kind: 'set', subject: 'group/104', limit: 'money-month', until: '2026-12-31' },
  {
    ...{ kind: 'set', subject: 'group/104', limit: `money-month-${NEXT_YEAR}`, from: NEXT_YEAR },
    ...{ unit: 'money', amount: 4, per: 'month' },
  },
];

test('a file from a day on ends limits the day before, begins others, and is one edit to take back', async () => {
  const { exported, take, written, travel, money, limitEdits, apply } = await finance();
  const before = (await limitEdits.live())?.document;
  await take(withAmount(await exported(), PAYMENTS, '540'));
  expect((await limitEdits.live())?.pointer.edit).toBe(2);
  expect(await written(101)).toEqual(['- 500 - 2026-12-31', `money-month-${NEXT_YEAR} 540 ${NEXT_YEAR} -`]);
  expect(await written(100)).toEqual(['- 900 - -']);
  await apply([{ kind: 'replace', document: before }]);
  expect(await written(101)).toEqual(['- 500 - -']);
  await take(withAmount(await exported(), PAYMENTS, '540'));
  travel(NEW_YEAR_MS - HOUR_MS);
  expect(await money(101)).toEqual(['money-month 500']);
  travel(NEW_YEAR_MS);
  expect(await money(101)).toEqual([`money-month-${NEXT_YEAR} 540`]);
});

test('the same file with the same day changes nothing the second time, with its version and without', async () => {
  const { exported, take, send, limitEdits } = await finance();
  const file = withAmount(await exported(), PAYMENTS, '540');
  await take(file);
  const live = (await limitEdits.live())?.pointer;
  const bare = 'group_id,unit,limit,period\r\n101,money,540,month\r\n';
  for (const [again, base] of [
    [file, undefined],
    [bare, live?.set],
  ] as const) {
    const dry = await send(again, `from=${NEXT_YEAR}&dry_run=yes`, base);
    expect([dry.status, dry.body.outcome, dry.body.rows]).toEqual([200, 'valid', []]);
    const made = await send(again, `from=${NEXT_YEAR}`, base);
    expect([made.status, made.body.outcome]).toEqual([200, 'unchanged']);
  }
  expect((await send(file, `from=${NEXT_YEAR}&prune=yes`)).body.outcome).toBe('unchanged');
  expect((await limitEdits.live())?.pointer).toEqual(live);
});

test('new rows begin on the day, and with prune limits that the file does not name end the day before', async () => {
  const { take, written } = await finance();
  const rows = ['101,money,500,month', '102,money,7,month', '104,money,3,month', '100,money,900,month'];
  await take(['group_id,unit,limit,period', ...rows, ''].join('\r\n'), `from=${NEXT_YEAR}&prune=yes`);
  expect(await written(102)).toEqual([`- 7 ${NEXT_YEAR} -`]);
  expect(await written(200)).toEqual(['- 100 - 2026-12-31']);
  expect(await written(101)).toEqual(['- 500 - -']);
});

test.each([
  { per: 'week' },
  { per: 'month', zone: 'Asia/Tokyo', from: '2027-02-15' },
  { per: 'year', fiscal_start: '04-06' },
  { per: 'once' },
] as const)(
  'a limit of which no period begins on the day is refused by name: $per $zone $fiscal_start',
  async ({
    from = NEXT_YEAR,
    ...limit
  }: {
    readonly per: 'week' | 'month' | 'year' | 'once';
    readonly from?: string;
  }) => {
    const { exported, send, limitEdits } = await finance([
      { kind: 'set', subject: 'group/102', unit: 'money', amount: 7, ...limit },
    ]);
    const file = await exported();
    const { status, body } = await send(withAmount(file, 'platform,102,money', '8'), `from=${from}`);
    expect(status).toBe(422);
    const message = expect.stringContaining(
      `money-${limit.per} of group/102 has no period that begins on ${from}`,
    );
    expect(body.problems).toEqual([{ path: [expect.any(Number), 'period'], message }]);
    // Its row as it was stops nobody.
    const others = await send(withAmount(file, PAYMENTS, '540'), `from=${NEXT_YEAR}&dry_run=yes`);
    expect([others.status, others.body.outcome]).toEqual([200, 'valid']);
    expect((await limitEdits.live())?.pointer.edit).toBe(1);
  },
);

test.each([
  ['2026-11-21', /expected a day after today/],
  ['2026-01-01', /expected a day after today/],
  ['2031-01-01', /within two years/],
  ['soon', /such as 2027-01-01/],
])('a day that cannot be meant is refused: %s', async (from, why) => {
  const { exported, send } = await finance();
  const { status, body } = await send(await exported(), `from=${encodeURIComponent(from)}`);
  expect([status, body.problems?.[0]?.path]).toEqual([422, [0, 'from']]);
  expect(body.problems?.[0]?.message).toMatch(why);
});

test('a limit in another zone ends and begins at its own midnight', async () => {
  const { exported, take, travel, money } = await finance([
    { kind: 'set', subject: 'group/102', unit: 'money', amount: 7, per: 'month', zone: 'America/New_York' },
  ]);
  await take(withAmount(await exported(), 'platform,102,money', '8'));
  travel(NEW_YEAR_MS + 5 * HOUR_MS - 1);
  expect(await money(102)).toEqual(['money-month 7']);
  travel(NEW_YEAR_MS + 5 * HOUR_MS);
  expect(await money(102)).toEqual([`money-month-${NEXT_YEAR} 8`]);
});

test.each([
  { when: 'before the file', first: true },
  { when: 'after the file', first: false },
])('a grant given $when goes on across the day, for jobs as for pages', async ({ first }) => {
  const { grant, apply, travel, money, ask } = await finance();
  const across = { limit: 'money-month', amount: '1', from: '2026-12-20', until: '2027-01-10' };
  if (first) await grant(across);
  await apply(CARDS_NEXT_YEAR);
  if (!first) await grant(across);
  travel(Date.UTC(2026, 11, 31));
  expect(await money(104)).toEqual(['money-month 4']);
  travel(Date.UTC(2027, 0, 2));
  expect(await money(104)).toEqual([`money-month-${NEXT_YEAR} 5`]);
  // A job of an hour costs 1 by the default price: five fit into 4 and the grant.
  const jobs = Array.from({ length: 7 }, (_, index) => aJob(9_000 + index));
  const admitted = (await ask(jobs)).filter(({ outcome }) => outcome === 'admitted').length;
  travel(Date.UTC(2027, 0, 11));
  expect(await money(104)).toEqual([`money-month-${NEXT_YEAR} 4`]);
  expect(admitted).toBeGreaterThan(4);
});

test('an edit that names no limit changes the one in force, not the one that has ended', async () => {
  const { apply, travel, written, edit, grant, money } = await finance();
  await apply(CARDS_NEXT_YEAR);
  travel(Date.UTC(2027, 0, 5));
  expect(await edit({ kind: 'set', subject: 'group/104', unit: 'money', amount: 3.5, per: 'month' })).toBe(
    200,
  );
  expect(await written(104)).toEqual(['- 3 - 2026-12-31', `money-month-${NEXT_YEAR} 3.5 ${NEXT_YEAR} -`]);
  expect(await edit({ kind: 'scale', subject: 'group/104', by: '-10%' })).toBe(200);
  expect(await written(104)).toEqual(['- 3 - 2026-12-31', `money-month-${NEXT_YEAR} 3.15 ${NEXT_YEAR} -`]);
  await grant({ limit: 'money-month', amount: '1', from: '2027-01-05', until: '2027-01-10' });
  expect(await money(104)).toEqual([`money-month-${NEXT_YEAR} 4.15`]);
  // The ended limit may be tidied away; what was granted on it and goes on stays.
  expect(await edit({ kind: 'remove', subject: 'group/104', limit: 'money-month' })).toBe(202);
  expect(await money(104)).toEqual([`money-month-${NEXT_YEAR} 4.15`]);
});

test('the export has the last year’s use and the forecast next to the amount, and an import ignores them', async () => {
  const { exported, send, used } = await finance([
    { kind: 'set', subject: 'group/101', unit: 'money', amount: 6000, per: 'year' },
    { kind: 'set', subject: 'instance', unit: 'money', amount: 2000, per: 'week' },
  ]);
  for (let day = Date.UTC(2026, 8, 1); day < Date.UTC(2026, 10, 21); day += 24 * HOUR_MS) {
    const text = new Date(day).toISOString().slice(0, 10);
    await used('group/101', text, 2_000_000);
    await used('instance', text, 3_000_000);
  }
  const file = await exported();
  const cells = (place: RegExp) =>
    file
      .split('\r\n')
      .find((line) => place.test(line))
      ?.split(',')
      .slice(3, 8);
  expect(file.split(',').slice(3, 8)).toEqual([
    'limit',
    'last_year_mean',
    'last_year_most',
    'forecast',
    'period',
  ]);
  // September 60, October 62; December has 31 days.
  expect(cells(/payments,101,money,.*,month,/)).toEqual(['500', '61', '62', '62', 'month']);
  expect(cells(/payments,101,money,.*,year,/)).toEqual(['6000', '162', '162', '730', 'year']);
  expect(cells(/^,,money,/)).toEqual(['2000', '20.727273', '21', '21', 'week']);
  expect(cells(/cards,104,jobs,/)).toEqual(['10', '', '', '', '']);
  expect(cells(/beta,200,money,/)).toEqual(['100', '', '', '', 'month']);
  const edited = file
    .replace('500,61,62,62,', '500,"=SUM(A1)",n/a,-1,')
    .replace(',last_year_most,', ',forecast,');
  expect((await send(edited, 'dry_run=yes')).body).toMatchObject({ outcome: 'valid', rows: [] });
});

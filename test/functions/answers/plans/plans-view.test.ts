import { expect, test } from 'vitest';
import { planCsv } from '../../../../functions/answers/plans/plan-csv.ts';
import { adopt } from '../../../../functions/console/adopt-plan.ts';
import { PLAIN_CSV } from '../../../../functions/core/limits/csv/columns.ts';
import { consoleHouse, LIMITS, USERS } from '../../console/house.ts';

const FRITZ = { actor: 'fritz', rights: [{ role: 'finance' } as const] };
const EUR = 1_000_000;

/** On 21 November 2026, a plan for the next year with 8 % more. */
async function house() {
  const it = consoleHouse();
  await it.apply(LIMITS);
  const begun = await it.desk.editPlan({ kind: 'new', name: 'Year 2027', from: '2027-01-01' }, FRITZ);
  const id = begun.outcome === 'saved' ? begun.plan.id : '';
  await it.desk.editPlan({ kind: 'scale', id, subject: 'instance', by: '+8%' }, FRITZ);
  const view = async (more: object = {}) => {
    const found = await it.read.plan({ id, ...more }, USERS.finance);
    if (found === undefined) throw new Error('no plan');
    return found;
  };
  return { ...it, id, view };
}

test('each limit stands beside what it used over the year, what it will use, and what it is', async () => {
  const { view, used } = await house();
  // Nothing before June; the month that is not over counts in no mean.
  await used('group/101', '2026-06-10', 30 * EUR);
  await used('group/101', '2026-08-10', 50 * EUR);
  await used('group/101', '2026-10-31', 40 * EUR);
  await used('group/101', '2026-11-20', 500 * EUR);
  const { rows, state, total } = await view();
  expect([state, total]).toEqual(['draft', 4]);
  expect(rows.find(({ subject }) => subject === 'group/101')).toEqual({
    ...{ subject: 'group/101', path: 'acme/payments', limit: 'money-month' },
    ...{ kind: 'money', unit: 'micros', per: 'month', zone: 'UTC' },
    ...{ today: 500 * EUR, planned: 540 * EUR, isPlanned: true },
    lastYear: {
      ...{ fromDay: '2026-06-01', toDay: '2026-10-31', periods: 5 },
      ...{ mean: 24 * EUR, most: 50 * EUR },
    },
    forecast: expect.any(Number),
  });
  expect(rows.find(({ subject }) => subject === 'group/200')).not.toHaveProperty('lastYear');
});

test('an even use is forecast to go on', async () => {
  const { view, used } = await house();
  for (let day = 0; day < 60; day += 1)
    await used('group/101', new Date(Date.UTC(2026, 10, 20 - day)).toISOString().slice(0, 10), 2 * EUR);
  const { rows } = await view();
  expect(rows.find(({ subject }) => subject === 'group/101')?.forecast).toBe(31 * 2 * EUR);
});

test('totals are those of all limits, whatever page is shown', async () => {
  const { view } = await house();
  const total = { kind: 'money', unit: 'micros', per: 'month', limits: 4 };
  const sums = { today: String(1_503 * EUR), planned: String(1_623.24 * EUR) };
  const first = await view({ max: 3 });
  expect(first.rows.map(({ path }) => path)).toEqual(['acme', 'acme/payments', 'acme/payments/cards']);
  expect(first.totals).toEqual([{ ...total, ...sums }]);
  const last = await view({ max: 3, cursor: first.next });
  expect(last.rows.map(({ path }) => path)).toEqual(['beta']);
  expect([last.totals, last.next]).toEqual([first.totals, undefined]);
});

test('the state is what the limits say: asked, adopted, taken back, over', async () => {
  const { view, desk, id, apply, clock } = await house();
  const before = (await desk.live())?.document;
  const draft = await desk.plan(id);
  if (draft === undefined) throw new Error('no plan');
  const filed = await adopt(draft, { ...FRITZ, why: 'next year', source: 'test' }, desk);
  const request = filed.outcome === 'needs_approval' ? (filed.request?.id ?? '') : '';
  expect(await view()).toMatchObject({ state: 'asked', request });
  const zoe = { actor: 'zoe', rights: [{ role: 'finance' } as const] };
  expect((await desk.decide(request, { verdict: 'approve' }, zoe)).outcome).toBe('approved');
  const adopted = await view();
  expect(adopted.state).toBe('adopted');
  expect(adopted.rows.every(({ isPlanned }) => isPlanned)).toBe(true);
  await apply([{ kind: 'replace', document: before }]);
  expect((await view()).state).toBe('draft');
  clock.advance(45 * 86_400_000);
  expect((await view()).state).toBe('over');
});

test('whoever does not see all limits sees no plan', async () => {
  const { read, id } = await house();
  for (const who of ['none', 'viewer', 'owner'] as const) {
    expect(await read.plans(USERS[who])).toEqual([]);
    expect(await read.plan({ id }, USERS[who])).toBeUndefined();
  }
  expect(await read.plans(USERS.admin)).toHaveLength(1);
  expect(await read.plan({ id: 'p-none' }, USERS.admin)).toBeUndefined();
});

test('the file has what is planned in the column that comes back', async () => {
  const { view, id } = await house();
  const [header, , payments] = planCsv(await view(), PLAIN_CSV).split('\r\n');
  expect(header).toBe(
    'group_path,group_id,subject,limit_id,unit,period,last_year_mean,last_year_most,forecast,today,limit,version',
  );
  expect(payments).toBe(`acme/payments,101,,money-month,money,month,,,,500,540,${id}`);
  expect(planCsv(await view(), { delimiter: ';', decimal: ',' })).toContain(
    'cards;104;;money-month;money;month;;;;3;3,24;',
  );
});

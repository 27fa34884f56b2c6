import { describe, expect, test } from 'vitest';
import type { PlanEdit } from '../../../../../functions/core/limits/plans/limit-plan.ts';
import { AMOUNTS_MAX, PLANS_MAX } from '../../../../../functions/core/limits/plans/plan-items.ts';
import { limitsOn } from '../../../../../policies/limits/limits.ts';
import { validAt } from '../../../../../policies/limits/period.ts';
import { consoleHouse, LIMITS } from '../../../console/house.ts';

const FRITZ = { actor: 'fritz', rights: [{ role: 'finance' } as const] };
const ZOE = { actor: 'zoe', rights: [{ role: 'finance' } as const] };

async function house(more: Parameters<ReturnType<typeof consoleHouse>['apply']>[0] = []) {
  const it = consoleHouse();
  await it.apply([...LIMITS, ...more]);
  const edit = (made: PlanEdit) => it.desk.editPlan(made, FRITZ);
  const begin = async (from = '2027-01-01'): Promise<string> => {
    const begun = await edit({ kind: 'new', name: 'Next', from });
    if (begun.outcome !== 'saved') throw new Error(JSON.stringify(begun));
    return begun.plan.id;
  };
  const write = (id: string, amounts: Readonly<Record<string, string | null>>) =>
    edit({
      kind: 'amounts',
      id,
      amounts: Object.entries(amounts).map(([place, amount]) => {
        const [subject = '', limit = ''] = place.split(' ');
        return { subject, limit, amount };
      }),
    });
  const draft = async (id: string) => {
    const found = await it.desk.plan(id);
    if (found === undefined) throw new Error('no plan');
    return found;
  };
  /** Each limit of the day, `today → planned` in units of currency. */
  const lines = async (id: string): Promise<readonly string[]> =>
    (await draft(id)).lines.map(
      ({ subject, id: limit, today, planned }) =>
        `${subject} ${limit} ${Number(today?.amount) / 1e6} → ${Number(planned.amount) / 1e6}`,
    );
  const adopt = async (id: string): Promise<void> => {
    await it.apply([{ kind: 'replace', document: (await draft(id)).document }]);
  };
  return { ...it, edit, begin, write, draft, lines, adopt };
}

test('a plan has the budgets of which a period begins on its day', async () => {
  const set = (per: 'day' | 'week' | 'quarter' | 'year' | 'hour' | 'once') =>
    ({ kind: 'set', subject: 'group/102', unit: 'money', amount: 7, per }) as const;
  const { begin, draft } = await house([
    ...(['day', 'week', 'quarter', 'year', 'hour', 'once'] as const).map(set),
  ]);
  const of = async (from: string) =>
    (await draft(await begin(from))).lines
      .filter(({ subject }) => subject === 'group/102')
      .map(({ id }) => id);
  expect(await of('2027-01-01')).toEqual(['money-day', 'money-quarter', 'money-year']);
  expect(await of('2027-04-01')).toEqual(['money-day', 'money-quarter']);
  // A Monday in the middle of a month.
  expect(await of('2027-02-15')).toEqual(['money-day', 'money-week']);
});

describe('what is written', () => {
  test('is an amount or a share of what is in force, and nothing is in force by it', async () => {
    const { begin, write, lines, desk } = await house();
    const before = (await desk.live())?.pointer.set;
    const id = await begin();
    const answer = await write(id, {
      'group/100 money-month': '1.234,50 €',
      'group/101 money-month': '+8 %',
    });
    expect(answer.outcome).toBe('saved');
    expect(await lines(id)).toEqual([
      'group/100 money-month 900 → 1234.5',
      'group/101 money-month 500 → 540',
      'group/104 money-month 3 → 3',
      'group/200 money-month 100 → 100',
    ]);
    await write(id, { 'group/100 money-month': null, 'group/101 money-month': '500' });
    expect((await desk.plan(id))?.plan.amounts).toEqual([]);
    expect((await desk.live())?.pointer.set).toBe(before);
  });

  test('what stands there already is never asked about, however a spreadsheet saves it', async () => {
    const set = { kind: 'set', subject: 'group/102', unit: 'money', amount: '1.250', per: 'month' } as const;
    const { begin, write, desk } = await house([set]);
    const id = await begin();
    expect(
      (await write(id, { 'group/102 money-month': '1.250', 'group/101 money-month': '500.00' })).outcome,
    ).toBe('saved');
    expect((await desk.plan(id))?.plan.amounts).toEqual([]);
    await write(id, { 'group/102 money-month': '1.5' });
    await write(id, { 'group/102 money-month': '1.50' });
    expect((await desk.plan(id))?.plan.amounts).toMatchObject([{ amount: '1.5' }]);
  });

  test('by a share goes to all of a place, rounded', async () => {
    const { begin, edit, lines } = await house();
    const id = await begin();
    await edit({ kind: 'scale', id, subject: 'group/101', by: '+8%', round: '10' });
    expect((await lines(id)).filter((line) => !/ (\S+) → \1$/.test(line))).toEqual([
      'group/101 money-month 500 → 540',
      'group/104 money-month 3 → 10',
    ]);
  });

  test.each([
    { what: { 'group/101 money-month': '1.000' }, why: /may be 1000 or 1/ },
    { what: { 'group/101 money-month': '5 USD' }, why: /in USD/ },
    { what: { 'group/101 money-month': '-3' }, why: /-3/ },
    { what: { 'group/104 jobs-now': '5' }, why: /is no limit that a plan from 2027-01-01 can be about/ },
    { what: { 'group/999 money-month': '5' }, why: /is no limit that a plan/ },
  ])('is refused whole where it cannot be meant: $what', async ({ what, why }) => {
    const { begin, write, desk } = await house();
    const id = await begin();
    const answer = await write(id, { 'group/100 money-month': '950', ...what });
    expect(answer).toMatchObject({ outcome: 'invalid', problems: [{ message: expect.stringMatching(why) }] });
    expect((await desk.plan(id))?.plan.amounts).toEqual([]);
  });

  test('by two at the same time is not lost', async () => {
    const { begin, write, desk } = await house();
    const id = await begin();
    const answers = await Promise.all([
      write(id, { 'group/100 money-month': '950' }),
      write(id, { 'group/101 money-month': '510' }),
    ]);
    expect(answers.map(({ outcome }) => outcome)).toEqual(['saved', 'saved']);
    expect((await desk.plan(id))?.plan.amounts).toHaveLength(2);
  });
});

describe('bounds', () => {
  test.each(['2026-11-21', '2026-01-01', '2031-01-01', '31.13.2027', 'soon', ''])(
    'no plan begins on %s',
    async (from) => {
      const { edit } = await house();
      expect((await edit({ kind: 'new', name: 'x', from })).outcome).toBe('invalid');
    },
  );

  test('there are so many plans and no more, until one is discarded', async () => {
    const { begin, edit, desk } = await house();
    const ids: string[] = [];
    for (let index = 0; index < PLANS_MAX; index += 1) ids.push(await begin());
    expect(await edit({ kind: 'new', name: 'x', from: '2027-01-01' })).toEqual({
      outcome: 'too_many',
      max: PLANS_MAX,
    });
    await edit({ kind: 'discard', id: ids[0] ?? '' });
    expect(await desk.plan(ids[0] ?? '')).toBeUndefined();
    await begin();
    expect(await desk.plans()).toHaveLength(PLANS_MAX);
  });

  test('a plan names so many limits and no more', async () => {
    const document = {
      limits: Array.from({ length: AMOUNTS_MAX + 1 }, (_, index) => ({
        on: { group: index + 1_000 },
        money: 5,
        per: 'month',
      })),
    };
    const it = await house();
    await it.apply([{ kind: 'replace', document }]);
    const id = await it.begin();
    expect(await it.edit({ kind: 'scale', id, subject: 'instance', by: '+8%' })).toMatchObject({
      outcome: 'invalid',
    });
  });

  test('only who may change all limits plans', async () => {
    const { desk, begin } = await house();
    const id = await begin();
    const olga = { actor: 'olga', rights: [{ role: 'owner' as const, groups: [100] }] };
    expect(await desk.editPlan({ kind: 'discard', id }, olga)).toEqual({ outcome: 'forbidden' });
    expect(await desk.editPlan({ kind: 'new', name: 'x', from: '2027-01-01' }, olga)).toEqual({
      outcome: 'forbidden',
    });
  });
});

describe('adopted', () => {
  test('takes a second person, holds from the day on, and until then nothing differs', async () => {
    const { begin, write, draft, desk, adopt, lines, clock } = await house();
    const id = await begin();
    await write(id, { 'group/101 money-month': '+8 %' });
    const { document, set } = await draft(id);
    const why = { why: 'next year', source: 'test', base: set };
    const alone = await desk.apply([{ kind: 'replace', document }], { ...FRITZ, ...why });
    expect(alone.outcome).toBe('needs_approval');
    await adopt(id);
    const of = async (atMs: number) => {
      const limits = (await desk.live())?.limits;
      return limits === undefined
        ? []
        : validAt(limitsOn(limits, 'group/101'), atMs).map(({ id: name, amount, owner }) => [
            name,
            amount,
            owner,
          ]);
    };
    const was = [['money-month', 500_000_000, 'payments-leads']];
    expect(await of(clock.nowMs())).toEqual(was);
    expect(await of(Date.UTC(2026, 11, 31, 23, 59))).toEqual(was);
    expect(await of(Date.UTC(2027, 0, 1))).toEqual([
      ['money-month-2027-01-01', 540_000_000, 'payments-leads'],
    ]);
    expect(await lines(id)).toContain('group/101 money-month 500 → 540');
  });

  test('may be planned anew, for the same day and for the next year', async () => {
    const { begin, write, adopt, lines, draft } = await house();
    const id = await begin();
    await write(id, { 'group/101 money-month': '540' });
    await adopt(id);
    expect((await draft(id)).lines.every(({ without, planned }) => without.amount === planned.amount)).toBe(
      true,
    );
    await write(id, { 'group/101 money-month': '560' });
    await adopt(id);
    expect(await lines(id)).toContain('group/101 money-month 500 → 560');
    const next = await begin('2028-01-01');
    await write(next, { 'group/101 money-month': '600' });
    await adopt(next);
    expect(await lines(next)).toContain('group/101 money-month 500 → 600');
    const { limits } = (await draft(next)).document as { limits: { on: { group: number }; id?: string }[] };
    const ids = limits.filter(({ on }) => on.group === 101).map((each) => each.id);
    expect(ids).toEqual([undefined, 'money-month-2027-01-01', 'money-month-2028-01-01']);
  });

  test('is taken back like any edit', async () => {
    const { begin, write, adopt, desk, apply } = await house();
    const before = (await desk.live())?.document;
    const id = await begin();
    await write(id, { 'group/101 money-month': '540' });
    await adopt(id);
    await apply([{ kind: 'replace', document: before }]);
    expect((await desk.live())?.document).toEqual(before);
  });

  test('leaves out a limit that is gone, and says so', async () => {
    const { begin, write, apply, draft } = await house();
    const id = await begin();
    await write(id, { 'group/101 money-month': '540', 'group/104 money-month': '4' });
    await apply([{ kind: 'remove', subject: 'group/104', limit: 'money-month' }]);
    const { gone, lines, problems } = await draft(id);
    expect(gone).toEqual([{ subject: 'group/104', limit: 'money-month', amount: '4' }]);
    expect([lines.length, problems]).toEqual([3, []]);
  });
});

test('a plan that waits for approval names its request', async () => {
  const { begin, edit, desk } = await house();
  const id = await begin();
  await edit({ kind: 'asked', id, request: 'r-1' });
  expect((await desk.plan(id))?.plan.request).toBe('r-1');
  expect(await desk.editPlan({ kind: 'asked', id: 'p-none', request: 'r-1' }, ZOE)).toEqual({
    outcome: 'unknown',
  });
});

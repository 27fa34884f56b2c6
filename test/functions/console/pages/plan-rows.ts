/** A plan as pages show it. */
import type { PlanRow, PlanView } from '../../../../functions/answers/plans/model.ts';
import type { LimitPlan, PlannedLimit } from '../../../../functions/core/limits/plans/limit-plan.ts';
import { limitsOn } from '../../../../policies/limits/limits.ts';
import { someLimits } from '../../../policies/documents.ts';
import { aGroup, NOW_MS } from './rows.ts';

const EUR = 1_000_000;

export const A_PLAN: LimitPlan = {
  id: 'p-1',
  name: 'Year 2027',
  from: '2027-01-01',
  by: 'fiona',
  atMs: NOW_MS - 86_400_000,
  changedBy: 'fiona',
  changedAtMs: NOW_MS - 3_600_000,
  amounts: [{ subject: 'group/101', limit: 'money-month', amount: '540' }],
};

const limitOf = (money: number): PlannedLimit['planned'] => {
  const [limit] = limitsOn(
    someLimits({ limits: [{ on: { group: 101 }, money, per: 'month' }] }),
    'group/101',
  );
  if (limit === undefined) throw new Error('no limit');
  return limit;
};

export const A_PLANNED_LIMIT: PlannedLimit = {
  subject: 'group/101',
  id: 'money-month',
  today: limitOf(500),
  without: limitOf(500),
  planned: limitOf(540),
};

const rowOf = (index: number): PlanRow => {
  const today = (200 + (index % 7) * 150) * EUR;
  const isPlanned = index % 3 !== 2;
  return {
    subject: `group/${100 + index}`,
    path: aGroup(index).path,
    limit: 'money-month',
    kind: 'money',
    unit: 'micros',
    per: 'month',
    zone: 'Europe/Berlin',
    ...(index !== 4 && { today }),
    planned: isPlanned ? Math.round(today * 1.08) : today,
    isPlanned,
    ...(index % 5 !== 3 && {
      lastYear: {
        ...{ fromDay: '2026-01-01', toDay: '2026-10-31', periods: 10 },
        ...{ mean: Math.round(today * 0.83), most: Math.round(today * 1.04) },
      },
      forecast: Math.round(today * 0.96),
    }),
  };
};

const rows = Array.from({ length: 12 }, (_, index) => rowOf(index));
const sum = (of: (row: PlanRow) => number): string => String(rows.reduce((total, row) => total + of(row), 0));

export const A_PLAN_VIEW: PlanView = {
  ...{ id: A_PLAN.id, name: A_PLAN.name, from: A_PLAN.from, by: A_PLAN.by, atMs: A_PLAN.atMs },
  ...{ changedBy: A_PLAN.changedBy, changedAtMs: A_PLAN.changedAtMs, amounts: 8, state: 'draft' },
  set: 's42',
  currency: 'EUR',
  rows,
  total: rows.length,
  totals: [
    {
      ...{ kind: 'money', unit: 'micros', per: 'month', limits: rows.length },
      today: sum(({ today }) => Number(today ?? 0)),
      planned: sum(({ planned }) => Number(planned)),
    },
  ],
  gone: [{ subject: 'group/190', path: 'acme/old', limit: 'money-month', amount: '90' }],
  problems: [],
};

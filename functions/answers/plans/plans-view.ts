/** Plans as pages, the API and the command line show them: to whoever sees all limits, and to nobody else. */
import { problemText } from '../../../policies/document/parsed.ts';
import { dayNumber, dayOfIso } from '../../../policies/limits/calendar.ts';
import { compareTexts } from '../../../policies/text/compare-texts.ts';
import type { LimitPlan, PlanDraft, PlannedLimit } from '../../core/limits/index.ts';
import { actingUser } from '../reading/acting-user.ts';
import type { ReadContext } from '../reading/reading.ts';
import { NOWHERE, scopeOf, subjectLabelOf } from '../reading/scope.ts';
import { readDays, today, type UsageBySubject } from '../reading/usage-days.ts';
import type { Viewer } from '../reading/viewer.ts';
import type { PlanQuery, PlanRow, PlanSummary, PlanTotal, PlanView } from './model.ts';
import { figureSpan, planFigures } from './plan-figures.ts';

const ROWS_DEFAULT = 40;
export const PLAN_ROWS_MAX = 2_000;
/** A year of days each. */
const FIGURES_MAX = 100;

export const plansOf =
  ({ desk, places }: ReadContext) =>
  async (viewer: Viewer): Promise<readonly PlanSummary[]> => {
    const { directory } = (await places()) ?? NOWHERE;
    return scopeOf(viewer.roles, directory).seesAll ? (await desk.plans()).map(planSummary) : [];
  };

export function planSummary({
  id,
  name,
  from,
  by,
  atMs,
  changedBy,
  changedAtMs,
  amounts,
}: LimitPlan): PlanSummary {
  return { id, name, from, by, atMs, changedBy, changedAtMs, amounts: amounts.length };
}

/** Undefined: there is no such plan, or it is not theirs to see. */
export const planOf =
  (reading: ReadContext) =>
  async ({ id, cursor, max = ROWS_DEFAULT }: PlanQuery, viewer: Viewer): Promise<PlanView | undefined> => {
    const { desk, places, zone, clock, policy } = reading;
    const { directory } = (await places()) ?? NOWHERE;
    if (!scopeOf(viewer.roles, directory).seesAll) return undefined;
    const draft = await desk.plan(id);
    if (draft === undefined) return undefined;
    const { plan, set, lines, gone, problems } = draft;
    const waiting = await requestOf(plan, viewer, reading);
    const nowMs = clock.nowMs();
    const [from, day] = [dayNumber(dayOfIso(plan.from)), today(zone, nowMs)];
    const ordered = lines
      .map((line) => ({ ...line, path: subjectLabelOf(line.subject, directory) }))
      .toSorted((a, b) => compareTexts(a.path, b.path) || compareTexts(a.id, b.id));
    const start = /^\d{1,6}$/.test(cursor ?? '') ? Number(cursor) : 0;
    const shown = ordered.slice(start, start + max);
    const usage: UsageBySubject =
      shown.length > FIGURES_MAX
        ? new Map()
        : await readDays(
            shown.map(({ subject }) => subject),
            figureSpan(from, day),
            reading.usage,
          );
    return {
      ...planSummary(plan),
      state: stateOf(draft, waiting, from <= day),
      ...(waiting !== undefined && { request: waiting }),
      set,
      currency: policy.currency,
      rows: shown.map((line) => ({
        ...rowOf(line, line.path),
        ...planFigures(line.planned, usage.get(line.subject) ?? [], { from, today: day, nowMs }),
      })),
      total: ordered.length,
      ...(start + max < ordered.length && { next: String(start + max) }),
      totals: totalsOf(lines),
      gone: gone.map((each) => ({ ...each, path: subjectLabelOf(each.subject, directory) })),
      problems: problems.map(problemText),
    };
  };

/** Adopted is what the limits say, not what somebody once did: it may have been taken back. */
function stateOf(
  { plan, lines, gone, problems }: PlanDraft,
  waiting: string | undefined,
  isOver: boolean,
): PlanView['state'] {
  if (isOver) return 'over';
  const isLive =
    gone.length === 0 &&
    problems.length === 0 &&
    lines.every(({ without, planned }) => without.amount === planned.amount);
  if (plan.amounts.length > 0 && isLive) return 'adopted';
  return waiting === undefined ? 'draft' : 'asked';
}

/** The request that adopts it, if somebody still has to decide it. */
async function requestOf(
  { request }: LimitPlan,
  viewer: Viewer,
  { desk }: ReadContext,
): Promise<string | undefined> {
  if (request === undefined) return undefined;
  const all = await desk.requests(actingUser(viewer));
  return all.some(({ id, state }) => id === request && state === 'pending') ? request : undefined;
}

function rowOf({ subject, id, today: now, without, planned }: PlannedLimit, path: string): PlanRow {
  const { kind, unit, per = 'month', zone, amount } = planned;
  return {
    ...{ subject, path, limit: id, kind, unit, per, zone },
    ...(now !== undefined && { today: now.amount }),
    planned: amount,
    isPlanned: amount !== without.amount || (now !== undefined && amount !== now.amount),
  };
}

function totalsOf(lines: readonly PlannedLimit[]): readonly PlanTotal[] {
  const groups = Map.groupBy(lines, ({ planned: { kind, per } }) => `${kind} ${per}`);
  return [...groups.values()]
    .toSorted((a, b) => b.length - a.length)
    .flatMap((some): readonly PlanTotal[] => {
      const [first] = some;
      if (first?.planned.per === undefined) return [];
      const { kind, unit, per } = first.planned;
      const sum = (amounts: readonly (number | 'unlimited' | undefined)[]): string =>
        String(amounts.reduce((all, each) => all + BigInt(typeof each === 'number' ? each : 0), 0n));
      return [
        {
          ...{ kind, unit, per, limits: some.length },
          today: sum(some.map((each) => each.today?.amount)),
          planned: sum(some.map((each) => each.planned.amount)),
        },
      ];
    });
}

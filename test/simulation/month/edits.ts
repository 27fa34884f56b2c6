import { DAY_MS, HOUR_MS } from '../../../policies/limits/calendar.ts';
import { seededRandom } from '../../../scripts/local/random.ts';
import type { RuleSet, WrittenGrant, WrittenLimit } from '../rulebook/rule-set.ts';
import type { DrawnGroup, Workload } from './draw.ts';
import { firstLimits, wholeCents } from './limits.ts';
import { EDIT_SHARE, EXEMPT, MONTH_START_MS, OUTAGE, SIMULATED_PRICES, TABLE_SILENT } from './shape.ts';
import { between } from './starts.ts';

interface Change {
  readonly atMs: number;
  readonly change: (before: RuleSet) => RuleSet;
}

export function drawRuleSets(workload: Workload): RuleSet[] {
  const { groups, projects, shape } = workload;
  const random = seededRandom(shape.seed + 8);
  const byLevel = (wanted: number): readonly DrawnGroup[] => groups.filter(({ level }) => level === wanted);
  const [roots, middles, leaves] = [byLevel(1), byLevel(2), byLevel(3)];
  const limits = firstLimits(workload);
  const first: RuleSet = {
    ...{ fromMs: MONTH_START_MS, limits, prices: SIMULATED_PRICES, byMinute: [] },
    grants: some(middles, EDIT_SHARE.middleGrant.share, random).flatMap(({ id }) =>
      grantOn(`group/${id}`, limits, random),
    ),
    exemptions: some(leaves, EXEMPT.share, random).map(({ id }) => ({
      ...{ groupId: id, jobName: EXEMPT.jobName, untilMs: EXEMPT.untilMs },
    })),
    parentOf: new Map(groups.flatMap(({ id, parentId }) => (parentId === undefined ? [] : [[id, parentId]]))),
    groupOf: new Map(projects.map(({ id, groupIds: [, , leaf] }) => [id, leaf])),
  };
  const changes: readonly Change[] = [
    ...some(middles, EDIT_SHARE.middleBudget.share, random).map(({ id }) =>
      resized(`group/${id}`, 'money-month', EDIT_SHARE.middleBudget, random),
    ),
    ...some(leaves, EDIT_SHARE.leafSlots.share, random).map(({ id }) =>
      resized(`group/${id}`, 'jobs-now', EDIT_SHARE.leafSlots, random),
    ),
    ...some(leaves, EDIT_SHARE.leafBlocked.share, random).flatMap(({ id }) =>
      forAWhile(`group/${id}`, 0, EDIT_SHARE.leafBlocked.hours * HOUR_MS, limits, random),
    ),
    ...some(leaves, EDIT_SHARE.leafUnlimited.share, random).flatMap(({ id }) =>
      forAWhile(`group/${id}`, 'unlimited', EDIT_SHARE.leafUnlimited.days * DAY_MS, limits, random),
    ),
    ...some(leaves, EDIT_SHARE.leafMode, random).flatMap(({ id }): readonly Change[] => [
      { atMs: someTime(random), change: edited(`group/${id}`, 'money-day', { mode: 'enforce' }) },
      { atMs: someTime(random), change: edited(`group/${id}`, 'starts-hour', { mode: 'shadow' }) },
    ]),
    ...some(middles, EDIT_SHARE.middleMoves, random).map((group) => moved(group, roots, random)),
    ...some(leaves, EDIT_SHARE.leafMoves, random).map((group) => moved(group, middles, random)),
  ];
  const ruleSets = [first];
  for (const { atMs, change } of changes.toSorted((a, b) => a.atMs - b.atMs))
    ruleSets.push({ ...change(ruleSets.at(-1) ?? first), fromMs: atMs });
  return ruleSets;
}

function some<T>(all: readonly T[], share: number, random: () => number): readonly T[] {
  const left = [...all];
  return Array.from({ length: Math.ceil(all.length * share) }, () =>
    left.splice(Math.floor(random() * left.length), 1),
  ).flat();
}

function someTime(random: () => number): number {
  for (;;) {
    const day = 2 + Math.floor(random() * 27);
    // The month begins on a Sunday.
    const isWeekend = (day - 1) % 7 === 0 || (day - 1) % 7 === 6;
    const atMs = MONTH_START_MS + (day - 1) * DAY_MS + Math.floor(between(9 * 60, 17 * 60, random)) * 60_000;
    const isQuiet = [OUTAGE, TABLE_SILENT].every(
      ({ fromMs, untilMs }) => atMs < fromMs - HOUR_MS || atMs > untilMs + HOUR_MS,
    );
    if (!isWeekend && isQuiet) return atMs;
  }
}

const edited =
  (subject: string, id: string, change: Partial<WrittenLimit>) =>
  (before: RuleSet): RuleSet => ({
    ...before,
    limits: before.limits.map((limit) =>
      limit.subject === subject && limit.id === id ? { ...limit, ...change } : limit,
    ),
  });

function resized(
  subject: string,
  id: string,
  { least, most }: { readonly least: number; readonly most: number },
  random: () => number,
): Change {
  const share = between(least, most, random);
  const change = (before: RuleSet): RuleSet => {
    const limit = before.limits.find((each) => each.subject === subject && each.id === id);
    if (limit === undefined || limit.amount === 'unlimited') return before;
    const amount = limit.amount * share;
    const whole = limit.unit === 'micros' ? wholeCents(amount) : Math.ceil(amount);
    return edited(subject, id, { amount: whole })(before);
  };
  return { atMs: someTime(random), change };
}

function forAWhile(
  subject: string,
  amount: 0 | 'unlimited',
  lengthMs: number,
  limits: readonly WrittenLimit[],
  random: () => number,
): readonly Change[] {
  const atMs = someTime(random);
  const before = limits.find((limit) => limit.subject === subject && limit.id === 'money-month');
  if (before === undefined) return [];
  return [
    { atMs, change: edited(subject, before.id, { amount }) },
    { atMs: atMs + lengthMs, change: edited(subject, before.id, { amount: before.amount }) },
  ];
}

function moved({ id, parentId }: DrawnGroup, parents: readonly DrawnGroup[], random: () => number): Change {
  const others = parents.filter((parent) => parent.id !== parentId);
  const target = others[Math.floor(random() * others.length)];
  const change = (before: RuleSet): RuleSet =>
    target === undefined ? before : { ...before, parentOf: new Map([...before.parentOf, [id, target.id]]) };
  return { atMs: someTime(random), change };
}

function grantOn(
  subject: string,
  limits: readonly WrittenLimit[],
  random: () => number,
): readonly WrittenGrant[] {
  const limit = limits.find((each) => each.subject === subject && each.id === 'money-month');
  if (limit === undefined || limit.amount === 'unlimited') return [];
  const { ofBudget, days } = EDIT_SHARE.middleGrant;
  const fromMs = someTime(random);
  const amount = wholeCents(limit.amount * ofBudget);
  return [{ subject, limit: limit.id, amount, fromMs, untilMs: fromMs + days * DAY_MS }];
}

/** What people change while the month goes on: limits, grants and where groups are. */
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { between, seededRandom } from '../../local/random.ts';
import type { DrawnGroup } from './draw-groups.ts';
import { firstLimits, wholeCents } from './draw-limits.ts';
import type { Workload } from './draw-workload.ts';
import type { Edition, WrittenGrant, WrittenLimit } from './expected/edition.ts';
import { EDIT_SHARE, EXEMPT, MONTH_START_MS, OUTAGE, SIMULATED_PRICES, TABLE_SILENT } from './workload.ts';

/** In force from its instant until the next one's. */
export interface DatedEdition {
  readonly fromMs: number;
  readonly edition: Edition;
}

interface Change {
  readonly atMs: number;
  readonly change: (before: Edition) => Edition;
}

const HOUR_MS = 3_600_000;

/** Oldest first. */
export function drawEditions(workload: Workload): readonly DatedEdition[] {
  const { places, shape } = workload;
  const random = seededRandom(shape.seed + 8);
  const byLevel = (wanted: number): readonly DrawnGroup[] =>
    places.groups.filter(({ level }) => level === wanted);
  const [roots, middles, leaves] = [byLevel(1), byLevel(2), byLevel(3)];
  const limits = firstLimits(workload);
  const first: Edition = {
    limits,
    grants: some(middles, EDIT_SHARE.middleGrant.share, random).flatMap(({ id }) =>
      grantOn(`group/${id}`, limits, random),
    ),
    prices: SIMULATED_PRICES,
    exemptions: some(leaves, EXEMPT.share, random).map(({ id }) => ({
      groupId: id,
      jobName: EXEMPT.jobName,
      untilMs: EXEMPT.untilMs,
    })),
    parentOf: new Map(
      places.groups.flatMap(({ id, parentId }) => (parentId === undefined ? [] : [[id, parentId]])),
    ),
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
    ...some(leaves, EDIT_SHARE.leafMode, random).flatMap(({ id }) => [
      withMode(`group/${id}`, 'money-day', 'enforce', random),
      withMode(`group/${id}`, 'starts-hour', 'shadow', random),
    ]),
    ...some(middles, EDIT_SHARE.middleMoves, random).map((group) => moved(group, roots, random)),
    ...some(leaves, EDIT_SHARE.leafMoves, random).map((group) => moved(group, middles, random)),
  ];
  const editions: DatedEdition[] = [{ fromMs: MONTH_START_MS, edition: first }];
  for (const { atMs, change } of changes.toSorted((a, b) => a.atMs - b.atMs)) {
    editions.push({ fromMs: atMs, edition: change(editions.at(-1)?.edition ?? first) });
  }
  return editions;
}

/** The highest amount that was ever enforced on a limit, by `subject|limit`; absent where it was not enforced all the time. */
export function highestBounds(editions: readonly DatedEdition[]): ReadonlyMap<string, number> {
  const highest = new Map<string, number>();
  for (const { edition } of editions) {
    for (const { subject, id, amount, mode } of edition.limits) {
      const name = `${subject}|${id}`;
      const granted = edition.grants
        .filter((grant) => grant.subject === subject && grant.limit === id)
        .reduce((sum, grant) => sum + grant.amount, 0);
      const bound = amount === 'unlimited' || mode === 'shadow' ? Number.POSITIVE_INFINITY : amount + granted;
      highest.set(name, Math.max(highest.get(name) ?? 0, bound));
    }
  }
  return highest;
}

/** At least one. */
function some<T>(all: readonly T[], share: number, random: () => number): readonly T[] {
  const left = [...all];
  return Array.from({ length: Math.ceil(all.length * share) }, () =>
    left.splice(Math.floor(random() * left.length), 1),
  ).flat();
}

/** On a weekday between nine and five, in whole minutes, and not where GitLab or the table is silent. */
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
  (subject: string, id: string, edit: (limit: WrittenLimit) => WrittenLimit) =>
  (before: Edition): Edition => ({
    ...before,
    limits: before.limits.map((limit) =>
      limit.subject === subject && limit.id === id ? edit(limit) : limit,
    ),
  });

function resized(
  subject: string,
  id: string,
  { least, most }: { readonly least: number; readonly most: number },
  random: () => number,
): Change {
  const share = between(least, most, random);
  const change = edited(subject, id, (limit) => {
    if (limit.amount === 'unlimited') return limit;
    const amount = limit.amount * share;
    return { ...limit, amount: limit.unit === 'micros' ? wholeCents(amount) : Math.ceil(amount) };
  });
  return { atMs: someTime(random), change };
}

/** And afterwards as it was. */
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
    { atMs, change: edited(subject, before.id, (limit) => ({ ...limit, amount })) },
    {
      atMs: atMs + lengthMs,
      change: edited(subject, before.id, (limit) => ({ ...limit, amount: before.amount })),
    },
  ];
}

const withMode = (subject: string, id: string, mode: WrittenLimit['mode'], random: () => number): Change => ({
  atMs: someTime(random),
  change: edited(subject, id, (limit) => ({ ...limit, mode })),
});

function moved({ id, parentId }: DrawnGroup, parents: readonly DrawnGroup[], random: () => number): Change {
  const others = parents.filter((parent) => parent.id !== parentId);
  const target = others[Math.floor(random() * others.length)];
  const change = (before: Edition): Edition =>
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

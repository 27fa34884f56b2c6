/** The limits that are in force when the month begins, by what the jobs of each group and project would use. */
import { between, seededRandom } from '../../local/random.ts';
import type { DrawnGroup } from './draw-groups.ts';
import type { Workload } from './draw-workload.ts';
import type { WrittenLimit } from './expected/edition.ts';
import { trueMicros } from './true-cost.ts';
import {
  BUDGET_SHARE,
  FISCAL_START,
  LARGE_SLOTS,
  NARROW,
  RUNNER_CLASSES,
  SLOTS,
  STARTS,
  WAITS,
  WATCHED_DAY,
  WORKING_DAYS,
  WORKING_HOURS_A_DAY,
  ZONE,
  ZONE_OF_EARLY_ENDS,
  ZONE_OF_LATE_DAYS,
} from './workload.ts';

export function firstLimits({ shape, places, jobs }: Workload): readonly WrittenLimit[] {
  const demand = demandOf({ places, jobs });
  // Its own numbers, so that a change of the jobs does not move every budget.
  const random = seededRandom(shape.seed + 1);
  const patience = seededRandom(shape.seed + 10);
  const limits = [
    ...places.groups.flatMap((group) => groupLimits(group, demand(`group/${group.id}`), random)),
    ...places.projects.flatMap(({ id }) => projectLimits(id, demand(`project/${id}`), random)),
    slots('runner-class/large', demand('runner-class/large'), LARGE_SLOTS),
  ];
  return [
    ...limits.map((limit) => withPatience(limit, patience)),
    ...places.projects.flatMap(({ id }) => narrowSlots(`project/${id}`, demand, patience)),
  ];
}

/** A pipeline finds no room for all its jobs at once, and the others wait. */
function narrowSlots(
  subject: string,
  demand: (subject: string) => Demand,
  random: () => number,
): readonly WrittenLimit[] {
  if (random() >= NARROW.share) return [];
  const waitSeconds = NARROW.seconds[Math.floor(random() * NARROW.seconds.length)] ?? 0;
  return [{ ...slots(subject, demand(subject), NARROW), waitSeconds }];
}

/** Some limits have it whose room comes back within seconds. */
function withPatience(limit: WrittenLimit, random: () => number): WrittenLimit {
  if (limit.unit !== 'jobs' && limit.unit !== 'starts') return limit;
  const waitSeconds = WAITS.seconds[Math.floor(random() * WAITS.seconds.length)];
  return random() < WAITS.share && waitSeconds !== undefined ? { ...limit, waitSeconds } : limit;
}

interface Demand {
  readonly micros: number;
  readonly seconds: number;
  readonly jobs: number;
}

/** What the jobs of a subject would use if all were admitted. */
function demandOf({ places, jobs }: Pick<Workload, 'places' | 'jobs'>): (subject: string) => Demand {
  const sums = new Map<string, { micros: number; seconds: number; jobs: number }>();
  const sumOf = (subject: string) => {
    const sum = sums.get(subject) ?? { micros: 0, seconds: 0, jobs: 0 };
    sums.set(subject, sum);
    return sum;
  };
  const above = places.projects.map(({ id, groupIds }) => [
    sumOf(`project/${id}`),
    ...groupIds.map((groupId) => sumOf(`group/${groupId}`)),
  ]);
  const ofClass = new Map(RUNNER_CLASSES.map((name) => [name, sumOf(`runner-class/${name}`)]));
  for (const job of jobs) {
    const micros = trueMicros(job, job.askedAtMs);
    for (const sum of [...(above[job.project] ?? []), ofClass.get(job.kind.runnerClass)]) {
      if (sum === undefined) continue;
      sum.micros += micros;
      sum.seconds += job.durationSeconds;
      sum.jobs += 1;
    }
  }
  return (subject) => sums.get(subject) ?? { micros: 0, seconds: 0, jobs: 0 };
}

function groupLimits(
  { id, level }: DrawnGroup,
  demand: Demand,
  random: () => number,
): readonly WrittenLimit[] {
  const subject = `group/${id}`;
  const { least, most } = BUDGET_SHARE[level === 1 ? 'root' : level === 2 ? 'middle' : 'leaf'];
  const month = { ...money(subject, demand.micros * between(least, most, random)), zone: ZONE };
  if (level === 1) return [month, yearOf(month)];
  if (level === 3) return leafLimits(month, demand, random);
  const share = between(BUDGET_SHARE.middleDay.least, BUDGET_SHARE.middleDay.most, random);
  const day = money(subject, (demand.micros / WORKING_DAYS) * share);
  const zone = random() < 0.5 ? ZONE : ZONE_OF_LATE_DAYS;
  const limits = [month, slots(subject, demand, SLOTS.middle)];
  return random() < BUDGET_SHARE.middleDay.chance
    ? [...limits, { ...day, id: 'money-day', per: 'day', zone }]
    : limits;
}

function leafLimits(month: WrittenLimit, demand: Demand, random: () => number): readonly WrittenLimit[] {
  const { subject } = month;
  const zone = random() < 0.3 ? ZONE_OF_EARLY_ENDS : month.zone;
  const limits: WrittenLimit[] = [{ ...month, zone }, slots(subject, demand, SLOTS.leaf)];
  const share = between(WATCHED_DAY.least, WATCHED_DAY.most, random);
  if (random() < WATCHED_DAY.share) {
    const day = money(subject, (demand.micros / WORKING_DAYS) * share);
    limits.push({ ...day, id: 'money-day', per: 'day', zone: ZONE_OF_LATE_DAYS, mode: 'shadow' });
  }
  if (random() < STARTS.share) {
    const hourly = (STARTS.times * demand.jobs) / (WORKING_DAYS * WORKING_HOURS_A_DAY);
    const amount = Math.max(STARTS.floor, Math.ceil(hourly));
    limits.push({
      subject,
      id: 'starts-hour',
      unit: 'starts',
      per: 'hour',
      zone: 'UTC',
      mode: 'enforce',
      amount,
    });
  }
  return limits;
}

function projectLimits(id: number, demand: Demand, random: () => number): readonly WrittenLimit[] {
  const { least, most, chance } = BUDGET_SHARE.projectWeek;
  const minutes = Math.ceil((demand.seconds / 60 / (WORKING_DAYS / 5)) * between(least, most, random));
  const amount = 60 * Math.max(1, minutes);
  const subject = `project/${id}`;
  return random() < chance
    ? [{ subject, id: 'minutes-week', unit: 'seconds', per: 'week', zone: ZONE, mode: 'enforce', amount }]
    : [];
}

/** A fiscal year of two months' money, which ends in the middle of this one: it never decides, and has to be right all the same. */
const yearOf = (month: WrittenLimit): WrittenLimit => ({
  ...month,
  id: 'money-year',
  per: 'year',
  zone: ZONE_OF_EARLY_ENDS,
  fiscalStart: FISCAL_START,
  amount: month.amount === 'unlimited' ? month.amount : 2 * month.amount,
});

function slots(
  subject: string,
  demand: Demand,
  { times, floor }: { readonly times: number; readonly floor: number },
): WrittenLimit {
  const inFlight = demand.seconds / (WORKING_DAYS * WORKING_HOURS_A_DAY * 3_600);
  const amount = Math.max(floor, Math.ceil(inFlight * times));
  return { subject, id: 'jobs-now', unit: 'jobs', zone: 'UTC', mode: 'enforce', amount };
}

const CENT_MICROS = 10_000;

/** A month's budget of whole cents, at least one. */
const money = (subject: string, micros: number): Omit<WrittenLimit, 'zone'> & { amount: number } => ({
  subject,
  id: 'money-month',
  unit: 'micros',
  per: 'month',
  mode: 'enforce',
  amount: wholeCents(micros),
});

export const wholeCents = (micros: number): number =>
  Math.max(1, Math.round(micros / CENT_MICROS)) * CENT_MICROS;

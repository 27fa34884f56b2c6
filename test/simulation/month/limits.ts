import { seededRandom } from '../../../scripts/local/random.ts';
import type { WrittenLimit } from '../rulebook/rule-set.ts';
import { type DrawnGroup, trueMicros, type Workload } from './draw.ts';
import {
  BUDGET_SHARE,
  FISCAL_START,
  LARGE_SLOTS,
  NARROW,
  SLOTS,
  STARTS,
  WAITS,
  WATCHED_DAY,
  WORKING_DAYS,
  WORKING_HOURS_A_DAY,
  ZONE,
  ZONE_OF_EARLY_ENDS,
  ZONE_OF_LATE_DAYS,
} from './shape.ts';
import { between } from './starts.ts';

export function firstLimits({ shape, groups, projects, jobs }: Workload): readonly WrittenLimit[] {
  const demand = demandOf(jobs);
  const random = seededRandom(shape.seed + 1);
  const waits = seededRandom(shape.seed + 10);
  const limits = [
    ...groups.flatMap((group) => groupLimits(group, demand(`group/${group.id}`), random)),
    ...projects.flatMap(({ id }) => projectLimits(id, demand(`project/${id}`), random)),
    slots('runner-class/large', demand('runner-class/large'), LARGE_SLOTS),
  ];
  return [
    ...limits.map((limit) => withWait(limit, waits)),
    ...projects.flatMap(({ id }) => narrowSlots(`project/${id}`, demand(`project/${id}`), waits)),
  ];
}

function narrowSlots(subject: string, demand: Demand, random: () => number): readonly WrittenLimit[] {
  if (random() >= NARROW.share) return [];
  const waitSeconds = NARROW.seconds[Math.floor(random() * NARROW.seconds.length)] ?? 0;
  return [{ ...slots(subject, demand, NARROW), waitSeconds }];
}

function withWait(limit: WrittenLimit, random: () => number): WrittenLimit {
  if (limit.unit !== 'jobs' && limit.unit !== 'starts') return limit;
  const waitSeconds = WAITS.seconds[Math.floor(random() * WAITS.seconds.length)];
  return random() < WAITS.share && waitSeconds !== undefined ? { ...limit, waitSeconds } : limit;
}

interface Demand {
  micros: number;
  seconds: number;
  jobs: number;
}

function demandOf(jobs: Workload['jobs']): (subject: string) => Demand {
  const sums = new Map<string, Demand>();
  for (const job of jobs) {
    const { project, runnerClass, durationSeconds } = job;
    const groups = project.groupIds.map((id) => `group/${id}`);
    for (const subject of [...groups, `project/${project.id}`, `runner-class/${runnerClass}`]) {
      const sum = sums.get(subject) ?? { micros: 0, seconds: 0, jobs: 0 };
      sums.set(subject, sum);
      sum.micros += trueMicros(job, job.askedAtMs);
      sum.seconds += durationSeconds;
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
  // A fiscal year that ends within the month has two months' money: it never decides, and must be right all the same.
  const year = {
    id: 'money-year',
    per: 'year',
    zone: ZONE_OF_EARLY_ENDS,
    fiscalStart: FISCAL_START,
  } as const;
  if (level === 1) return [month, { ...month, ...year, amount: 2 * month.amount }];
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
      ...{ subject, id: 'starts-hour', unit: 'starts', per: 'hour', zone: 'UTC', mode: 'enforce', amount },
    });
  }
  return limits;
}

function projectLimits(id: number, demand: Demand, random: () => number): readonly WrittenLimit[] {
  const { least, most, chance } = BUDGET_SHARE.projectWeek;
  const minutes = Math.ceil((demand.seconds / 60 / (WORKING_DAYS / 5)) * between(least, most, random));
  const amount = 60 * Math.max(1, minutes);
  const week = { id: 'minutes-week', unit: 'seconds', per: 'week', zone: ZONE, mode: 'enforce' } as const;
  return random() < chance ? [{ ...week, subject: `project/${id}`, amount }] : [];
}

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

const money = (subject: string, micros: number): Omit<WrittenLimit, 'zone'> & { amount: number } => ({
  ...{ subject, id: 'money-month', unit: 'micros', per: 'month', mode: 'enforce' },
  amount: wholeCents(micros),
});

export const wholeCents = (micros: number): number =>
  Math.max(1, Math.round(micros / CENT_MICROS)) * CENT_MICROS;

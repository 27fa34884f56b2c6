/** Policy, limits and directory of the month, through the same parsers that read the files of a deployment. */
import type { Rules } from '../../functions/admit/decide-deps.ts';
import { parseLimits } from '../../policies/document/parse-limits.ts';
import { parsePolicy } from '../../policies/document/parse-policy.ts';
import { type DocumentProblem, type Parsed, problemText } from '../../policies/document/parsed.ts';
import type { LimitSet } from '../../policies/limits/limits.ts';
import { directoryOf } from '../../policies/place/directory.ts';
import { seededRandom } from '../pipeline/seeded-random.ts';
import type { Workload } from './draw-workload.ts';
import { between } from './log-normal.ts';
import { trueMicros } from './true-cost.ts';
import {
  BUDGET_SHARE,
  ESTIMATE_DEFAULT,
  PRICE_PER_MINUTE,
  SLOTS,
  WORKING_DAYS,
  WORKING_HOURS_A_DAY,
  ZONE,
} from './workload.ts';

const MICROS = 1_000_000;

export function monthRules({ shape, places, jobs }: Workload): Omit<Rules, 'estimator'> {
  const policy = valid(
    parsePolicy(
      {
        currency: 'EUR',
        prices: {
          version: '2026-11',
          classes: Object.entries(PRICE_PER_MINUTE).map(([name, rate]) => ({
            name,
            tags: [name],
            rate_per_minute: rate,
          })),
          default_class: 'small',
        },
        estimate: { default: ESTIMATE_DEFAULT },
        rules: [
          { id: 'budgets', kind: 'budget', mode: 'enforce' },
          { id: 'jobs-at-once', kind: 'concurrency', mode: 'enforce' },
        ],
      },
      'simulated month',
    ),
  );
  const demand = demandOf({ places, jobs });
  // Its own numbers, so that a change of the jobs does not move every budget.
  const random = seededRandom(shape.seed + 1);
  const limits: Parsed<LimitSet, DocumentProblem> = parseLimits(
    {
      limits: [
        ...places.groups.flatMap(({ id, level }) => groupLimits(id, level, demand(id), random)),
        ...places.projects.flatMap(({ id }) => projectLimits(id, demand(id), random)),
      ],
    },
    'simulated month',
    policy,
  );
  const directory = directoryOf(places.groups.map((group) => ({ ...group, personal: false })));
  return { policy, limits: valid(limits), directory };
}

interface Demand {
  readonly micros: number;
  readonly seconds: number;
}

/** What the jobs of a group or project would use if all were admitted, by id. */
function demandOf({ places, jobs }: Pick<Workload, 'places' | 'jobs'>): (id: number) => Demand {
  const sums = new Map<number, { micros: number; seconds: number }>();
  for (const job of jobs) {
    const project = places.projects[job.project];
    if (project === undefined) continue;
    for (const id of [project.id, ...project.groupIds]) {
      const sum = sums.get(id) ?? { micros: 0, seconds: 0 };
      sum.micros += trueMicros(job);
      sum.seconds += job.durationSeconds;
      sums.set(id, sum);
    }
  }
  return (id) => sums.get(id) ?? { micros: 0, seconds: 0 };
}

function groupLimits(id: number, level: 1 | 2 | 3, demand: Demand, random: () => number): readonly unknown[] {
  const on = { group: id };
  const { least, most } = BUDGET_SHARE[level === 1 ? 'root' : level === 2 ? 'middle' : 'leaf'];
  const month = { on, money: money(demand.micros * between(least, most, random)), per: 'month', zone: ZONE };
  if (level === 1) return [month];
  const { times, floor } = level === 2 ? SLOTS.middle : SLOTS.leaf;
  const inFlight = demand.seconds / (WORKING_DAYS * WORKING_HOURS_A_DAY * 3_600);
  const slots = { on, jobs: Math.max(floor, Math.ceil(inFlight * times)) };
  if (level === 3) return [month, slots];
  const { middleDay } = BUDGET_SHARE;
  const share = between(middleDay.least, middleDay.most, random);
  if (random() >= middleDay.chance) return [month, slots];
  return [month, slots, { on, money: money((demand.micros / WORKING_DAYS) * share), per: 'day', zone: ZONE }];
}

function projectLimits(id: number, demand: Demand, random: () => number): readonly unknown[] {
  const { least, most, chance } = BUDGET_SHARE.projectWeek;
  const minutes = Math.ceil((demand.seconds / 60 / (WORKING_DAYS / 5)) * between(least, most, random));
  return random() < chance
    ? [{ on: { project: id }, minutes: Math.max(1, minutes), per: 'week', zone: ZONE }]
    : [];
}

/** Whole cents, at least one. */
const money = (micros: number): number => Math.max(1, Math.round((micros / MICROS) * 100)) / 100;

function valid<T>(parsed: Parsed<T, DocumentProblem>): T {
  if (parsed.ok) return parsed.value;
  throw new Error(parsed.problems.map(problemText).join('\n'));
}

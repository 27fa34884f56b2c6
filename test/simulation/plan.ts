/** A short simulation as a value: a list of actions over a small company, drawn by fast-check, so that a failing one shrinks. */
import fc from 'fast-check';
import { HOUR_MS } from '../../policies/limits/calendar.ts';
import type { StoreFault } from '../support/ledger/memory-store.ts';
import type { Company } from './documents.ts';
import type { Availability } from './gitlab.ts';
import type { RuleSet, WrittenLimit } from './rulebook/rule-set.ts';
import { PROCESSES } from './world.ts';

interface PlannedJob {
  readonly projectId: number;
  readonly runnerClass: string;
  readonly runnerId: number;
  readonly timeoutSeconds: number;
  readonly runsAnyway: boolean;
  readonly withoutDuration: boolean;
}

export interface Plan {
  /** Shortly before a month, a year or summer time ends. */
  readonly startMs: number;
  readonly seed: number;
  readonly jobs: readonly PlannedJob[];
  readonly actions: readonly Action[];
  readonly faults: readonly (StoreFault | null)[];
  readonly chargeUnknown: 'hold' | 'nothing';
  readonly lastHooks: 'arrive' | 'arrive late' | 'are lost';
}

export const ZONE = 'Europe/Berlin';
export const RUNNERS = [1, 2, 3] as const;
const CLASSES = ['small', 'large'] as const;
const PROJECTS = [1001, 1002, 1003, 1004] as const;

const byId = <Value>(values: Readonly<Record<number, Value>>): ReadonlyMap<number, Value> =>
  new Map(Object.entries(values).map(([id, value]) => [Number(id), value]));

const GROUPS = { 100: 'acme', 200: 'globex', 101: 'a', 102: 'b', 103: 'x', 104: 'y' };

export const COMPANY: Company = {
  names: byId({ ...GROUPS, ...Object.fromEntries(PROJECTS.map((id) => [id, `p${id}`])) }),
  classes: CLASSES,
  // Short, so that many jobs run longer than their hold.
  estimateSeconds: 120,
};

const limit = (
  subject: string,
  id: string,
  unit: WrittenLimit['unit'],
  amount: number,
  per?: WrittenLimit['per'],
  zone = 'UTC',
): WrittenLimit & { readonly amount: number } => ({
  ...{ subject, id, unit, amount, zone, mode: 'enforce' },
  ...(per !== undefined && { per }),
});

/** Each is worth some jobs: a minute of small costs about 0.06, of large about 0.36. Recorded plans name them by index. */
const FIRST_LIMITS: readonly (WrittenLimit & { readonly amount: number })[] = [
  limit('group/100', 'money-month', 'micros', 6_000_000, 'month', ZONE),
  limit('group/100', 'jobs-now', 'jobs', 6),
  limit('group/101', 'money-month', 'micros', 2_000_000, 'month', ZONE),
  limit('group/102', 'minutes-day', 'seconds', 1_200, 'day', ZONE),
  limit('group/103', 'starts-hour', 'starts', 3, 'hour'),
  limit('group/103', 'jobs-now', 'jobs', 2),
  limit('group/104', 'money-day', 'micros', 900_000, 'day'),
  { ...limit('project/1001', 'money-day', 'micros', 200_000, 'day', ZONE), mode: 'shadow' },
  limit('project/1003', 'minutes-once', 'seconds', 1_800, 'once'),
  limit('group/200', 'jobs-now', 'jobs', 2),
  limit('instance', 'jobs-now', 'jobs', 5),
  limit('instance', 'money-month', 'micros', 3_000_000, 'month', ZONE),
];

/** acme (100) ▸ a (101) ▸ x (103); acme ▸ b (102) ▸ y (104); globex (200). Group 103 and project 1003 move between a and b. */
export const FIRST_RULES: RuleSet = {
  fromMs: 0,
  prices: [{ version: 'p0', fromMs: 0, rates: { small: 61_300, large: 360_007 } }],
  byMinute: ['large'],
  limits: FIRST_LIMITS,
  grants: [],
  exemptions: [{ groupId: 101, jobName: 'unit 1', untilMs: Date.UTC(2030, 0) }],
  parentOf: byId({ 101: 100, 102: 100, 103: 101, 104: 102 }),
  groupOf: byId({ 1001: 103, 1002: 104, 1003: 101, 1004: 200 }),
};

export interface Flavour {
  readonly together: number;
  readonly edits: number;
  readonly outages: number;
  readonly faults: number;
  readonly deaths: number;
}

const JOBS = 9;
/** Before a month, summer time, a day, a year and a leap day end in Berlin. */
const STARTS_MS = [
  Date.UTC(2026, 9, 31, 22, 20),
  Date.UTC(2026, 9, 25, 0, 15),
  Date.UTC(2026, 10, 20, 22, 50),
  Date.UTC(2026, 11, 31, 22, 40),
  Date.UTC(2028, 1, 29, 21, 30),
];

const jobPlan: fc.Arbitrary<PlannedJob> = fc.record({
  projectId: fc.constantFrom(...PROJECTS),
  runnerClass: fc.constantFrom(...CLASSES),
  runnerId: fc.constantFrom(...RUNNERS),
  timeoutSeconds: fc.constantFrom(3_600, 600, 60, 172_800),
  runsAnyway: fc.constantFrom(false, false, false, true),
  withoutDuration: fc.constantFrom(false, false, true),
});

const fault = (weight: number): fc.Arbitrary<StoreFault | null> =>
  fc.oneof(
    { weight: 8, arbitrary: fc.constant(null) },
    { weight: 2 * weight, arbitrary: fc.constant({ kind: 'conflict' as const }) },
    { weight, arbitrary: fc.constant({ kind: 'throttle' as const }) },
    { weight, arbitrary: fc.constant({ kind: 'lost-before' as const }) },
    { weight: 2 * weight, arbitrary: fc.constant({ kind: 'lost-after' as const }) },
    { weight, arbitrary: fc.constant({ kind: 'slow' as const, latencyMs: 900 }) },
  );

/** Weight and fields of each action. `dieAfter`: steps after which the program dies; null: it lives. */
function draws({ edits, outages, deaths }: Flavour) {
  const dieAfter = fc.oneof(
    { weight: 6, arbitrary: fc.constant(null) },
    { weight: deaths, arbitrary: fc.nat({ max: 8 }) },
  );
  const index = fc.nat({ max: JOBS - 1 });
  const which = fc.constantFrom<number[]>(0, 1);
  const limit = fc.nat({ max: FIRST_LIMITS.length - 1 });
  const pick = fc.nat({ max: 20 });
  const states: readonly Availability[] = ['answers', 'answers', 'away', 'rate-limited', 'token-expired'];
  return {
    /** A relay asks about a batch. `heard`: the router receives the answers. */
    ask: [
      9,
      {
        relay: which,
        jobs: fc.array(index, { minLength: 1, maxLength: 4 }),
        leftMs: fc.constantFrom(2_000, 2_000, 2_000, 30_000, 400, 100),
        heard: fc.constantFrom(true, true, true, false),
        fallback: fc.constantFrom('admitted' as const, 'admitted' as const, 'rejected' as const),
        dieAfter,
      },
    ],
    /** A rejected job is retried with a reservation. From then on its index means the new job. */
    retry: [3, { job: index, keptMinutes: fc.constantFrom(0, 3), dieAfter }],
    postUnmetered: [2, { relay: which, dieAfter }],
    loseRelay: [1, { relay: which }],
    refuse: [1, { job: index }],
    start: [7, { pick: index }],
    /** Picks among running jobs; `canceled` also among waiting ones. */
    end: [
      6,
      {
        pick: index,
        how: fc.constantFrom<('success' | 'failed' | 'canceled')[]>(
          'success',
          'success',
          'failed',
          'canceled',
        ),
      },
    ],
    deliver: [
      6,
      { pick, again: fc.constantFrom<('no' | 'repeat' | 'resend')[]>('no', 'no', 'repeat', 'resend') },
    ],
    lose: [2, { pick }],
    consume: [5, { count: fc.integer({ min: 1, max: 6 }), dieAfter }],
    sweep: [4, { by: which, dieAfter }],
    rollUp: [1, { count: fc.nat({ max: 9 }), again: fc.nat({ max: 3 }) }],
    rebuild: [1, {}],
    /** Seconds, or to just before the end of the day or month in the company's zone. */
    advance: [
      4 + edits,
      {
        by: fc.oneof(
          { weight: 4, arbitrary: fc.constantFrom(1, 47, 61, 130, 601, 5_001, 5_001) },
          {
            weight: edits,
            arbitrary: fc.constantFrom('day' as const, 'day' as const, 'month' as const, 90_000),
          },
        ),
      },
    ],
    gitlab: [outages, { availability: fc.constantFrom(...states) }],
    remove: [outages, { job: index }],
    price: [
      edits,
      {
        small: fc.constantFrom(61_301, 20_001, 100_003),
        large: fc.constantFrom(360_011, 200_003),
        inMinutes: fc.constantFrom(0, 1, 30, 1_500),
      },
    ],
    limit: [
      edits + 1,
      { limit, tenths: fc.constantFrom<(number | 'unlimited')[]>(0, 1, 5, 10, 20, 'unlimited') },
    ],
    grant: [edits, { limit, tenths: fc.constantFrom(3, 10), hours: fc.constantFrom(1, 30) }],
    move: [edits, { what: fc.constantFrom('group' as const, 'project' as const) }],
  } satisfies Record<string, [weight: number, fields: Record<string, fc.Arbitrary<unknown>>]>;
}

type Draws = ReturnType<typeof draws>;
type Drawn<Fields> = {
  readonly [Field in keyof Fields]: Fields[Field] extends fc.Arbitrary<infer Value> ? Value : never;
};
export type Action =
  | { readonly [Kind in keyof Draws]: { readonly do: Kind } & Drawn<Draws[Kind][1]> }[keyof Draws]
  /** The token is replaced, between two calls of a program at the earliest. */
  | { readonly do: 'token'; readonly sees: boolean }
  | { readonly do: 'step'; readonly process: number; readonly minutes: number }
  | { readonly do: 'together'; readonly actions: readonly Action[] };

function simple(flavour: Flavour): fc.Arbitrary<Action> {
  const weighed = Object.entries(draws(flavour)).map(([kind, [weight, fields]]) => ({
    weight: weight as number,
    arbitrary: fc.record({ do: fc.constant(kind), ...(fields as object) }) as unknown as fc.Arbitrary<Action>,
  }));
  return fc.oneof(...weighed.filter(({ weight }) => weight > 0));
}

export function plans(flavour: Flavour): fc.Arbitrary<Plan> {
  const one = simple(flavour);
  const together = fc.record({
    do: fc.constant('together' as const),
    actions: fc.array(one, { minLength: 2, maxLength: 4 }),
  });
  const token = fc.record({ do: fc.constant('token' as const), sees: fc.constantFrom(false, false, true) });
  const step = fc.record({
    do: fc.constant('step' as const),
    process: fc.nat({ max: PROCESSES.length - 1 }),
    minutes: fc.constantFrom(-5, 5, 0, 1),
  });
  // Tokens and clocks change while no call is under way: an answer is checked by the clock of the process.
  const weighed = [
    { weight: 30, arbitrary: one },
    { weight: 3 * flavour.together, arbitrary: together },
    { weight: flavour.outages, arbitrary: token },
    { weight: 2 * flavour.edits, arbitrary: step },
  ];
  return fc.record({
    startMs: fc.constantFrom(...STARTS_MS),
    seed: fc.noShrink(fc.nat()),
    jobs: fc.array(jobPlan, { minLength: JOBS, maxLength: JOBS }),
    actions: fc.array(fc.oneof(...weighed.filter(({ weight }) => weight > 0)), {
      ...{ minLength: 8, maxLength: 60, size: 'max' },
    }),
    faults:
      flavour.faults === 0
        ? fc.constant([])
        : fc.array(fault(flavour.faults), { maxLength: 160, size: 'max' }),
    chargeUnknown: fc.constantFrom('hold' as const, 'nothing' as const),
    lastHooks: fc.constantFrom('arrive' as const, 'are lost' as const, 'arrive late' as const),
  });
}

const MINUTE_MS = 60_000;
type Edit = Extract<Action, { do: 'price' | 'limit' | 'grant' | 'move' }>;

export function edited(action: Edit, before: RuleSet, nowMs: number): RuleSet | undefined {
  const { prices, limits, grants, parentOf, groupOf } = before;
  const minuteMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  const next = { ...before, fromMs: nowMs };
  switch (action.do) {
    case 'price': {
      const lastMs = prices.at(-1)?.fromMs ?? 0;
      const fromMs = Math.max(minuteMs + action.inMinutes * MINUTE_MS, lastMs + MINUTE_MS);
      const { small, large } = action;
      return {
        ...next,
        prices: [...prices, { version: `p${prices.length}`, fromMs, rates: { small, large } }],
      };
    }
    case 'limit': {
      const base = baseOf(action.limit);
      const amount = action.tenths === 'unlimited' ? action.tenths : tenthsOf(base, action.tenths);
      return {
        ...next,
        limits: limits.map((each) => (isSame(each, base) ? { ...each, amount } : each)),
        // Nothing can be granted on top of no limit.
        grants:
          amount === 'unlimited'
            ? grants.filter((grant) => grant.subject !== base.subject || grant.limit !== base.id)
            : grants,
      };
    }
    case 'grant': {
      const base = baseOf(action.limit);
      const amount = tenthsOf(base, action.tenths);
      if (limits.find((each) => isSame(each, base))?.amount === 'unlimited' || amount === 0) return undefined;
      const untilMs = minuteMs + action.hours * HOUR_MS;
      const grant = { subject: base.subject, limit: base.id, amount, fromMs: minuteMs, untilMs };
      return { ...next, grants: [...grants, grant] };
    }
    case 'move': {
      const other = (id: number | undefined): number => (id === 101 ? 102 : 101);
      return action.what === 'group'
        ? { ...next, parentOf: new Map([...parentOf, [103, other(parentOf.get(103))]]) }
        : { ...next, groupOf: new Map([...groupOf, [1003, other(groupOf.get(1003))]]) };
    }
  }
}

const isSame = (a: WrittenLimit, b: WrittenLimit): boolean => a.subject === b.subject && a.id === b.id;

function baseOf(index: number): WrittenLimit & { readonly amount: number } {
  const base = FIRST_LIMITS[index % FIRST_LIMITS.length];
  if (base === undefined) throw new Error('there is at least one limit');
  return base;
}

function tenthsOf({ amount, unit }: WrittenLimit & { readonly amount: number }, tenths: number): number {
  const share = Math.ceil((amount * tenths) / 10);
  return unit === 'seconds' ? Math.ceil(share / 60) * 60 : share;
}

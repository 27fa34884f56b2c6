/** Plans drawn by fast-check. A flavour says of what there is more. */
import fc from 'fast-check';
import type { StoreFault } from '../../functions/core/ledger/memory-store.ts';
import type { Action, Plan } from './action.ts';
import { CLASSES, FIRST_LIMITS, PROJECTS, RUNNERS } from './places.ts';
import type { JobPlan, Mood } from './truth.ts';
import { PROCESSES } from './world.ts';

export interface Flavour {
  /** Weight of what happens at once among what happens. */
  readonly together: number;
  /** Weight of edits, moves, clocks and months. */
  readonly edits: number;
  /** Weight of GitLab's moods and removed projects. */
  readonly trouble: number;
  /** Weight of each kind of fault among 8 operations that work. */
  readonly faults: number;
  /** Weight of a program's death among 6 calls that end. */
  readonly deaths: number;
}

const JOBS = 9;
const ACTIONS_MIN = 8;
const ACTIONS_MAX = 60;
const FAULTS_MAX = 160;
/** Before a month, summer time, a day, a year and a leap day end in Berlin. */
const STARTS_MS = [
  Date.UTC(2026, 9, 31, 22, 20),
  Date.UTC(2026, 9, 25, 0, 15),
  Date.UTC(2026, 10, 20, 22, 50),
  Date.UTC(2026, 11, 31, 22, 40),
  Date.UTC(2028, 1, 29, 21, 30),
];
const MOODS: readonly Mood[] = ['answers', 'answers', 'away', 'rate-limited', 'token-expired'];

const index = fc.nat({ max: JOBS - 1 });
const which = fc.constantFrom(0, 1);

const jobPlan: fc.Arbitrary<JobPlan> = fc.record({
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

function simple({ edits, trouble, deaths }: Flavour): fc.Arbitrary<Action> {
  const dieAfter = fc.oneof(
    { weight: 6, arbitrary: fc.constant(null) },
    { weight: deaths, arbitrary: fc.nat({ max: 8 }) },
  );
  const limit = fc.nat({ max: FIRST_LIMITS.length - 1 });
  const of = <Kind extends Action['do']>(kind: Kind) => fc.constant(kind);
  const kinds: readonly (readonly [number, fc.Arbitrary<Action>])[] = [
    [
      9,
      fc.record({
        do: of('ask'),
        relay: which,
        jobs: fc.array(index, { minLength: 1, maxLength: 4 }),
        leftMs: fc.constantFrom(2_000, 2_000, 2_000, 30_000, 400, 100),
        heard: fc.constantFrom(true, true, true, false),
        fallback: fc.constantFrom('admitted' as const, 'admitted' as const, 'rejected' as const),
        dieAfter,
      }),
    ],
    [3, fc.record({ do: of('retry'), job: index, keptMinutes: fc.constantFrom(0, 3), dieAfter })],
    [2, fc.record({ do: of('postUnmetered'), relay: which, dieAfter })],
    [1, fc.record({ do: of('loseRelay'), relay: which })],
    [1, fc.record({ do: of('refuse'), job: index })],
    [7, fc.record({ do: of('start'), pick: index })],
    [
      6,
      fc.record({
        do: of('end'),
        pick: index,
        how: fc.constantFrom('success' as const, 'success' as const, 'failed' as const, 'canceled' as const),
      }),
    ],
    [
      6,
      fc.record({
        do: of('deliver'),
        pick: fc.nat({ max: 20 }),
        again: fc.constantFrom('no' as const, 'no' as const, 'repeat' as const, 'resend' as const),
      }),
    ],
    [2, fc.record({ do: of('lose'), pick: fc.nat({ max: 20 }) })],
    [5, fc.record({ do: of('consume'), count: fc.integer({ min: 1, max: 6 }), dieAfter })],
    [4, fc.record({ do: of('sweep'), by: which, dieAfter })],
    [1, fc.record({ do: of('rollUp'), count: fc.nat({ max: 9 }), again: fc.nat({ max: 3 }) })],
    [1, fc.record({ do: of('rebuild') })],
    [4, fc.record({ do: of('advance'), by: fc.constantFrom(1, 47, 61, 130, 601, 5_001, 5_001) })],
    [trouble, fc.record({ do: of('mood'), mood: fc.constantFrom(...MOODS) })],
    [trouble, fc.record({ do: of('remove'), job: index })],
    [
      edits,
      fc.record({
        do: of('price'),
        small: fc.constantFrom(61_301, 20_001, 100_003),
        large: fc.constantFrom(360_011, 200_003),
        inMinutes: fc.constantFrom(0, 1, 30, 1_500),
      }),
    ],
    [
      edits + 1,
      fc.record({
        do: of('limit'),
        limit,
        tenths: fc.constantFrom<number | 'unlimited'>(0, 1, 5, 10, 20, 'unlimited'),
      }),
    ],
    [
      edits,
      fc.record({ do: of('grant'), limit, tenths: fc.constantFrom(3, 10), hours: fc.constantFrom(1, 30) }),
    ],
    [edits, fc.record({ do: of('move'), what: fc.constantFrom('group' as const, 'project' as const) })],
    [
      edits,
      fc.record({
        do: of('advance'),
        by: fc.constantFrom<'day' | 'month' | number>('day', 'day', 'month', 90_000),
      }),
    ],
  ];
  return fc.oneof(...weighed(kinds));
}

const weighed = (kinds: readonly (readonly [number, fc.Arbitrary<Action>])[]) =>
  kinds.filter(([weight]) => weight > 0).map(([weight, arbitrary]) => ({ weight, arbitrary }));

export function plans(flavour: Flavour): fc.Arbitrary<Plan> {
  const one = simple(flavour);
  const token = fc.record({ do: fc.constant('token' as const), sees: fc.constantFrom(false, false, true) });
  const step = fc.record({
    do: fc.constant('step' as const),
    process: fc.nat({ max: PROCESSES.length - 1 }),
    minutes: fc.constantFrom(-5, 5, 0, 1),
  });
  const together = fc.record({
    do: fc.constant('together' as const),
    actions: fc.array(one, { minLength: 2, maxLength: 4 }),
  });
  const action = fc.oneof(
    { weight: 30, arbitrary: one },
    { weight: 3 * flavour.together, arbitrary: together },
    // In no call under way: what is told is checked by the clock of whoever told it.
    ...weighed([
      [flavour.trouble, token],
      [2 * flavour.edits, step],
    ]),
  );
  return fc.record({
    startMs: fc.constantFrom(...STARTS_MS),
    seed: fc.noShrink(fc.nat()),
    jobs: fc.array(jobPlan, { minLength: JOBS, maxLength: JOBS }),
    actions: fc.array(action, { minLength: ACTIONS_MIN, maxLength: ACTIONS_MAX, size: 'max' }),
    faults:
      flavour.faults === 0
        ? fc.constant([])
        : fc.array(fault(flavour.faults), { maxLength: FAULTS_MAX, size: 'max' }),
    chargeUnknown: fc.constantFrom('hold' as const, 'nothing' as const),
    lastWords: fc.constantFrom('arrive' as const, 'are lost' as const, 'arrive late' as const),
  });
}

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type BacktestFigures, backtest } from '../../../../functions/answers/backtest/backtest.ts';
import { EndQueue } from '../../../../functions/answers/backtest/replay.ts';
import { readRules } from '../../../../scripts/cli/read-rules.ts';
import { aRequest, ledgerBench } from '../../../scripts/cli/ledger-bench.ts';
import { NOVEMBER_21_MS } from '../../../support/ledger/test-clock.ts';

const MINUTE_MS = 60_000;

interface Life {
  readonly afterMinutes: number;
  readonly timeoutSeconds: number;
  /** Absent: it does not end. */
  readonly ran?: 'released' | 'expired' | 'charged' | number | undefined;
  readonly image: string;
  readonly pipelineId: number;
}

const life: fc.Arbitrary<Life> = fc.record({
  afterMinutes: fc.integer({ min: 1, max: 90 }),
  timeoutSeconds: fc.integer({ min: 1, max: 40 }).map((half) => half * 30),
  ran: fc.option(
    fc.oneof(
      fc.integer({ min: 0, max: 600 }),
      fc.constantFrom('released' as const, 'expired' as const, 'charged' as const),
    ),
    { nil: undefined },
  ),
  image: fc.constantFrom('alpine:3', 'ubuntu:26.04'),
  pipelineId: fc.integer({ min: 1, max: 3 }),
});

const RULES = [
  { id: 'budgets', kind: 'budget', mode: 'enforce' },
  { id: 'slots', kind: 'concurrency', mode: 'enforce' },
  { id: 'windows', kind: 'window', mode: 'enforce' },
  { id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'] },
];
const limitsOf = (money: number, jobs: number): object[] => [
  { on: { group: 101 }, money, per: 'day', soft: '80%', grace: '10%' },
  { on: { group: 100 }, minutes: 60, per: 'week', zone: 'Europe/Berlin' },
  { on: { group: 100 }, jobs },
  { on: { project: 1001 }, starts: 12, per: 'hour' },
];

/** Jobs through a real ledger: settled when they end, half a minute off so that no end meets a beginning. */
async function lived(lives: readonly Life[], policy: object, limits: readonly object[]) {
  const bench = ledgerBench({ policy, limits });
  const { ledger, clock } = bench;
  const ends = new EndQueue<{ atMs: number; jobId: number; end: () => Promise<unknown> }>();
  const moveTo = async (atMs: number): Promise<void> => {
    for (let next = ends.takeUntil(atMs); next !== undefined; next = ends.takeUntil(atMs)) {
      clock.advance(next.atMs - clock.nowMs());
      await next.end();
    }
    clock.advance(atMs - clock.nowMs());
  };
  const rejected: number[] = [];
  let atMs = NOVEMBER_21_MS;
  for (const [index, { afterMinutes, ran, ...rest }] of lives.entries()) {
    atMs += afterMinutes * MINUTE_MS;
    await moveTo(atMs);
    const jobId = index + 1;
    const [decision] = await bench.ask([aRequest(jobId, rest)]);
    if (decision?.outcome === 'rejected') rejected.push(jobId);
    else if (ran !== undefined) {
      const seconds = typeof ran === 'number' ? ran : 30;
      const endsAtMs = atMs + seconds * 1000 + 500;
      const gone = { jobId, cause: 'test' };
      const end = (): Promise<unknown> =>
        ran === 'released'
          ? ledger.release([gone])
          : typeof ran === 'number'
            ? ledger.settle([{ jobId, durationSeconds: seconds, endedAtMs: endsAtMs }])
            : ledger.expire([{ ...gone, charge: ran === 'charged' ? 'hold' : 'nothing' }]);
      ends.add({ atMs: endsAtMs, jobId, end });
    }
  }
  await moveTo(atMs + 7 * 86_400_000);
  const again = (other: readonly object[] = limits, sinceMs = 0): Promise<BacktestFigures> => {
    bench.documents(policy, other);
    const where = { cwd: bench.folder, root: `${bench.folder}/` };
    const rules = readRules(
      { policy: 'policy.yaml', limits: 'limits.yaml', directory: 'directory.yaml' },
      where,
    );
    const untilMs = Number.POSITIVE_INFINITY;
    return backtest(bench.store, { sinceMs, untilMs, rules, counts: () => true, onJob: () => {} });
  };
  return { bench, rejected, again };
}

const RUNS = { numRuns: 60 };

test('with the limits that were in force exactly the jobs are rejected that were, and all cost what they did', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(life, { maxLength: 30 }),
      fc.integer({ min: 1, max: 6 }),
      fc.nat({ max: 29 }),
      async (lives, jobs, from) => {
        const { rejected, again } = await lived(lives, { rules: RULES }, limitsOf(3, jobs));
        const all = await again();
        expect(all).toMatchObject({
          jobs: lives.length,
          rejectedThen: rejected.length,
          rejectedNow: rejected.length,
          newlyRejected: 0,
          newlyAdmitted: 0,
          unrecorded: 0,
          undecided: 0,
        });
        expect(all.nowMicros).toBe(all.thenMicros);
        // From the middle on: what was before fills the counters.
        const minutes = lives.slice(0, from + 1).reduce((sum, { afterMinutes }) => sum + afterMinutes, 0);
        const later = await again(undefined, NOVEMBER_21_MS + minutes * MINUTE_MS);
        expect(later.newlyRejected + later.newlyAdmitted).toBe(0);
        expect(later.jobs).toBe(Math.max(Math.min(1, lives.length), lives.length - from));
      },
    ),
    RUNS,
  );
});

test('what a preview counts is what the ledger then does with the same jobs', async () => {
  const counted = { jobs: 0, differences: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(life, { maxLength: 30 }),
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 20 }),
      async (lives, jobs, tenths) => {
        const edited = limitsOf(tenths / 10, jobs);
        const before = await lived(lives, { rules: RULES.slice(0, 3) }, []);
        const preview = await before.again(edited);
        const { rejected } = await lived(lives, { rules: RULES.slice(0, 3) }, edited);
        counted.jobs += lives.length;
        counted.differences += Math.abs(preview.rejectedNow - rejected.length);
      },
    ),
    RUNS,
  );
  expect(counted.jobs).toBeGreaterThan(100);
  expect(counted.differences).toBe(0);
});

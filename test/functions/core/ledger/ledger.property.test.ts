/**
 * Two ledgers on one table, every step of which a scheduler orders, under every fault it can have. The invariants of
 * DESIGN §5 are checked at every commit (history.ts), the answers as they come, and drift at the end.
 */
import fc from 'fast-check';
import { test } from 'vitest';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import type { HoldRequest, Ledger } from '../../../../functions/core/ledger/ledger.ts';
import type { CounterSnapshot } from '../../../../policies/claim.ts';
import type { Unit } from '../../../../policies/unit.ts';
import { anAsk, claim, counter, pipeline, softReason, someFacts } from '../../../support/ledger/asks.ts';
import { type Bounds, History, must } from '../../../support/ledger/history.ts';
import { MemoryStore, type StoreFault } from '../../../support/ledger/memory-store.ts';
import { steppedClock } from '../../../support/ledger/test-clock.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const RUNS = 3000;
const JOBS = 7;

const job = fc.integer({ min: 1, max: JOBS });
const which = fc.constantFrom(0, 1);
const timeLeftMs = fc.constantFrom(30_000, 2_000, 400, 100);

const jobs = fc.array(job, { minLength: 1, maxLength: 5 });
const seconds = fc.integer({ min: 0, max: 9 });
const ends = fc.array(fc.record({ job, seconds }), { minLength: 1, maxLength: 3 });

const some = <Kind extends string, Fields extends object>(
  weight: number,
  kind: Kind,
  fields: { readonly [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> },
) => ({
  weight,
  arbitrary: fc.record({ kind: fc.constant(kind), by: which, ...fields }) as unknown as fc.Arbitrary<
    { readonly kind: Kind; readonly by: number } & Fields
  >,
});

const op = fc.oneof(
  // Repeats, duplicates inside a batch and a caller that dies before the reply (`unheard`) are all holds.
  some(6, 'hold', { jobs, leftMs: timeLeftMs, unheard: fc.boolean() }),
  some(3, 'settle', { ends }),
  some(2, 'bypass', { ends }),
  some(2, 'release', { jobs }),
  some(2, 'expire', { jobs, charge: fc.constantFrom('hold' as const, 'nothing' as const) }),
  some(2, 'unmetered', {
    jobs,
    answered: fc.constantFrom('admitted' as const, 'rejected' as const),
    leftMs: timeLeftMs,
  }),
  some(3, 'reserve', { job, ms: fc.constantFrom(1_000, 180_000) }),
  some(3, 'handOver', { job, newJob: job }),
  some(1, 'endReservations', { jobs, due: fc.boolean() }),
  some(2, 'advance', { ms: fc.constantFrom(1_000, 59_000, 61_000) }),
  some(2, 'setLimit', {
    subject: fc.constantFrom('group/1', 'group/2', 'shadow/1'),
    bound: fc.constantFrom(0, 3, 8, 15, 40),
  }),
  some(1, 'nextMonth', {}),
  some(1, 'rebuild', {}),
);
type Op = typeof op extends fc.Arbitrary<infer Value> ? Value : never;

/** Taken one by one by the operations of the table; most work. */
const fault: fc.Arbitrary<StoreFault | undefined> = fc.oneof(
  { weight: 8, arbitrary: fc.constant(undefined) },
  { weight: 2, arbitrary: fc.constant({ kind: 'conflict' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'throttle' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'lost-before' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'lost-after' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'slow' as const, latencyMs: 900 }) },
);

test('no interleaving, fault or repetition breaks an invariant of the ledger', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(op, { minLength: 2, maxLength: 22 }),
      fc.array(fault, { maxLength: 60 }),
      fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
      async (scheduler, ops, faults, randomness) => {
        const step = (label: string): Promise<void> => scheduler.schedule(Promise.resolve(), label);
        const clock = steppedClock(step);
        const left = [...faults];
        const wrongs: unknown[] = [];
        const watch = (check: () => void): void => {
          try {
            check();
          } catch (error) {
            wrongs.push(error);
          }
        };
        const store: MemoryStore = new MemoryStore({
          instance: 'gitlab.example.com',
          clock,
          schedule: step,
          fault: () => left.shift(),
          onCommit: (writes) => watch(() => history.onCommit(writes)),
        });
        const history = new History(() => store.dump());
        const random = (): number => randomness.next().value;
        let tokens = 0;
        const newToken = (): string => {
          tokens += 1;
          return `token-${tokens}`;
        };
        const ledgers = [0, 1].map(() => createLedger({ store, clock, random, newToken }));

        let period = '2026-11';
        const limits: Record<string, number> = { 'group/1': 15, 'group/2': 8, 'shadow/1': 8 };
        const ask = (jobId: number): HoldRequest => {
          const grace = (limits['group/1'] ?? 0) + 4;
          const bounds: Bounds = {
            ...limits,
            'slots/1': 2,
            'window/1': 6,
            'cpu/1': 9,
            'soft/group/2': Math.min(5, (limits['group/2'] ?? 0) - 1),
            ...(limits['group/1'] !== 0 && { 'grace/group/1': grace }),
          };
          const key = (subject: string) => counter(subject, 'money', period);
          const exempt = jobId === JOBS;
          const amount = (jobId * 3) % 5;
          const bounded = (subject: string, units: number, mode: 'enforce' | 'shadow', unit: Unit) =>
            claim(subject, units, exempt ? undefined : (bounds[subject] ?? 0), {
              counter: key(subject),
              mode,
              unit,
            });
          const ownPipeline = pipeline(jobId % 3);
          const softBound = bounds['soft/group/2'] ?? 0;
          const two = bounded('group/2', amount, 'enforce', 'micros');
          return anAsk(
            jobId,
            [
              {
                ...bounded('group/1', amount, 'enforce', 'micros'),
                ...(limits['group/1'] !== 0 && { grace: { bound: grace, pipeline: ownPipeline } }),
              },
              ...(jobId % 2 === 0
                ? [
                    {
                      ...two,
                      ...(softBound > 0 && {
                        soft: { bound: softBound, warning: (seen: CounterSnapshot) => softReason(two, seen) },
                      }),
                    },
                  ]
                : []),
              bounded('shadow/1', amount, 'shadow', 'micros'),
              ...(jobId % 3 === 0 ? [] : [bounded('slots/1', 1, 'enforce', 'jobs')]),
              bounded('window/1', 1, 'enforce', 'starts'),
              bounded('cpu/1', jobId, 'enforce', 'millicpu'),
              claim('', 1, undefined, { counter: ownPipeline, unit: 'starts' }),
            ],
            {
              facts: someFacts({
                policyVersion: JSON.stringify(bounds),
                microsPerMinute: 60,
                timeoutSeconds: 60,
                // All are of one pipeline and of one name: each may be what became of a job before it.
                ...{ pipelineId: 9, jobName: 'build' },
              }),
              ...(exempt ? { unchecked: 'exempt' } : {}),
            },
          );
        };

        const endsOf = (some: readonly { readonly job: number; readonly seconds: number }[]) =>
          some.map(({ job: jobId, seconds: durationSeconds }) => ({
            ...{ jobId, durationSeconds, endedAtMs: clock.nowMs() },
          }));

        const run = async (one: Op): Promise<void> => {
          const ledger = ledgers[one.by] as Ledger;
          switch (one.kind) {
            case 'hold': {
              const askedAtCommit = history.commits;
              const outcomes = await ledger.hold(one.jobs.map(ask), clock.monotonicMs() + one.leftMs);
              if (one.unheard) return;
              outcomes.forEach((outcome, index) => {
                const jobId = one.jobs[index] ?? 0;
                watch(() => history.answered(jobId, outcome, askedAtCommit));
              });
              return;
            }
            case 'settle':
              await ledger.settle(endsOf(one.ends));
              return;
            case 'bypass':
              await ledger.recordBypass(endsOf(one.ends).map((end) => ({ ...ask(end.jobId), ...end })));
              return;
            case 'release':
              await ledger.release(one.jobs.map((jobId) => ({ jobId, cause: 'canceled' })));
              return;
            case 'expire':
              await ledger.expire(one.jobs.map((jobId) => ({ jobId, cause: '404', charge: one.charge })));
              return;
            case 'unmetered': {
              const answer = { answered: one.answered, cause: 'deadline', answeredAtMs: clock.nowMs() };
              await ledger.recordUnmetered(
                one.jobs.map((jobId) => ({ ...ask(jobId), ...answer })),
                clock.monotonicMs() + one.leftMs,
              );
              return;
            }
            case 'reserve': {
              const { claims } = ask(one.job);
              await ledger.reserve({ jobId: one.job, claims, untilMs: clock.nowMs() + one.ms });
              return;
            }
            case 'handOver':
              if (one.job !== one.newJob) await ledger.handOver(one.job, one.newJob);
              return;
            case 'endReservations':
              await ledger.endReservations(one.jobs, one.due ? clock.nowMs() : undefined);
              return;
            case 'advance':
              clock.advance(one.ms);
              return;
            case 'setLimit':
              limits[one.subject] = one.bound;
              return;
            case 'nextMonth':
              period = '2026-12';
              return;
            case 'rebuild': {
              // 7, while everything moves. A read that a fault swallowed is no finding.
              const report = await ledger.rebuild({ repair: false }).catch(() => undefined);
              const drift = report?.drift ?? [];
              watch(() => must(drift.length === 0, `rebuild found drift: ${JSON.stringify(drift)}`));
              return;
            }
          }
        };

        const running: Promise<void>[] = [];
        const start = async (): Promise<void> => {
          for (const one of ops) {
            await step(one.kind);
            running.push(run(one));
          }
          await Promise.all(running);
        };
        await scheduler.waitFor(start());

        // 5: what nobody answered for, the sweep finds by its due time and frees.
        left.length = 0;
        const all = Array.from({ length: JOBS }, (_, index) => index + 1);
        const sweep = async (): Promise<void> => {
          await ledgers[0]?.release(all.map((jobId) => ({ jobId, cause: 'swept' })));
          await ledgers[0]?.endReservations(all);
        };
        await scheduler.waitFor(sweep());
        for (const item of store.dump()) {
          if (item.kind !== 'counter' || !/^(?:slots|cpu)/.test(item.counter.key.subject)) continue;
          const { committed, key } = item.counter;
          watch(() => must(committed === 0, `${committed} of ${key.subject} leaked`));
        }
        const report = await scheduler.waitFor(createLedger({ store, clock }).rebuild({ repair: false }));
        watch(() => must(report.drift.length === 0, `drift at the end: ${JSON.stringify(report.drift)}`));
        if (wrongs.length > 0) throw wrongs[0];
      },
    ),
    { numRuns: propertyRuns(RUNS) },
  );
});

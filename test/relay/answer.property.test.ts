import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SECOND_BATCH_MS, type SendBatch } from '../../relay/commit/group-commit.ts';
import { type LedgerVerdict, undecided } from '../../relay/verdict.ts';
import type { HandClock } from '../../scripts/local/clock.ts';
import { answeringBench, questionOf } from '../support/relay/answering-bench.ts';
import { admittedOf, quotaViolation, rejectedFor } from '../support/relay/verdicts.ts';

const DEADLINE_MS = 613;
/** For jobs that the function lets wait. */
const ANSWER_WITHIN_MS = 1_429;
const LAST_QUESTION_MS = 900;

/** What becomes of one batch: verdicts after a while (perhaps too few or too many of them), a failure, or nothing. */
const fate = fc.oneof(
  fc.record({
    kind: fc.constant('answers' as const),
    afterMs: fc.oneof(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 1_500 })),
    verdict: fc.constantFrom('admitted', 'rejected', 'undecided', 'waiting', 'waiting'),
    tooMany: fc.constantFrom(0, 0, 0, -1, -100, 3),
  }),
  fc.record({ kind: fc.constant('fails' as const), afterMs: fc.integer({ min: 0, max: 800 }) }),
  fc.record({ kind: fc.constant('hangs' as const) }),
);
type Fate = typeof fate extends fc.Arbitrary<infer T> ? T : never;

/** Few ids, so that the same job is asked again before, during and after its batch. Times are on the driver's grid. */
const questions = fc.array(
  fc.record({
    atMs: fc.integer({ min: 0, max: LAST_QUESTION_MS / 10 }).map((step) => step * 10),
    jobId: fc.integer({ min: 1, max: 40 }),
    readable: fc.constantFrom(true, true, true, true, false),
    heard: fc.boolean(),
  }),
  { minLength: 1, maxLength: 60 },
);

/** A job is always of the same project and root. */
const bytesOf = (jobId: number, readable: boolean): Uint8Array =>
  readable ? questionOf(jobId, { project: (jobId % 5) + 1, root: (jobId % 2) + 1 }) : new Uint8Array([8]);

function verdictOf(kind: LedgerVerdict['outcome'], jobId: number): LedgerVerdict {
  if (kind === 'admitted') return admittedOf({ jobId });
  if (kind === 'waiting') {
    const counters = [`group/${jobId % 3}|jobs-now|now`];
    return {
      outcome: 'waiting',
      leftMs: 300,
      counters,
      violations: [quotaViolation('group/1')],
      text: 'full',
    };
  }
  return kind === 'rejected' ? rejectedFor(quotaViolation('project/1')) : undecided('contended');
}

/** Sends as fated and notes what breaks a root's promise: two batches at most, the second 250 ms after the first. */
function fatedSend(fates: readonly Fate[], broken: string[]): (clock: HandClock) => SendBatch {
  let sent = 0;
  const inFlight: { readonly root: string; readonly startedAtMs: number; readonly givenUpAtMs: number }[] =
    [];
  return (clock) => (jobs, remainingMs) => {
    const fated = fates[sent % fates.length] ?? { kind: 'hangs' };
    sent += 1;
    const nowMs = clock.monotonicMs();
    const root = jobs[0]?.root ?? 'none';
    const others = inFlight.filter((batch) => batch.root === root && batch.givenUpAtMs > nowMs);
    if (others.length > 1) broken.push('a third batch in flight');
    if (others.some((other) => nowMs - other.startedAtMs < SECOND_BATCH_MS))
      broken.push('a second batch too early');
    if (jobs.some((job) => job.root !== root)) broken.push('two roots in one batch');
    if (remainingMs < 150 || remainingMs > DEADLINE_MS) broken.push(`sent with ${remainingMs} ms left`);
    const ids = jobs.map((job) => job.request.jobId);
    if (new Set(ids).size !== ids.length) broken.push('a job twice in one batch');
    // Deadlines run at the beginning of their span of 20 ms.
    const batch = { root, startedAtMs: nowMs, givenUpAtMs: Math.floor((nowMs + remainingMs) / 20) * 20 };
    inFlight.push(batch);
    return new Promise((resolve, reject) => {
      if (fated.kind === 'hangs') return;
      clock.after(fated.afterMs, () => {
        inFlight.splice(inFlight.indexOf(batch), 1);
        if (fated.kind === 'fails') return reject(new Error('fated'));
        const count = Math.max(0, jobs.length + fated.tooMany);
        resolve(
          Array.from({ length: count }, (_, at) => verdictOf(fated.verdict, jobs[at]?.request.jobId ?? 0)),
        );
      });
    });
  };
}

test('whatever becomes of a batch, every question is answered exactly once and by its deadline', async () => {
  await fc.assert(
    fc.asyncProperty(
      questions,
      fc.array(fate, { minLength: 1, maxLength: 12 }),
      fc.constantFrom(3, 20, 10_000),
      async (asks, fates, queuedMax) => {
        const broken: string[] = [];
        const bench = answeringBench({
          send: fatedSend(fates, broken),
          deadlineMs: DEADLINE_MS,
          answerWithinMs: ANSWER_WITHIN_MS,
          queuedMax,
          unreadablePerHour: 2,
        });
        const exchanges: ReturnType<typeof bench.ask>[] = [];
        const startMs = bench.clock.monotonicMs();
        const byTime = [...asks].sort((a, b) => a.atMs - b.atMs);
        for (const { atMs, jobId, readable, heard } of byTime) {
          await bench.pass(atMs - (bench.clock.monotonicMs() - startMs));
          exchanges.push(bench.ask(bytesOf(jobId, readable), heard));
        }
        await bench.pass(ANSWER_WITHIN_MS);
        expect(broken).toEqual([]);
        for (const { answers, answeredAtMs, arrivedAtMs } of exchanges) {
          expect(answers).toHaveLength(1);
          expect(answeredAtMs - arrivedAtMs).toBeLessThanOrEqual(ANSWER_WITHIN_MS);
          const [answer] = answers;
          if (answer?.outcome === 'rejected') expect(answer.reason).not.toBe('');
        }
        const answered = bench.ofType('answered');
        expect(answered).toHaveLength(exchanges.length);
        const toldLedger = answered.filter(
          ({ via, heard, request }) => via === 'fallback' && heard && request !== undefined,
        );
        expect(bench.unmetered.queued).toBe(toldLedger.length);
        expect(bench.commit.open).toBe(0);
        // What comes after everybody has gone disturbs nothing.
        await bench.pass(200);
        bench.commit.close();
        expect(exchanges.every(({ answers }) => answers.length === 1)).toBe(true);
      },
    ),
    { numRuns: 300 },
  );
});

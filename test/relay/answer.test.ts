import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Violation } from '../../policies/reason.ts';
import { SECOND_BATCH_MS, type SendBatch } from '../../relay/commit/group-commit.ts';
import { type LedgerDecision, undecided } from '../../relay/exchange.ts';
import { UNREADABLE_PER_HOUR } from '../../relay/fallback/fallback.ts';
import { READING_BOUNDS } from '../../relay/wire/pass.ts';
import type { HandClock } from '../../scripts/local/clock.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { answeringBench, questionOf } from '../support/relay/answering-bench.ts';
import { range, turn } from '../support/relay/commit-bench.ts';
import { admittedOf, quotaViolation, rejectedFor } from '../support/relay/decisions.ts';

const admitsAll = (): SendBatch => async (jobs) => jobs.map((job) => admittedOf(job.request));

/** The tag of field 900 and the length of what follows: {@link READING_BOUNDS} bytes that are skipped. */
const UNKNOWN_FIELD = new BinaryWriter()
  .tag(900, WireType.LengthDelimited)
  .uint32(READING_BOUNDS.bytes)
  .finish();

const poisoned: readonly (readonly [string, Uint8Array])[] = [
  ['cut off', questionOf(1).slice(0, -3)],
  // image.name with a lone continuation byte
  ['not UTF-8', new Uint8Array([8, 7, 0x3a, 3, 0x0a, 1, 0x80])],
  ['of another form', new Uint8Array([0x0a, 1, 0x31])],
  ['without a job id', questionOf(0)],
  ['with a huge job id', new Uint8Array([8, 255, 255, 255, 255, 255, 255, 255, 255, 127])],
  ['empty', new Uint8Array()],
];

test.each(poisoned)(
  'fault 14: one question %s among ten costs nobody else anything: nine normal answers, one fallback',
  async (_, bad) => {
    const sent: number[] = [];
    const { ask, ofType, unmetered } = answeringBench({
      send: () => async (jobs) => {
        sent.push(jobs.length);
        return jobs.map((job) => admittedOf(job.request));
      },
    });
    const asked = range(1, 10).map((jobId) => ask(jobId === 5 ? bad : questionOf(jobId)));
    await turn();
    await turn();
    expect(sent).toEqual([9]);
    expect(asked.map(({ answers }) => answers)).toEqual(asked.map(() => [{ outcome: 'admitted' }]));
    const answered = ofType('answered');
    expect(answered.filter(({ via }) => via === 'ledger').map(({ request }) => request?.jobId)).toEqual(
      range(1, 10).filter((jobId) => jobId !== 5),
    );
    expect(answered.filter(({ via }) => via === 'fallback')).toMatchObject([{ cause: 'unreadable' }]);
    expect(ofType('unreadable')).toMatchObject([{ sizeBytes: bad.length }]);
    // Nothing is known of it that the ledger could be told.
    expect(unmetered.queued).toBe(0);
  },
);

test('fault 16: of 10 000 questions at once each is answered exactly once and in time, and the queue keeps its bound', async () => {
  const queuedMax = 2_000;
  let openMax = 0;
  let inFlight = 0;
  const bench = answeringBench({
    queuedMax,
    send: (clock) => (jobs) => {
      inFlight += 1;
      expect(jobs.length).toBeLessThanOrEqual(96);
      return new Promise((resolve) => {
        clock.after(40, () => {
          inFlight -= 1;
          resolve(jobs.map((job) => admittedOf(job.request)));
        });
      });
    },
  });
  const asked = range(1, 10_000).map((jobId) => {
    const exchange = bench.ask(questionOf(jobId, { project: jobId % 50 || 50 }));
    openMax = Math.max(openMax, bench.commit.open);
    return exchange;
  });
  for (let ms = 0; ms < 2_000; ms += 10) {
    await bench.pass(10);
    expect(inFlight).toBeLessThanOrEqual(1);
  }
  expect(openMax).toBe(queuedMax);
  expect(asked.every(({ answers }) => answers.length === 1)).toBe(true);
  expect(asked.every((one) => one.answeredAtMs - one.arrivedAtMs <= one.deadlineMs)).toBe(true);
  const answered = bench.ofType('answered');
  expect(new Set(answered.map(({ request }) => request?.jobId)).size).toBe(10_000);
  expect(answered).toHaveLength(10_000);
  // 21 batches one after the other end within 0.9 s: whoever was queued was decided.
  expect(answered.filter(({ cause }) => cause === 'queue_full')).toHaveLength(8_000);
  expect(answered.filter(({ via }) => via === 'ledger')).toHaveLength(2_000);
  expect(bench.ofType('batch').map(({ jobs }) => jobs)).toEqual([...Array(20).fill(96), 80]);
  expect(bench.commit.open).toBe(0);
});

test('before the schema is proven the allowance counts as well, and every job that is let through is booked', async () => {
  const { ask, ofType, unmetered } = answeringBench({ send: admitsAll, schemaState: 'unproven' });
  const large = Buffer.alloc(READING_BOUNDS.bytes);
  const asked = range(1, UNREADABLE_PER_HOUR + 5).map((jobId) =>
    ask(Buffer.concat([questionOf(jobId, { project: 42 }), UNKNOWN_FIELD, large])),
  );
  await turn();
  expect(asked.map(({ answers }) => answers)).toEqual(asked.map(() => [{ outcome: 'admitted' }]));
  expect(ofType('rejection_withheld')).toHaveLength(5);
  expect(unmetered.queued).toBe(asked.length);
  expect(ofType('answered')[0]).toMatchObject({ cause: 'oversized', request: { jobId: 1, projectId: 42 } });
});

test('a rejection of the ledger that it could not write down is kept until it is in the books; others are not', async () => {
  const rejection = rejectedFor(quotaViolation('group/1'), 'No budget.');
  const decisions = [rejection, { ...rejection, unwritten: true } as const];
  const { ask, ofType, unmetered } = answeringBench({
    send: () => async (jobs) => jobs.map(() => decisions.shift() ?? rejection),
  });
  for (const [jobId, queued] of [
    [1, 0],
    [2, 1],
  ] as const) {
    ask(questionOf(jobId, { project: jobId, root: 1 }));
    await turn();
    await turn();
    expect(unmetered.queued).toBe(queued);
  }
  expect(ofType('answered').map(({ via }) => via)).toEqual(['ledger', 'ledger']);
});

describe('own faults', () => {
  /** A decision that passed every check and still breaks who reads it. */
  const broken = rejectedFor({
    ...quotaViolation('group/1'),
    reason: { code: 'BUDGET_EXHAUSTED', limit: 'money-month', subject: 42 },
  } as unknown as Violation);

  test('what breaks between a readable request and its answer: admitted, recorded, told as our fault, and neighbours are decided', async () => {
    const { ask, ofType, unmetered } = answeringBench({
      send: () => async (jobs) =>
        jobs.map(({ request }) => (request.jobId % 2 === 0 ? broken : admittedOf(request))),
    });
    const asked = range(1, 60).map((jobId) => ask(questionOf(jobId)));
    await turn();
    await turn();
    expect(asked.map(({ answers }) => answers)).toEqual(asked.map(() => [{ outcome: 'admitted' }]));
    expect(ofType('answered').filter(({ via }) => via === 'ledger')).toHaveLength(30);
    expect(ofType('answered').filter(({ cause }) => cause === 'error')).toHaveLength(30);
    expect(unmetered.queued).toBe(30);
    expect(ofType('own_fault').map(({ place, error }) => `${place} ${error}`)).toEqual(
      Array(30).fill('decide TypeError'),
    );
  });
});

describe('any load', () => {
  const DEADLINE_MS = 613;
  const ANSWER_WITHIN_MS = 1_429;
  const LAST_QUESTION_MS = 900;

  /** The result of one batch: decisions after a while (too few or too many, too), a failure, or nothing. */
  const fate = fc.oneof(
    fc.record({
      kind: fc.constant('answers' as const),
      afterMs: fc.oneof(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 1_500 })),
      decision: fc.constantFrom('admitted', 'rejected', 'undecided', 'waiting', 'waiting'),
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

  function verdictOf(kind: LedgerDecision['outcome'], jobId: number): LedgerDecision {
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
            Array.from({ length: count }, (_, at) => verdictOf(fated.decision, jobs[at]?.request.jobId ?? 0)),
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
      { numRuns: propertyRuns(300) },
    );
  });
});

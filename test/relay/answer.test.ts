import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { expect, test } from 'vitest';
import type { SendBatch } from '../../relay/commit/group-commit.ts';
import { UNREADABLE_PER_HOUR } from '../../relay/fallback/fallback.ts';
import { type LedgerVerdict, undecided } from '../../relay/verdict.ts';
import { READING_BOUNDS } from '../../relay/wire/reading-budget.ts';
import { aPolicy } from '../policies/documents.ts';
import { answeringBench, questionOf } from '../support/relay/answering-bench.ts';
import { range, turn } from '../support/relay/commit-bench.ts';
import { admittedOf, quotaViolation, rejectedFor } from '../support/relay/verdicts.ts';

const admitsAll = (): SendBatch => async (jobs) => jobs.map((job) => admittedOf(job.request));
const says = (verdict: LedgerVerdict) => (): SendBatch => async (jobs) => jobs.map(() => verdict);
const never = (): SendBatch => () => new Promise(() => {});

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

test('fault 16: with a ledger that never answers, all 10 000 are still answered in time', async () => {
  const { ask, pass, commit } = answeringBench({ send: never });
  const asked = range(1, 10_000).map((jobId) => ask(questionOf(jobId, { root: (jobId % 20) + 1 })));
  await pass(2_000);
  expect(asked.every(({ answers }) => answers.length === 1)).toBe(true);
  expect(asked.every((one) => one.answeredAtMs - one.arrivedAtMs <= one.deadlineMs)).toBe(true);
  expect(commit.open).toBe(0);
});

test('a fallback’s answer is posted as unmetered once the router has heard it', async () => {
  const { ask, unmetered, ofType } = answeringBench({ send: says(undecided('unavailable')) });
  ask(questionOf(1));
  await turn();
  await turn();
  expect(unmetered.queued).toBe(1);
  expect(ofType('answered')).toMatchObject([{ via: 'fallback', cause: 'unavailable', heard: true }]);
});

test('an answer nobody heard is not posted as unmetered', async () => {
  const { ask, unmetered, ofType } = answeringBench({ send: says(undecided('unavailable')) });
  ask(questionOf(1), false);
  await turn();
  await turn();
  expect(ofType('answered')).toMatchObject([{ via: 'fallback', heard: false }]);
  expect(unmetered.queued).toBe(0);
});

test('an answer of the ledger is not posted as unmetered', async () => {
  const { ask, unmetered, ofType } = answeringBench({ send: admitsAll });
  ask(questionOf(1));
  await turn();
  await turn();
  expect(ofType('answered')).toMatchObject([{ via: 'ledger', decision: { decisionId: 'd-1' } }]);
  expect(unmetered.queued).toBe(0);
});

test.each([
  ['empty', ''],
  ['nothing but control characters', '\u0000\u001b\u2028 \n'],
  ['too long', 'é'.repeat(50_000)],
  ['cut inside a character', `${'a'.repeat(350)}${'😀'.repeat(50)}`],
  ['coloured and turned around', '\u001b[31mred\u001b[0m \u202egnihtyna\r\nsecond line'],
  [
    'with marks that nobody sees',
    'acme/pay\u200bments \u200f1.200\u200e \u061c\u2068of\u2069\ufeff \u3164\u2800',
  ],
  ['nothing but what nobody sees', '\u200b\u200f\u3164\u2800\u00ad'],
])('the reason the router is told is plain text, never empty and bounded: %s', async (_, text) => {
  const { ask } = answeringBench({ send: says(rejectedFor(quotaViolation('group/1'), text)) });
  const asked = ask(questionOf(1));
  await turn();
  await turn();
  const [answer] = asked.answers;
  const reason = answer?.outcome === 'rejected' ? answer.reason : '';
  expect(reason.trim()).not.toBe('');
  expect(reason.length).toBeLessThan(500);
  expect(reason.isWellFormed()).toBe(true);
  expect(reason).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u);
});

test('a question too large to decode is answered without being decoded', async () => {
  const { ask, ofType } = answeringBench({ send: admitsAll });
  const asked = ask(new Uint8Array(READING_BOUNDS.bytes + 1));
  await turn();
  expect(asked.answers).toHaveLength(1);
  expect(ofType('answered')).toMatchObject([{ via: 'fallback', cause: 'oversized' }]);
});

test('before the schema is proven the allowance counts as well, and every job that is let through is booked', async () => {
  const { ask, ofType, unmetered } = answeringBench({ send: admitsAll, schemaTrust: 'earned' });
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

test('security rules decide also when the ledger does not, and the user is told which', async () => {
  const image = { id: 'images', kind: 'image', mode: 'enforce', allow: ['good/**'] };
  const { ask, ofType } = answeringBench({
    send: says(undecided('unavailable')),
    policy: aPolicy({ rules: [image] }),
  });
  const [bad, good] = [ask(questionOf(1, { image: 'evil/a' })), ask(questionOf(2, { image: 'good/a' }))];
  await turn();
  await turn();
  expect(bad.answers).toMatchObject([
    { outcome: 'rejected', reason: expect.stringContaining('IMAGE_NOT_ALLOWED') },
  ]);
  expect(good.answers).toEqual([{ outcome: 'admitted' }]);
  expect(ofType('answered')[0]).toMatchObject({
    via: 'fallback',
    decision: { violations: [{ rule: 'images' }] },
  });
});

test('what the ledger refused a moment ago is refused again while it is out of reach', async () => {
  const verdicts = [rejectedFor(quotaViolation('group/1'), 'No budget.'), undecided('unavailable')];
  const { ask, ofType } = answeringBench({
    send: () => async (jobs) => {
      const verdict = verdicts.shift() ?? undecided('unavailable');
      return jobs.map(() => verdict);
    },
  });
  for (const jobId of [1, 2]) {
    ask(questionOf(jobId, { project: jobId, root: 1 }));
    await turn();
    await turn();
  }
  ask(questionOf(3, { project: 3, root: 2 }));
  await turn();
  await turn();
  expect(ofType('answered')).toMatchObject([
    { via: 'ledger', answer: { outcome: 'rejected', reason: 'No budget.' } },
    { via: 'fallback', answer: { outcome: 'rejected', reason: expect.stringMatching(/^No budget\.\n/) } },
    { via: 'fallback', answer: { outcome: 'admitted' } },
  ]);
});

test('a rejection of the ledger that it could not write down is kept until it is in the books; others are not', async () => {
  const rejection = rejectedFor(quotaViolation('group/1'), 'No budget.');
  const verdicts = [rejection, { ...rejection, unwritten: true } as const];
  const { ask, ofType, unmetered } = answeringBench({
    send: () => async (jobs) => jobs.map(() => verdicts.shift() ?? rejection),
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

test('the latency told runs from the question’s arrival', async () => {
  const { ask, pass, ofType } = answeringBench({ send: never, deadlineMs: 600 });
  ask(questionOf(1));
  await pass(600);
  expect(ofType('answered')).toMatchObject([{ cause: 'deadline', latencyMs: 600 }]);
});

import { expect, test } from 'vitest';
import type { RelayEvent } from '../../../relay/events.ts';
import { Minute, SAMPLE_MAX } from '../../../relay/monitoring/cloudwatch.ts';

const ADMITTED: Extract<RelayEvent, { type: 'answered' }> = {
  type: 'answered',
  answer: { outcome: 'admitted' },
  via: 'ledger',
  latencyMs: 12.34,
  heard: true,
};
const REJECTED = { ...ADMITTED, answer: { outcome: 'rejected', reason: 'no' } } as const;
const FALLBACK = { ...ADMITTED, via: 'fallback', cause: 'deadline', latencyMs: 2_000 } as const;
const streams = (open: number): RelayEvent => ({ type: 'streams', open, waiting: open, wanted: 8 });
const CONNECTED: RelayEvent = { type: 'connected', downMs: 10 };

function bench(random = 0.5) {
  const minute = new Minute(() => random);
  const note = (...events: readonly RelayEvent[]): void => {
    for (const event of events) minute.note(event);
  };
  const take = (leaving = false) =>
    Object.fromEntries([...minute.take({ leaving })].map(([{ name }, values]) => [name, values]));
  return { note, take };
}

const QUIET = {
  Questions: [0],
  Admitted: [0],
  Rejected: [0],
  FallbackAnswers: [0],
  UnreadableQuestions: [0],
  SchemaSuspect: [0],
  AnswersRefused: [0],
  FieldsMissing: [0],
  RejectionsWithheld: [0],
  OwnFaults: [0],
  StreamsOpen: [0],
  Reconnects: [0],
  AnswerLatencyMs: [],
  Waiting: [],
  WaitMs: [],
  BatchJobs: [],
  UnmeteredQueued: [0],
  UnmeteredDropped: [0],
  RelayDirectoryAgeSeconds: [0],
};

test('a minute in which nothing was asked is told in zeros', () => {
  expect(bench().take()).toEqual(QUIET);
});

test('questions, answers and what they are made of are counted, and the next minute begins at zero', () => {
  const { note, take } = bench();
  note(
    { type: 'question' },
    { type: 'question' },
    { type: 'question' },
    { type: 'unreadable', problem: 'no job', sizeBytes: 3 },
    { type: 'batch', lane: 'root 1', jobs: 2, waiters: 2 },
    ADMITTED,
    REJECTED,
    FALLBACK,
  );
  expect(take()).toEqual({
    ...QUIET,
    Questions: [3],
    Admitted: [2],
    Rejected: [1],
    FallbackAnswers: [1],
    UnreadableQuestions: [1],
    AnswerLatencyMs: [12.3, 12.3, 2_000],
    BatchJobs: [2],
  });
  expect(take()).toEqual(QUIET);
});

test('a schema that is suspect is told in every minute in which it was, and withheld rejections and own faults are counted', () => {
  const { note, take } = bench();
  const schema = {
    type: 'schema',
    source: 'gitlab.binpb',
    hash: '0123456789ab',
    placeholder: false,
  } as const;
  note(
    { ...schema, standing: 'unproven' },
    { type: 'rejection_withheld', standing: 'unproven' },
    { type: 'own_fault', place: 'decide', error: 'TypeError', frames: [] },
  );
  expect(take()).toEqual({ ...QUIET, RejectionsWithheld: [1], OwnFaults: [1] });
  note({ ...schema, standing: 'suspect' });
  expect(take()).toEqual({ ...QUIET, SchemaSuspect: [1] });
  note({ ...schema, standing: 'proven' });
  expect(take()).toEqual({ ...QUIET, SchemaSuspect: [1] });
  expect(take()).toEqual(QUIET);
  note({ ...schema, standing: 'placeholder' });
  expect(take()).toEqual({ ...QUIET, SchemaSuspect: [1] });
});

test('of the streams the fewest of the minute are told: a gap of seconds shows', () => {
  const { note, take } = bench();
  note(streams(1), CONNECTED, streams(8));
  expect(take()).toMatchObject({ StreamsOpen: [8] });
  expect(take()).toMatchObject({ StreamsOpen: [8] });
  note(streams(0), CONNECTED, streams(8));
  expect(take()).toMatchObject({ StreamsOpen: [0], Reconnects: [1] });
  expect(take()).toMatchObject({ StreamsOpen: [8], Reconnects: [0] });
});

test('a relay that starts is no outage, and one that never gets a stream is', () => {
  const { note, take } = bench();
  note(streams(0));
  expect(take()).toMatchObject({ StreamsOpen: [0] });
  note(streams(0), CONNECTED, streams(3));
  expect(take()).toMatchObject({ StreamsOpen: [3], Reconnects: [0] });
});

test('streams that a relay closes because it was told to stop are not told', () => {
  const { note, take } = bench();
  note(CONNECTED, streams(8), streams(0));
  expect(take(true)).not.toHaveProperty('StreamsOpen');
});

test('of the queue the most that waited is told, and what was dropped in all', () => {
  const { note, take } = bench();
  note(
    { type: 'unmetered', queued: 9, posted: 0, dropped: 2 },
    { type: 'unmetered', queued: 4, posted: 5, dropped: 1 },
  );
  expect(take()).toMatchObject({ UnmeteredQueued: [9], UnmeteredDropped: [3] });
  expect(take()).toMatchObject({ UnmeteredQueued: [4], UnmeteredDropped: [0] });
});

test('a flood is kept within bounds, and its slowest answer is in what is told', () => {
  // The last ones find no place among those that stand for all.
  const { note, take } = bench(0.999);
  for (let index = 0; index < 3 * SAMPLE_MAX; index += 1) note({ ...ADMITTED, latencyMs: index % 100 });
  note({ ...ADMITTED, latencyMs: 9_999 });
  const { AnswerLatencyMs: kept = [], Admitted: admitted } = take();
  expect(kept.length).toBeLessThanOrEqual(SAMPLE_MAX + 1);
  expect(Math.max(...kept)).toBe(9_999);
  expect(admitted).toEqual([3 * SAMPLE_MAX + 1]);
});

test('the age of the directory is the greatest of the minute, and goes on when nothing new is heard', () => {
  const { note, take } = bench();
  note({ type: 'directory', ageMs: 310_000, groups: 3 });
  note({ type: 'directory', ageMs: 20_000, groups: 3 });
  expect(take()).toMatchObject({ RelayDirectoryAgeSeconds: [310] });
  expect(take()).toMatchObject({ RelayDirectoryAgeSeconds: [20] });
});

import { describe, expect, test } from 'vitest';
import type { RelayEvent } from '../../../relay/events.ts';
import { Minute, startEmf, WRITE_EVERY_MS } from '../../../relay/monitoring/cloudwatch.ts';
import { handClock } from '../../../scripts/local/clock.ts';
import { emfProblems, measuredOf } from '../../support/emf-spec.ts';

describe('one minute', () => {
  const streams = (open: number): RelayEvent => ({ type: 'streams', open, waiting: open, wanted: 8 });
  const CONNECTED: RelayEvent = { type: 'connected', downMs: 10, again: false };

  function bench(random = 0.5) {
    const minute = new Minute(() => random);
    const note = (...events: readonly RelayEvent[]): void => {
      for (const event of events) minute.note(event);
    };
    const take = (leaving = false) =>
      Object.fromEntries([...minute.take({ leaving })].map(([{ name }, values]) => [name, values]));
    return { note, take };
  }

  test('of the streams the fewest of the minute are told: a gap of seconds shows', () => {
    const { note, take } = bench();
    note(streams(1), CONNECTED, streams(8));
    expect(take()).toMatchObject({ StreamsOpen: [8] });
    expect(take()).toMatchObject({ StreamsOpen: [8] });
    note(streams(0), { ...CONNECTED, again: true }, streams(8));
    expect(take()).toMatchObject({ StreamsOpen: [0], Reconnects: [1] });
    expect(take()).toMatchObject({ StreamsOpen: [8], Reconnects: [0] });
  });
});

describe('lines', () => {
  /** Stands wherever a secret could. */
  const MARKER = 'not-a-secret';

  const ANSWERED: RelayEvent = {
    type: 'answered',
    answer: { outcome: 'rejected', reason: MARKER },
    via: 'fallback',
    cause: MARKER,
    latencyMs: 5,
    heard: true,
    request: { jobId: 42, projectPath: MARKER, variables: { CI_JOB_TOKEN: MARKER } },
  };

  function bench() {
    const clock = handClock(1_000);
    const lines: string[] = [];
    const emf = startEmf({
      deployment: 'production',
      clock,
      random: () => 0.5,
      write: (line) => lines.push(line),
    });
    return { clock, lines, emf };
  }

  test('what happened since the last minute is written at the stop, once, and no timer stays', () => {
    const { clock, lines, emf } = bench();
    emf.observe({ type: 'streams', open: 8, waiting: 8, wanted: 8 });
    clock.advance(WRITE_EVERY_MS);
    emf.observe(ANSWERED);
    emf.leave();
    emf.stop();
    emf.stop();
    // A quiet minute has the streams alone: each hour in which a metric is written is paid for.
    expect(lines.map((line) => measuredOf(line).values)).toEqual([
      { StreamsOpen: [8] },
      { Rejected: [1], FallbackAnswers: [1], AnswerLatencyMs: [5] },
    ]);
    expect(clock.timers).toBe(0);
  });

  test('no line has a word of a question or an answer, and its size is bounded', () => {
    const { clock, lines, emf } = bench();
    for (let index = 0; index < 5_000; index += 1) {
      emf.observe({ ...ANSWERED, latencyMs: 1_000 + index / 3 });
      emf.observe({ type: 'batch', roots: 1, jobs: 96, waiters: 96 });
    }
    clock.advance(WRITE_EVERY_MS);
    expect(lines.join()).not.toContain(MARKER);
    expect(emfProblems(lines[0] ?? '')).toEqual([]);
    expect(Buffer.byteLength(lines[0] ?? '')).toBeLessThan(3_000);
  });
});

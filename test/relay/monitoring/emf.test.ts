import { expect, test } from 'vitest';
import type { RelayEvent } from '../../../relay/events.ts';
import { startEmf, WRITE_EVERY_MS } from '../../../relay/monitoring/cloudwatch.ts';
import { handClock } from '../../../scripts/local/clock.ts';
import { emfProblems, measuredOf } from '../../support/emf-spec.ts';

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

test('one document a minute, as the specification asks for, also when nothing happens', () => {
  const { clock, lines } = bench();
  clock.advance(3 * WRITE_EVERY_MS);
  expect(lines).toHaveLength(3);
  for (const line of lines) {
    expect(line).toMatch(/^\{[^\n]*\}\n$/);
    expect(emfProblems(line)).toEqual([]);
    expect(measuredOf(line)).toMatchObject({ deployment: 'production', values: { Questions: [0] } });
  }
});

test('what happened since the last minute is written at the stop, once, and no timer stays', () => {
  const { clock, lines, emf } = bench();
  clock.advance(WRITE_EVERY_MS);
  emf.observe(ANSWERED);
  emf.leave();
  emf.stop();
  emf.stop();
  expect(lines.map((line) => measuredOf(line).values.Rejected)).toEqual([[0], [1]]);
  expect(measuredOf(lines[1] ?? '').values).not.toHaveProperty('StreamsOpen');
  expect(clock.timers).toBe(0);
});

test('no line has a word of a question or an answer, and its size is bounded', () => {
  const { clock, lines, emf } = bench();
  for (let index = 0; index < 5_000; index += 1) {
    emf.observe({ ...ANSWERED, latencyMs: 1_000 + index / 3 });
    emf.observe({ type: 'batch', lane: MARKER, jobs: 96, waiters: 96 });
  }
  clock.advance(WRITE_EVERY_MS);
  expect(lines.join()).not.toContain(MARKER);
  expect(emfProblems(lines[0] ?? '')).toEqual([]);
  expect(Buffer.byteLength(lines[0] ?? '')).toBeLessThan(3_000);
});

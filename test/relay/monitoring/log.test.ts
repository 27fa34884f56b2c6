import { expect, test } from 'vitest';
import type { Decision } from '../../../policies/decision.ts';
import type { Violation } from '../../../policies/reason.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import type { RelayEvent } from '../../../relay/events.ts';
import { createLogger, type LogLevel, logEvents } from '../../../relay/monitoring/log.ts';
import { handClock } from '../../../scripts/local/clock.ts';

/** Stands wherever a secret could: no line may have it. */
const MARKER = 'not-a-secret';

const request: AdmissionRequest = {
  jobId: 42,
  jobName: MARKER,
  projectId: 7,
  projectPath: 'acme/web',
  ref: MARKER,
  environment: MARKER,
  image: `registry.example.com/${MARKER}`,
  services: [{ name: MARKER, alias: MARKER }],
  variables: { CI_JOB_TOKEN: MARKER, [MARKER]: MARKER },
};
const violation: Violation = {
  rule: 'images',
  class: 'security',
  mode: 'enforce',
  reason: { code: 'IMAGE_NOT_ALLOWED', image: MARKER, allowed: [MARKER] },
};
const terms = {
  runnerClass: 'small',
  estimateSeconds: 600,
  costMicros: 1_000_000,
  currency: 'EUR',
  group: 'acme',
};
const shadow: readonly Violation[] = [{ ...violation, rule: 'registry', mode: 'shadow' }];
const rejection: Decision = {
  outcome: 'rejected',
  decisionId: 'd-1',
  terms,
  violations: [violation],
  shadow,
  text: MARKER,
};
const rejected: Extract<RelayEvent, { type: 'answered' }> = {
  type: 'answered',
  answer: { outcome: 'rejected', reason: MARKER },
  via: 'ledger',
  latencyMs: 12.4,
  heard: true,
  request,
  decision: rejection,
};

function bench(level: LogLevel = 'info') {
  const clock = handClock(1_000);
  const written: string[] = [];
  const log = createLogger(level, { write: (line) => written.push(line) });
  const lines = (): Record<string, unknown>[] => written.map((line) => JSON.parse(line));
  return { clock, written, lines, observe: logEvents(log, clock) };
}

/** A line without its time. */
const named = ({ time, ...fields }: Record<string, unknown> = {}) => fields;

test('a decision is one JSON line, complete on its own', () => {
  const { observe, written, lines } = bench();
  observe(rejected);
  expect(written).toHaveLength(1);
  expect(written[0]).toMatch(/^\{[^\n]*\}\n$/);
  const [line] = lines();
  expect(line?.time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect(named(line)).toEqual({
    level: 'info',
    message: 'decision',
    decisionId: 'd-1',
    jobId: 42,
    projectId: 7,
    projectPath: 'acme/web',
    group: 'acme',
    root: 'acme',
    outcome: 'rejected',
    codes: ['IMAGE_NOT_ALLOWED'],
    rules: ['images'],
    notice: 'first',
    shadow: ['registry'],
    costMicros: 1_000_000,
    runnerClass: 'small',
    via: 'ledger',
    latencyMs: 12,
  });
});

test('an admitted job has no empty fields, and the log says what would have rejected it', () => {
  const { observe, lines } = bench();
  const answer = { outcome: 'admitted' } as const;
  const { request: _request, ...rest } = rejected;
  observe({ ...rest, answer, decision: { ...answer, decisionId: 'd-2', shadow: [] } });
  observe({ ...rest, answer, decision: { ...answer, decisionId: 'd-3', shadow } });
  expect(lines().map(named)).toMatchObject([
    { decisionId: 'd-2' },
    { decisionId: 'd-3', shadow: ['registry'] },
  ]);
  expect(Object.keys(lines()[0] ?? {}).sort()).toEqual(
    ['decisionId', 'latencyMs', 'level', 'message', 'outcome', 'time', 'via'].sort(),
  );
});

test('an answer of the fallback is a warning with its cause, one that nobody heard a warning too', () => {
  const { observe, lines } = bench('warn');
  const undecided: Decision = { outcome: 'undecided', cause: 'deadline', problems: [MARKER] };
  observe({ ...rejected, via: 'fallback', cause: 'deadline', decision: undecided });
  observe({ ...rejected, heard: false });
  observe(rejected);
  expect(lines()).toMatchObject([
    { level: 'warn', via: 'fallback', cause: 'deadline', jobId: 42 },
    { level: 'warn', heard: false },
  ]);
  expect(lines()).toHaveLength(2);
});

test('nothing of variables, tokens, texts or images is written, whatever happens and at every level', () => {
  const { observe, written } = bench('debug');
  const events: readonly RelayEvent[] = [
    rejected,
    { ...rejected, heard: false },
    { ...rejected, via: 'fallback', cause: 'circuit_open' },
    { ...rejected, decision: { outcome: 'undecided', cause: 'invalid', problems: [MARKER] } },
    { type: 'suspicious', jobId: 42, fields: ['projectId'] },
  ];
  for (const event of events) {
    // A careless sender may put more into an event than its type has.
    const careless = { ...event, token: MARKER, bytes: MARKER, variables: { TOKEN: MARKER }, body: MARKER };
    observe(careless);
  }
  const others: readonly RelayEvent[] = [
    { type: 'unreadable', problem: 'premature EOF', sizeBytes: 12 },
    { type: 'unknown_fields', fields: ['job_info.21:varint'] },
    { type: 'admit_failed', code: 'admit_unreachable', details: 'status 503' },
    { type: 'registration_failed', code: 14, details: 'unavailable' },
    { type: 'stream_ended', code: 14, details: 'unavailable', asked: true },
    {
      type: 'backing_off',
      code: 16,
      details: 'wss://kas: HTTP 401',
      attempt: 1,
      delayMs: 30_000.4,
      remedy: 'check the token',
    },
    { type: 'batch', lane: 'root 100', jobs: 3, waiters: 4 },
    { type: 'directory', ageMs: 90_000, groups: 3, problem: 'the groups of GitLab have not been listed yet' },
    { type: 'unmetered', queued: 5, posted: 0, dropped: 1, lost: { why: 'refused', jobIds: [7] } },
    { type: 'not_written', where: 'journal', error: 'AccessDeniedException' },
    { type: 'not_written', where: 'headroom', error: 'TimeoutError' },
    { type: 'breaker', state: 'open' },
    { type: 'connected', downMs: 3 },
    { type: 'registered' },
  ];
  for (const event of others) observe(Object.assign({ bytes: MARKER, token: MARKER }, event));
  expect(written).toHaveLength(events.length + others.length);
  expect(written.join('')).not.toContain(MARKER);
});

test('streams and questions are numbers, not lines', () => {
  const { observe, written } = bench('debug');
  observe({ type: 'streams', open: 8, waiting: 8, wanted: 8 });
  observe({ type: 'question' });
  observe({ type: 'stream_ended', code: 0, details: '', asked: true });
  observe({ type: 'unmetered', queued: 5, posted: 5, dropped: 0 });
  expect(written).toEqual([]);
});

test('a journal that is not written for an hour is a line a minute, apart from headroom', () => {
  const { observe, lines, clock } = bench();
  for (let second = 0; second < 3_600; second += 1) {
    for (const where of ['journal', 'headroom'] as const)
      observe({ type: 'not_written', where, error: 'TimeoutError' });
    clock.advance(1_000);
  }
  expect(lines()).toHaveLength(120);
  expect(lines()[2]).toMatchObject({ level: 'warn', error: 'TimeoutError', suppressed: 59 });
});

test('fault 14: an unreadable question is logged once a minute for every problem, with the number left out', () => {
  const { observe, lines, clock } = bench();
  const unreadable = (problem: string): void => observe({ type: 'unreadable', problem, sizeBytes: 9 });
  for (let times = 0; times < 100; times += 1) unreadable('invalid UTF-8');
  unreadable('premature EOF');
  clock.advance(59_999);
  unreadable('invalid UTF-8');
  expect(lines().map(({ problem, suppressed }) => [problem, suppressed])).toEqual([
    ['invalid UTF-8', undefined],
    ['premature EOF', undefined],
  ]);
  clock.advance(1);
  unreadable('invalid UTF-8');
  unreadable('premature EOF');
  expect(lines().slice(2)).toMatchObject([
    { level: 'warn', message: 'a question could not be read', problem: 'invalid UTF-8', suppressed: 100 },
    { problem: 'premature EOF' },
  ]);
  expect(lines()[3]).not.toHaveProperty('suppressed');
});

test('fault 14: problems without end share one line a minute, and none is silent for good', () => {
  const { observe, lines, clock } = bench();
  const flood = (from: number): void => {
    for (let n = from; n < from + 1_000; n += 1) {
      observe({ type: 'unreadable', problem: `offset ${n}`, sizeBytes: 9 });
    }
  };
  flood(0);
  expect(lines(), '100 of their own, one for all others').toHaveLength(101);
  flood(1_000);
  expect(lines()).toHaveLength(101);
  clock.advance(60_000);
  flood(2_000);
  expect(lines().length).toBeGreaterThan(101);
  expect(lines().length).toBeLessThanOrEqual(202);
  expect(lines().map(({ suppressed }) => suppressed ?? 0)).toContain(1_899);
});

test('a service that is down costs a line a minute, not one per batch', () => {
  const { observe, lines } = bench();
  for (let times = 0; times < 50; times += 1) {
    observe({ type: 'admit_failed', code: 'admit_unreachable', details: `status ${500 + (times % 4)}` });
    observe({ type: 'admit_failed', code: 'admit_refused', details: 'status 413' });
  }
  expect(lines()).toMatchObject([{ code: 'admit_unreachable' }, { code: 'admit_refused' }]);
  expect(lines()).toHaveLength(2);
});

test('a rejection people have been told of says so, an admission says nothing of it', () => {
  const { observe, lines } = bench();
  observe({ ...rejected, decision: { ...rejection, notice: 'repeat' } });
  observe({ ...rejected, decision: { ...rejection, notice: MARKER as 'first' } });
  observe({ ...rejected, answer: { outcome: 'admitted' } });
  expect(lines().map(({ notice }) => notice)).toEqual(['repeat', 'first', undefined]);
});

test('a decision names its batch, as the admit function does', () => {
  const { observe, lines } = bench();
  observe({ ...rejected, batch: 'b4tch' });
  expect(lines()).toMatchObject([{ jobId: 42, batch: 'b4tch' }]);
});

test('a decision’s line is bounded, however long paths are and however many rules object', () => {
  const { observe, written, lines } = bench();
  const path = Array.from({ length: 20 }, () => 'g'.repeat(250)).join('/');
  const violations = Array.from(
    { length: 60 },
    (_, index): Violation => ({ ...violation, rule: `r${index}` }),
  );
  const [first = violation, ...others] = violations;
  observe({
    ...rejected,
    request: { ...request, projectPath: path },
    decision: {
      ...rejection,
      terms: { ...terms, group: path },
      violations: [first, ...others],
      shadow: violations,
    },
  });
  expect(Buffer.byteLength(written[0] ?? '')).toBeLessThan(2_000);
  expect(lines()).toMatchObject([{ root: 'g'.repeat(250), rules: { length: 10 }, codes: { length: 10 } }]);
  const { request: _, ...unread } = rejected;
  observe({ ...unread, decision: { ...rejection, terms: { ...terms, group: 'g'.repeat(9_000) } } });
  expect(Buffer.byteLength(written[1] ?? '')).toBeLessThan(2_000);
});

test('unknown fields are told once a minute each, in whatever order and company they come', () => {
  const { observe, lines, clock } = bench();
  const unknown = (...fields: readonly string[]): void => observe({ type: 'unknown_fields', fields });
  const fields = ['1:varint', '2:varint', '3:bytes', '4:group'];
  for (const first of fields)
    for (const second of fields) unknown(...new Set([second, first, ...fields.toReversed()]));
  unknown('3:bytes');
  unknown('9:bytes', '3:bytes', '5:varint');
  expect(lines().map(({ fields: told, suppressed }) => [told, suppressed])).toEqual([
    ['1:varint 2:varint 3:bytes 4:group', undefined],
    ['5:varint 9:bytes', undefined],
  ]);
  clock.advance(60_000);
  unknown('4:group', '1:varint');
  expect(lines()[2]).toMatchObject({ fields: '1:varint 4:group', suppressed: 15 });
});

test('neither unknown fields nor problems without end take the place of other trouble', () => {
  const { observe, lines } = bench();
  for (let n = 0; n < 1_000; n += 1) {
    observe({ type: 'unknown_fields', fields: [`${n}:varint`, `${n}:bytes`] });
    observe({ type: 'unreadable', problem: `offset ${n}`, sizeBytes: 9 });
  }
  expect(lines().length).toBeLessThanOrEqual(202);
  observe({ type: 'admit_failed', code: 'admit_unreachable', details: 'status 503' });
  expect(lines().at(-1)).toMatchObject({ message: 'the deciding service failed' });
});

import { expect, test } from 'vitest';
import type { RelayEvent } from '../../../relay/events.ts';
import { createMetrics, type RelayMetrics } from '../../../relay/monitoring/metrics.ts';
import * as names from '../../../relay/names.ts';

const METRICS = Object.entries(names)
  .filter(([key]) => key.startsWith('METRIC_'))
  .map(([, name]) => name);

/** `name{label="value"}` → value, as Prometheus reads the page. */
async function scrape(metrics: RelayMetrics): Promise<Map<string, number>> {
  const samples = new Map<string, number>();
  for (const line of (await metrics.render()).split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [, series = '', value] = /^(\S+?(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
    expect(series, line).not.toBe('');
    samples.set(series, Number(value));
  }
  return samples;
}

async function after(events: readonly RelayEvent[]): Promise<Map<string, number>> {
  const metrics = createMetrics();
  for (const event of events) metrics.observe(event);
  return scrape(metrics);
}

const answered = (more: Partial<Extract<RelayEvent, { type: 'answered' }>> = {}): RelayEvent => ({
  type: 'answered',
  answer: { outcome: 'admitted' },
  via: 'ledger',
  latencyMs: 16,
  heard: true,
  ...more,
});

test('every name there is has help and a type before anything happened', async () => {
  const page = await createMetrics().render();
  expect(METRICS.length).toBeGreaterThan(10);
  for (const name of METRICS) expect(page).toMatch(new RegExp(`# HELP ${name} \\S.*\n# TYPE ${name} \\w+\n`));
  const exported = [...page.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  expect(exported.sort(), 'and there is no metric beside them').toEqual([...METRICS].sort());
});

test('answers are counted by outcome and who decided, the fallback by cause, latency in seconds', async () => {
  const reason = 'BUDGET_EXHAUSTED';
  const samples = await after([
    { type: 'question' },
    { type: 'question' },
    { type: 'question' },
    answered(),
    answered({ answer: { outcome: 'rejected', reason }, latencyMs: 4 }),
    answered({ via: 'fallback', cause: 'deadline', latencyMs: 2_000, heard: false }),
  ]);
  expect(Object.fromEntries(samples)).toMatchObject({
    [names.METRIC_QUESTIONS]: 3,
    [`${names.METRIC_DECISIONS}{outcome="admitted",via="ledger"}`]: 1,
    [`${names.METRIC_DECISIONS}{outcome="rejected",via="ledger"}`]: 1,
    [`${names.METRIC_DECISIONS}{outcome="admitted",via="fallback"}`]: 1,
    [`${names.METRIC_FALLBACK}{cause="deadline"}`]: 1,
    [names.METRIC_UNHEARD]: 1,
    [`${names.METRIC_LATENCY}_bucket{le="0.005"}`]: 1,
    [`${names.METRIC_LATENCY}_bucket{le="0.02"}`]: 2,
    [`${names.METRIC_LATENCY}_bucket{le="2"}`]: 3,
    [`${names.METRIC_LATENCY}_count`]: 3,
  });
  expect(samples.get(`${names.METRIC_LATENCY}_sum`)).toBeCloseTo(2.02);
});

test('rejections are counted by whether people have been told of them', async () => {
  const answer = { outcome: 'rejected', reason: 'BUDGET_EXHAUSTED' } as const;
  const decision = {
    outcome: 'rejected',
    decisionId: 'd-1-1',
    violations: [
      { rule: 'a', class: 'cost', mode: 'enforce', reason: { code: 'CONTROLLER_ERROR', cause: 'x' } },
    ],
    shadow: [],
    text: 'no',
  } as const;
  const samples = await after([
    answered(),
    answered({ answer, decision: { ...decision, notice: 'first' } }),
    answered({ answer, decision: { ...decision, notice: 'repeat' } }),
    answered({ answer, decision: { ...decision, notice: 'repeat' } }),
    // A service that keeps no count, and the fallback: rather told twice than never.
    answered({ answer, decision }),
    answered({ answer, via: 'fallback', cause: 'deadline' }),
  ]);
  expect(samples.get(`${names.METRIC_REJECTIONS}{notice="first"}`)).toBe(3);
  expect(samples.get(`${names.METRIC_REJECTIONS}{notice="repeat"}`)).toBe(2);
});

test('streams are what they are now; the first connection is no reconnect', async () => {
  const first: readonly RelayEvent[] = [
    { type: 'streams', open: 8, waiting: 8, wanted: 8 },
    { type: 'connected', downMs: 20 },
  ];
  const again: readonly RelayEvent[] = [
    { type: 'streams', open: 0, waiting: 0, wanted: 8 },
    { type: 'connected', downMs: 4_000 },
    { type: 'streams', open: 6, waiting: 5, wanted: 8 },
  ];
  expect((await after(first)).get(names.METRIC_RECONNECTS)).toBe(0);
  const samples = await after([...first, ...again]);
  expect(samples.get(names.METRIC_RECONNECTS)).toBe(1);
  expect(samples.get(names.METRIC_STREAMS_OPEN)).toBe(6);
  expect(samples.get(names.METRIC_STREAMS_WAITING)).toBe(5);
});

test('batches, poisoned questions and unmetered answers add up', async () => {
  const samples = await after([
    { type: 'batch', lane: 'root 100', jobs: 96, waiters: 100 },
    { type: 'batch', lane: 'root 101', jobs: 3, waiters: 3 },
    { type: 'unreadable', problem: 'premature EOF', sizeBytes: 3 },
    { type: 'suspicious', jobId: 1, fields: ['projectId'] },
    { type: 'unmetered', queued: 12, posted: 0, dropped: 2 },
    { type: 'unmetered', queued: 4, posted: 8, dropped: 0 },
    { type: 'unmetered', queued: 1, posted: 0, journaled: 3, dropped: 0 },
  ]);
  expect(Object.fromEntries(samples)).toMatchObject({
    [`${names.METRIC_BATCH_JOBS}_bucket{le="4"}`]: 1,
    [`${names.METRIC_BATCH_JOBS}_bucket{le="96"}`]: 2,
    [`${names.METRIC_BATCH_JOBS}_sum`]: 99,
    [names.METRIC_UNREADABLE]: 1,
    [names.METRIC_SUSPICIOUS]: 1,
    [names.METRIC_UNMETERED_QUEUED]: 1,
    [names.METRIC_UNMETERED_POSTED]: 8,
    [names.METRIC_UNMETERED_JOURNALED]: 3,
    [names.METRIC_UNMETERED_DROPPED]: 2,
  });
});

test.each([
  { state: 'closed' as const, value: 0 },
  { state: 'half_open' as const, value: 1 },
  { state: 'open' as const, value: 2 },
])('a breaker that is $state shows as $value', async ({ state, value }) => {
  expect((await after([{ type: 'breaker', state }])).get(names.METRIC_BREAKER)).toBe(value);
});

test('unknown fields are labels, fifty of them; a flood of others shares one, and none is lost', async () => {
  const fields = Array.from({ length: 1_000 }, (_, number) => `job_info.${number}:varint`);
  const samples = await after([
    ...fields.map((field): RelayEvent => ({ type: 'unknown_fields', fields: [field] })),
    { type: 'unknown_fields', fields: ['job_info.0:varint', 'job_info.999:varint'] },
  ]);
  const labelled = [...samples].filter(([series]) => series.startsWith(names.METRIC_UNKNOWN_FIELDS));
  expect(labelled).toHaveLength(51);
  expect(samples.get(`${names.METRIC_UNKNOWN_FIELDS}{field="job_info.0:varint"}`)).toBe(2);
  expect(samples.get(`${names.METRIC_UNKNOWN_FIELDS}{field="other"}`)).toBe(951);
});

test('no label says whose job it was or why: series do not grow with the jobs', async () => {
  const job = (jobId: number): RelayEvent =>
    answered({
      answer: { outcome: 'rejected', reason: `not-a-secret ${jobId}` },
      request: { jobId, projectPath: `acme/not-a-secret-${jobId}`, variables: { TOKEN: 'not-a-secret' } },
      latencyMs: jobId,
    });
  const one = await after([job(1)]);
  const many = await after(Array.from({ length: 200 }, (_, jobId) => job(jobId)));
  expect([...many.keys()]).toEqual([...one.keys()]);
  expect([...many.keys()].join()).not.toContain('not-a-secret');
});

test('two relays in one process do not share their numbers', async () => {
  const [one, other] = [createMetrics(), createMetrics()];
  one.observe({ type: 'question' });
  expect((await scrape(one)).get(names.METRIC_QUESTIONS)).toBe(1);
  expect((await scrape(other)).get(names.METRIC_QUESTIONS)).toBe(0);
});

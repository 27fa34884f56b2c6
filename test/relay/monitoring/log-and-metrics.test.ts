import { describe, expect, test } from 'vitest';
import type { Decision } from '../../../policies/decision.ts';
import type { Violation } from '../../../policies/reason.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import type { RelayEvent } from '../../../relay/events.ts';
import { createLogger, type LogLevel, logEvents } from '../../../relay/monitoring/log.ts';
import { createMetrics } from '../../../relay/monitoring/metrics.ts';
import { handClock } from '../../../scripts/local/clock.ts';

describe('log', () => {
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
      { type: 'batch', roots: 1, jobs: 3, waiters: 4 },
      {
        type: 'directory',
        ageMs: 90_000,
        groups: 3,
        problem: 'the groups of GitLab have not been listed yet',
      },
      { type: 'unmetered', queued: 5, posted: 0, dropped: 1, lost: { why: 'refused', jobIds: [7] } },
      { type: 'not_written', where: 'journal', error: 'AccessDeniedException' },
      { type: 'not_written', where: 'headroom', error: 'TimeoutError' },
      { type: 'breaker', state: 'open' },
      { type: 'connected', downMs: 3, again: false },
      { type: 'registered' },
    ];
    for (const event of others) observe(Object.assign({ bytes: MARKER, token: MARKER }, event));
    expect(written).toHaveLength(events.length + others.length);
    expect(written.join('')).not.toContain(MARKER);
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
      {
        level: 'warn',
        message: 'an admission request could not be read',
        problem: 'invalid UTF-8',
        suppressed: 100,
      },
      { problem: 'premature EOF' },
    ]);
    expect(lines()[3]).not.toHaveProperty('suppressed');
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
});

describe('Prometheus metrics', () => {
  /** `name{label="value"}` → value, as Prometheus reads the page. */
  async function scrape(metrics: ReturnType<typeof createMetrics>): Promise<Map<string, number>> {
    const samples = new Map<string, number>();
    for (const line of (await metrics.render()).split('\n')) {
      if (line === '' || line.startsWith('#')) continue;
      const [, series = '', value] = /^(\S+?(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
      expect(series, line).not.toBe('');
      samples.set(series, Number(value));
    }
    return samples;
  }

  async function samplesAfter(events: readonly RelayEvent[]): Promise<Map<string, number>> {
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

  test('every metric has help and a type before anything happened', async () => {
    const page = await createMetrics().render();
    const described = page.match(/^# HELP tollgate_relay_(\w+) \S.*\n# TYPE tollgate_relay_\1 \w+$/gm) ?? [];
    expect(described.length).toBeGreaterThan(10);
    expect(page.match(/^# TYPE /gm)).toHaveLength(described.length);
  });

  test('answers are counted by outcome and who decided, the fallback by cause, latency in seconds', async () => {
    const reason = 'BUDGET_EXHAUSTED';
    const samples = await samplesAfter([
      { type: 'request' },
      { type: 'request' },
      { type: 'request' },
      answered(),
      answered({ answer: { outcome: 'rejected', reason }, latencyMs: 4 }),
      answered({ via: 'fallback', cause: 'deadline', latencyMs: 2_000, heard: false }),
    ]);
    expect(Object.fromEntries(samples)).toMatchObject({
      tollgate_relay_requests_total: 3,
      'tollgate_relay_decisions_total{outcome="admitted",via="ledger"}': 1,
      'tollgate_relay_decisions_total{outcome="rejected",via="ledger"}': 1,
      'tollgate_relay_decisions_total{outcome="admitted",via="fallback"}': 1,
      'tollgate_relay_fallback_total{cause="deadline"}': 1,
      tollgate_relay_unheard_total: 1,
      'tollgate_relay_answer_latency_seconds_bucket{le="0.005"}': 1,
      'tollgate_relay_answer_latency_seconds_bucket{le="0.02"}': 2,
      'tollgate_relay_answer_latency_seconds_bucket{le="2"}': 3,
      tollgate_relay_answer_latency_seconds_count: 3,
    });
    expect(samples.get('tollgate_relay_answer_latency_seconds_sum')).toBeCloseTo(2.02);
  });
});

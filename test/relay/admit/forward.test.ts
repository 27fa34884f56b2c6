import { expect, test } from 'vitest';
import type { Fetch } from '../../../relay/admit/admit-call.ts';
import { createBreaker } from '../../../relay/admit/breaker.ts';
import { createForwarder, TRIES_MAX } from '../../../relay/admit/forward.ts';
import { createBatchJob } from '../../../relay/commit/fair-queue.ts';
import type { RelayEvent } from '../../../relay/events.ts';
import { type HandClock, handClock } from '../../../scripts/local/clock.ts';
import { until } from '../../support/flow/until.ts';

const MARKER = 'not-a-secret';
const JOBS = [1, 2].map((jobId) => createBatchJob({ jobId, projectPath: 'acme/web' }));
const decisions = [1, 2].map((jobId) => ({
  jobId,
  outcome: 'admitted',
  decisionId: `d-${jobId}`,
  shadow: [],
}));
const all = (cause: string) => JOBS.map(() => ({ outcome: 'undecided', cause }));

/** What the service does with one call; the last step stays. */
type Step = number | 'ok' | 'down' | 'hang' | 'slow' | { readonly says: unknown };

type WatchedClock = HandClock & { readonly delays: number[] };

function watchedClock(): WatchedClock {
  const clock = handClock(1_000);
  const { after } = clock;
  const delays: number[] = [];
  const watched: HandClock['after'] = (delayMs, run) => {
    delays.push(delayMs);
    return after(delayMs, run);
  };
  return Object.assign(clock, { delays, after: watched });
}

function bench(...steps: readonly Step[]) {
  const clock = watchedClock();
  const sent: { path: string; remainingMs: unknown; requests: unknown; atMs: number; batch?: unknown }[] = [];
  const signals: AbortSignal[] = [];
  const events: RelayEvent[] = [];
  const breaker = createBreaker(
    () => clock.monotonicMs(),
    (state) => events.push({ type: 'breaker', state }),
  );
  const fetch: Fetch = (url, init) => {
    const { remainingMs, requests, batch } = JSON.parse(String(init.body));
    const answers = { decisions, ...(batch !== undefined && { batch }) };
    const named = batch === undefined ? {} : { batch };
    sent.push({ path: new URL(url).pathname, remainingMs, requests, atMs: clock.monotonicMs(), ...named });
    if (init.signal) signals.push(init.signal);
    const step = steps[Math.min(sent.length, steps.length) - 1];
    const aborted = new Promise<Response>((_, reject) => {
      init.signal?.addEventListener('abort', () => reject(init.signal?.reason));
    });
    if (step === 'hang') return aborted;
    if (step === 'slow') {
      const awake = new Promise<Response>((resolve) => {
        clock.after(3_000, () => resolve(Response.json(answers)));
      });
      return Promise.race([awake, aborted]);
    }
    if (step === 'down')
      return Promise.reject(Object.assign(new TypeError(MARKER), { cause: { code: 'ECONNRESET' } }));
    if (typeof step === 'number') return Promise.resolve(new Response(MARKER, { status: step }));
    return Promise.resolve(Response.json(typeof step === 'object' ? step.says : answers));
  };
  const fights: (readonly [string, readonly string[]])[] = [];
  const lanes = {
    noteContended: (counter: string, roots: readonly string[]) => void fights.push([counter, roots]),
    notePacked: () => {},
  };
  const forwarder = createForwarder({
    lanes,
    baseUrl: 'http://admit.example.com',
    fetch,
    clock,
    random: () => 0.5,
    breaker,
    observe: (event) => events.push(event),
  });
  return { clock, sent, signals, events, fights, breaker, ...forwarder };
}

/** The timers of a batch with one more try: the call's timeout, then the pause. */
const PAUSE = 1;

test('a batch is sent as the contract says, and every job gets its own decision', async () => {
  const { send, sent, events } = bench('ok');
  expect(await send(JOBS, 1_999.9)).toEqual(decisions);
  expect(sent).toEqual([
    { path: '/v1/admissions', remainingMs: 1_999, requests: JOBS.map((job) => job.request), atMs: 0 },
  ]);
  expect(events).toEqual([]);
});

test.each([{ step: 429 }, { step: 408 }, { step: 500 }, { step: 503 }, { step: 'down' as const }])(
  'fault 5: $step once, then success: retried after a jittered pause, told what is left',
  async ({ step }) => {
    const { send, sent, clock, breaker, events } = bench(step, 'ok');
    const answering = send(JOBS, 2_000);
    await until(() => clock.delays.length > PAUSE);
    expect(clock.delays[PAUSE], 'three quarters of 50 ms, as random says').toBe(37.5);
    clock.advance(37.5);
    expect(await answering).toEqual(decisions);
    expect(sent.map(({ remainingMs, atMs }) => ({ remainingMs, atMs }))).toEqual([
      { remainingMs: 2_000, atMs: 0 },
      { remainingMs: 1_962, atMs: 37.5 },
    ]);
    expect(breaker.state).toBe('closed');
    const code = step === 429 ? 'admit_throttled' : 'admit_unreachable';
    expect(events).toMatchObject([{ type: 'admit_failed', code }]);
    expect(clock.timers).toBe(0);
  },
);

async function answered<T>(answering: Promise<T>, clock: WatchedClock): Promise<T> {
  let settled = false;
  void answering.finally(() => {
    settled = true;
  });
  await until(() => {
    if (!settled) clock.advance(0.5);
    return settled;
  });
  return answering;
}

test.each([{ step: 429 }, { step: 503 }, { step: 'down' as const }])(
  'fault 5: $step again and again: as many tries as the deadline has room for, then undecided, nothing quoted',
  async ({ step }) => {
    const { send, sent, clock, events, breaker } = bench(step);
    expect(await answered(send(JOBS, 2_000), clock)).toEqual(all('unreachable'));
    expect(sent).toHaveLength(TRIES_MAX);
    const pausesMs = sent.slice(1).map(({ atMs }, index) => atMs - (sent[index]?.atMs ?? 0));
    expect(pausesMs.map(Math.round)).toEqual(
      [38, 75, 150, 300, 300, 300, 300].map((ms) => expect.toBeOneOf([ms, ms + 1, ms - 1])),
    );
    expect(breaker.state).toBe('closed');
    expect(JSON.stringify(events)).not.toContain(MARKER);
  },
);

test.each([
  { step: 'hang' as const, guarantee: 'a service that hangs is given up and aborted at the deadline' },
  { step: 'slow' as const, guarantee: 'a cold start of 3 s meets the deadline of 2 s' },
])('fault 5: $guarantee, and not asked again', async ({ step }) => {
  const { send, sent, signals, clock, breaker } = bench(step);
  const answering = send(JOBS, 2_000);
  clock.advance(2_000);
  expect(await answering).toEqual(all('deadline'));
  expect(sent).toHaveLength(1);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  expect(breaker.state).toBe('closed');
});

test.each([400, 403, 404, 413, 302])(
  'fault 5: %i is refused: not retried, and the service is there',
  async (step) => {
    const { send, sent, breaker, events } = bench(step);
    for (let batch = 0; batch < 10; batch += 1) expect(await send(JOBS, 2_000)).toEqual(all('refused'));
    expect(sent).toHaveLength(10);
    expect(breaker.state).toBe('closed');
    expect(events[0]).toMatchObject({ type: 'admit_failed', code: 'admit_refused' });
    expect(JSON.stringify(events)).not.toContain(MARKER);
  },
);

test.each([
  { says: { message: MARKER }, flaw: 'the wrong shape' },
  { says: MARKER, flaw: 'no object' },
])('fault 5: $flaw is malformed for the whole batch, not retried, not quoted', async ({ says }) => {
  const { send, sent, events } = bench({ says });
  expect(await send(JOBS, 2_000)).toEqual(all('malformed'));
  expect(sent).toHaveLength(1);
  expect(events).toMatchObject([{ type: 'admit_failed', code: 'admit_unreachable' }]);
  expect(JSON.stringify(events)).not.toContain(MARKER);
});

const POST = { jobId: 7, json: '{"cause":"deadline"}' };

test.each([
  {
    step: { says: { results: [{ jobId: 7, outcome: 'recorded' }] } },
    told: { kind: 'reported', outcomes: new Map([[7, 'recorded']]) },
  },
  { step: { says: { results: [{ outcome: 'recorded' }] } }, told: { kind: 'reported', outcomes: new Map() } },
  { step: { says: {} }, told: { kind: 'unreachable' } },
  { step: 503, told: { kind: 'unreachable' } },
  { step: 429, told: { kind: 'unreachable' } },
  { step: 404, told: { kind: 'refused', content: false } },
  { step: 302, told: { kind: 'refused', content: false } },
  { step: 413, told: { kind: 'refused', content: true } },
  { step: 400, told: { kind: 'refused', content: true } },
])('unmetered answers, $step: $told', async ({ step, told }) => {
  const { postUnmetered, sent } = bench(step);
  expect(await postUnmetered([POST], { timeoutMs: 5_000 })).toEqual(told);
  expect(sent.map(({ path }) => path)).toEqual(['/v1/unmetered']);
});

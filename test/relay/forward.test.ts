import { expect, test } from 'vitest';
import type { Fetch } from '../../relay/admit-call.ts';
import { createBreaker } from '../../relay/breaker.ts';
import { createBatchJob } from '../../relay/commit/batch-job.ts';
import type { RelayEvent } from '../../relay/events.ts';
import { createForwarder } from '../../relay/forward.ts';
import { until } from '../flow/support/until.ts';
import { FakeClock } from './streams/support/fake-clock.ts';

const MARKER = 'not-a-secret';
const JOBS = [1, 2].map((jobId) => createBatchJob({ jobId, projectPath: 'acme/web' }));
const decisions = [1, 2].map((jobId) => ({ outcome: 'admitted', decisionId: `d-${jobId}`, shadow: [] }));
const all = (cause: string) => JOBS.map(() => ({ outcome: 'undecided', cause }));

/** What the service does with one call; the last step stays. */
type Step = number | 'ok' | 'down' | 'hang' | 'slow' | { readonly says: unknown };

class WatchedClock extends FakeClock {
  readonly delays: number[] = [];
  override after(delayMs: number, run: () => void): () => void {
    this.delays.push(delayMs);
    return super.after(delayMs, run);
  }
}

function bench(...steps: readonly Step[]) {
  const clock = new WatchedClock();
  const sent: { path: string; remainingMs: unknown; requests: unknown; atMs: number; batch?: unknown }[] = [];
  const signals: AbortSignal[] = [];
  const events: RelayEvent[] = [];
  const breaker = createBreaker(
    () => clock.monotonicMs(),
    (state) => events.push({ type: 'breaker', state }),
  );
  const fetch: Fetch = (url, init) => {
    const { remainingMs, requests, batch } = JSON.parse(String(init.body));
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
        clock.after(3_000, () => resolve(Response.json({ decisions })));
      });
      return Promise.race([awake, aborted]);
    }
    if (step === 'down')
      return Promise.reject(Object.assign(new TypeError(MARKER), { cause: { code: 'ECONNRESET' } }));
    if (typeof step === 'number') return Promise.resolve(new Response(MARKER, { status: step }));
    return Promise.resolve(Response.json(typeof step === 'object' ? step.says : { decisions }));
  };
  const forwarder = createForwarder({
    baseUrl: 'http://admit.example.com',
    fetch,
    clock,
    random: () => 0.5,
    breaker,
    observe: (event) => events.push(event),
  });
  return { clock, sent, signals, events, breaker, ...forwarder };
}

/** The timers of a batch with one more try: the call's timeout, then the pause. */
const PAUSE = 1;

test('a batch is sent as the contract says and answered in its order', async () => {
  const { send, sent, events } = bench('ok');
  expect(await send(JOBS, 1_999.9)).toEqual(decisions);
  expect(sent).toEqual([
    { path: '/v1/admissions', remainingMs: 1_999, requests: JOBS.map((job) => job.request), atMs: 1_000 },
  ]);
  expect(events).toEqual([]);
});

test.each([{ step: 429 }, { step: 408 }, { step: 500 }, { step: 503 }, { step: 'down' as const }])(
  'fault 5: $step once, then success: retried after a jittered pause, told what is left',
  async ({ step }) => {
    const { send, sent, clock, breaker, events } = bench(step, 'ok');
    const answering = send(JOBS, 2_000);
    await until(() => clock.delays.length > PAUSE);
    expect(clock.delays[PAUSE], 'half of 200 ms, as random says').toBe(100);
    clock.advance(100);
    expect(await answering).toEqual(decisions);
    expect(sent.map(({ remainingMs, atMs }) => ({ remainingMs, atMs }))).toEqual([
      { remainingMs: 2_000, atMs: 1_000 },
      { remainingMs: 1_900, atMs: 1_100 },
    ]);
    expect(breaker.state).toEqual({ name: 'closed', failures: 0 });
    expect(events).toMatchObject([{ type: 'admit_failed', code: 'admit_unreachable' }]);
    expect(clock.timers).toBe(0);
  },
);

test.each([{ step: 429 }, { step: 503 }, { step: 'down' as const }])(
  'fault 5: $step again and again: two tries, then undecided, nothing quoted',
  async ({ step }) => {
    const { send, sent, clock, events, breaker } = bench(step);
    const answering = send(JOBS, 2_000);
    await until(() => clock.delays.length > PAUSE);
    clock.advance(100);
    expect(await answering).toEqual(all('unreachable'));
    expect(sent).toHaveLength(2);
    expect(breaker.state).toEqual({ name: 'closed', failures: 2 });
    expect(JSON.stringify(events)).not.toContain(MARKER);
  },
);

test.each([
  { leftMs: 250, tries: 2, guarantee: 'exactly enough for the pause and a transaction' },
  { leftMs: 249, tries: 1, guarantee: 'too little for another try: the fallback answers at once' },
])('fault 5: 429 with $leftMs ms left: $guarantee', async ({ leftMs, tries }) => {
  const { send, sent, clock } = bench(429);
  const answering = send(JOBS, leftMs);
  if (tries === 2) await until(() => clock.delays.length > PAUSE);
  clock.advance(100);
  expect(await answering).toEqual(all('unreachable'));
  expect(sent).toHaveLength(tries);
});

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
  expect(breaker.state).toEqual({ name: 'closed', failures: 1 });
});

test('fault 5: a hang at the second try ends at the deadline of the first', async () => {
  const { send, clock } = bench(503, 'hang');
  const answering = send(JOBS, 2_000);
  await until(() => clock.delays.length > PAUSE);
  clock.advance(100);
  await until(() => clock.delays.length > PAUSE + 1);
  expect(clock.delays.at(-1)).toBe(1_900);
  clock.advance(1_900);
  expect(await answering).toEqual(all('deadline'));
});

test.each([400, 403, 404, 413, 302])(
  'fault 5: %i is refused: not retried, and the service is there',
  async (step) => {
    const { send, sent, breaker, events } = bench(step);
    for (let batch = 0; batch < 10; batch += 1) expect(await send(JOBS, 2_000)).toEqual(all('refused'));
    expect(sent).toHaveLength(10);
    expect(breaker.state).toEqual({ name: 'closed', failures: 0 });
    expect(events[0]).toMatchObject({ type: 'admit_failed', code: 'admit_refused' });
    expect(JSON.stringify(events)).not.toContain(MARKER);
  },
);

test.each([
  { says: { decisions: decisions.slice(1) }, flaw: 'one decision too few' },
  { says: { decisions: [...decisions, ...decisions] }, flaw: 'decisions too many' },
  { says: { message: MARKER }, flaw: 'the wrong shape' },
  { says: MARKER, flaw: 'no object' },
])('fault 5: $flaw is malformed for the whole batch, not retried, not quoted', async ({ says }) => {
  const { send, sent, events } = bench({ says });
  expect(await send(JOBS, 2_000)).toEqual(all('malformed'));
  expect(sent).toHaveLength(1);
  expect(events).toMatchObject([{ type: 'admit_failed', code: 'admit_unreachable' }]);
  expect(JSON.stringify(events)).not.toContain(MARKER);
});

test('fault 5: five failures in a row open the circuit: nobody is asked until a probe succeeds', async () => {
  const { send, sent, breaker, clock } = bench('hang', 'hang', 'hang', 'hang', 'hang', 'ok');
  for (let batch = 0; batch < 5; batch += 1) {
    const answering = send(JOBS, 2_000);
    clock.advance(2_000);
    expect(await answering).toEqual(all('deadline'));
  }
  expect(await send(JOBS, 2_000)).toEqual(all('circuit_open'));
  expect(sent).toHaveLength(5);
  clock.advance(5_000);
  const [probe, beside] = await Promise.all([send(JOBS, 2_000), send(JOBS, 2_000)]);
  expect(probe).toEqual(decisions);
  expect(beside, 'one probe at a time').toEqual(all('circuit_open'));
  expect(breaker.state.name).toBe('closed');
});

test('rejections and undecided are answers: no number of them opens the circuit', async () => {
  const says = { decisions: JOBS.map(() => ({ outcome: 'undecided', cause: 'unavailable' })) };
  const { send, breaker } = bench({ says });
  for (let batch = 0; batch < 10; batch += 1) expect(await send(JOBS, 2_000)).toEqual(says.decisions);
  expect(breaker.state).toEqual({ name: 'closed', failures: 0 });
});

test.each([
  { step: { says: { results: [{ outcome: 'recorded' }] } }, results: [{ outcome: 'recorded' }] },
  { step: { says: { results: [] } }, results: undefined },
  { step: 503, results: undefined },
  { step: 413, results: [{ outcome: 'invalid' }] },
])(
  'unmetered answers, $step: told $results; refused for good blocks nobody behind',
  async ({ step, results }) => {
    const { postUnmetered, sent } = bench(step);
    expect(await postUnmetered(['{"cause":"deadline"}'], 5_000)).toEqual(results);
    expect(sent.map(({ path }) => path)).toEqual(['/v1/unmetered']);
  },
);

test('unmetered answers are not posted while the circuit is open', async () => {
  const { postUnmetered, breaker, sent } = bench('ok');
  for (let failure = 0; failure < 5; failure += 1) breaker.failed();
  expect(await postUnmetered(['{}'], 5_000)).toBeUndefined();
  expect(sent).toEqual([]);
});

test('a batch with a name is sent under it, also the second time', async () => {
  const { send, sent, clock } = bench(503, 'ok');
  const answered = send(JOBS, 2_000, 'b4tch');
  await until(() => clock.delays.length > PAUSE);
  clock.advance(200);
  await answered;
  expect(sent.map(({ batch }) => batch)).toEqual(['b4tch', 'b4tch']);
});

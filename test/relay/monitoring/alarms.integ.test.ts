/** The relays' alarms, by their own formulas, on the lines that relays as processes really write. */
import { Hono } from 'hono';
import { afterEach, expect, test } from 'vitest';
import { alarmsFor } from '../../../cdk/monitoring/alarms/alarms.ts';
import { SERIES, seriesIn } from '../../../cdk/monitoring/series.ts';
import { MemoryStore } from '../../../functions/core/ledger/memory-store.ts';
import { RELAY_METRICS } from '../../../relay/names.ts';
import { loopbackPort } from '../../../scripts/local/loopback.ts';
import type { LocalRouter } from '../../../scripts/local/router/local-router.ts';
import { emfProblems, measuredOf } from '../../support/emf-spec.ts';
import { admitApp, flowRules, listen, question, TOKEN } from '../../support/flow/flow.ts';
import { patientRouter } from '../../support/flow/patient-router.ts';
import { isOn, type MinuteOfLines } from '../../support/relay/alarm-state.ts';
import { type RelayProcess, spawnRelay } from '../../support/relay/relay-process.ts';

/** Far more than an answer takes on a machine with other things to do. */
const DEADLINE_MS = 6_000;
const WITH_MINUTES = `--import=${new URL('../../support/relay/minutes-on-demand.ts', import.meta.url).href}`;
/** As many as the alarm with the longest view looks at: three times five. */
const LONG = 15;
/** Two relays may each have their last questions of a minute uncounted: a third of the answers is still far above the alarm. */
const ROUNDS = 3;

const measuredByRelays = (formula: string): boolean =>
  seriesIn(formula).every((each) => RELAY_METRICS.some(({ name }) => name === SERIES[each].name));
const RELAY_ALARMS = alarmsFor({
  relays: 2,
  deadlineMs: DEADLINE_MS,
  failurePolicy: 'admit',
  watchdog: false,
  console: false,
  notices: true,
  metrics: true,
}).filter(({ formula }) => measuredByRelays(formula));

/** Names of those that are on after the last of these minutes. */
const onAfter = (minutes: readonly MinuteOfLines[]): readonly string[] =>
  RELAY_ALARMS.filter((spec) => isOn(spec, minutes)).map(({ name }) => name);

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface Member {
  readonly relay: RelayProcess;
  /** Its metrics for CloudWatch, one line a minute. */
  readonly lines: string[];
  /** Until it has written so many. */
  wroteLines(count: number): Promise<void>;
}

async function startRelay(router: LocalRouter, admitUrl: string): Promise<Member> {
  const relay = spawnRelay({
    NODE_OPTIONS: WITH_MINUTES,
    TOLLGATE_ROUTER_URL: router.grpcUrl ?? '',
    TOLLGATE_ROUTER_TOKEN: TOKEN,
    TOLLGATE_ADMIT_URL: admitUrl,
    TOLLGATE_DEADLINE_MS: String(DEADLINE_MS),
    TOLLGATE_HEALTH_PORT: String(await loopbackPort()),
    TOLLGATE_DEPLOYMENT: 'production',
  });
  ends.push(() => relay.child.kill('SIGKILL'));
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  let rest = '';
  relay.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts.filter((line) => line.startsWith('{"_aws"')));
    for (const look of [...waiting]) look();
  });
  const wroteLines = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (lines.length < count) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  await relay.wrote('"started"');
  return { relay, lines, wroteLines };
}

/** Lets minutes pass for all of them, and gathers what they say in each. */
async function pass(
  minutes: number,
  members: readonly Member[],
  everyMinute: () => Promise<unknown> = async () => {},
): Promise<readonly MinuteOfLines[]> {
  const passed: MinuteOfLines[] = [];
  for (let minute = 0; minute < minutes; minute += 1) {
    await everyMinute();
    const written = members.map(({ lines }) => lines.length);
    for (const { relay } of members) relay.child.kill('SIGUSR2');
    await Promise.all(members.map(({ wroteLines }, index) => wroteLines((written[index] ?? 0) + 1)));
    passed.push(members.flatMap(({ lines }, index) => lines.slice(written[index])));
  }
  for (const line of passed.flat()) expect(emfProblems(line)).toEqual([]);
  return passed;
}

/** The first minute in which every relay says that it has no stream: a process notices that its router is gone in its own time. */
async function firstWithoutStreams(members: readonly Member[]) {
  const before: MinuteOfLines[] = [];
  for (;;) {
    const [minute = []] = await pass(1, members);
    const open = minute.flatMap((line) => measuredOf(line).values.StreamsOpen ?? []);
    if (open.length === members.length && open.every((streams) => streams === 0))
      return { before, first: minute };
    before.push(minute);
  }
}

/** Two relays at one router, and an admit function that can be throttled. */
async function aFleet() {
  const rules = flowRules([]);
  const { app } = admitApp(new MemoryStore({ instance: 'alarms.example.com' }), rules);
  const fleet = { throttled: false };
  const front = new Hono();
  front.all('*', (c) =>
    fleet.throttled
      ? c.json({ Reason: 'ReservedFunctionConcurrentInvocationLimitExceeded' }, 429)
      : app.fetch(c.req.raw),
  );
  const server = await listen(front);
  ends.push(() => server.close());
  const router = await patientRouter({ controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }] });
  ends.push(() => router.close());
  const start = () => startRelay(router, server.url);
  const members = [await start(), await start()];
  await router.until(() => router.waitingStreams() > 8, { timeoutMs: 30_000 });
  let jobId = 0;
  /**
   * A question of each of several projects, a few times over; every job is admitted, by whomever. A relay counts an answer
   * when its call has ended, which for the last of them may be a moment after the minute: the others have ended for certain,
   * because theirs stood in line before the next question.
   */
  const ask = async (): Promise<void> => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const results = await Promise.all(
        [1001, 1002, 1003, 1004].map((projectId) => {
          jobId += 1;
          return router.admit(question(jobId, projectId));
        }),
      );
      expect(results.map(({ result }) => result)).toEqual(results.map(() => 'admitted'));
    }
  };
  return { fleet, router, members, start, ask };
}

test('every alarm that looks at relays alone is looked at here', () => {
  expect(RELAY_ALARMS.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['RelayDisconnected', 'FallbackShare', 'RelayMissing', 'LatencyNearDeadline']),
  );
});

test('a quarter of an hour of work is no alarm', async () => {
  const { members, ask } = await aFleet();
  const worked = await pass(LONG, members, ask);
  expect(worked.map((_, index) => onAfter(worked.slice(0, index + 1)))).toEqual(worked.map(() => []));
});

test('a router that is out of reach is an outage after three minutes, and no second alarm', async () => {
  const { router, members, ask } = await aFleet();
  const worked = await pass(5, members, ask);
  await router.close();
  const { before, first } = await firstWithoutStreams(members);
  const out = [first, ...(await pass(LONG - 1, members))];
  const earlier = [...worked, ...before];
  expect(onAfter([...earlier, ...out.slice(0, 2)])).toEqual([]);
  expect(onAfter([...earlier, ...out.slice(0, 3)])).toEqual(['RelayDisconnected']);
  expect(onAfter([...earlier, ...out])).toEqual(['RelayDisconnected']);
});

test('an admit function that is throttled is told by the share of answers without it, and by nothing else', async () => {
  const { fleet, members, ask } = await aFleet();
  const worked = await pass(5, members, ask);
  fleet.throttled = true;
  const throttled = await pass(3, members, ask);
  expect(onAfter([...worked, ...throttled.slice(0, 2)])).toEqual([]);
  expect(onAfter([...worked, ...throttled])).toEqual(['FallbackShare']);
});

test('relays that are replaced, as in a deployment, are no alarm', async () => {
  const { router, members, start, ask } = await aFleet();
  const minutes = [...(await pass(LONG, members, ask))];
  let serving = members;
  for (const old of members) {
    const before = router.waitingStreams();
    const next = await start();
    await router.until(() => router.waitingStreams() > before, { timeoutMs: 30_000 });
    serving = [...serving.filter((each) => each !== old), next];
    const written = old.lines.length;
    old.relay.child.kill('SIGTERM');
    expect((await old.relay.closed).code).toBe(0);
    // The last minute of the one that leaves, and a minute of those that serve.
    const [minute = []] = await pass(1, serving, ask);
    minutes.push([...old.lines.slice(written), ...minute]);
    expect(onAfter(minutes)).toEqual([]);
  }
  minutes.push(...(await pass(LONG, serving, ask)));
  for (let end = LONG; end <= minutes.length; end += 1) expect(onAfter(minutes.slice(0, end))).toEqual([]);
});

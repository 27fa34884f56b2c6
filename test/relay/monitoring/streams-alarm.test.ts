/** The alarms on relays' own metrics, by their own formulas, from the events of relays in the test's time. */
import { expect, test } from 'vitest';
import { alarmsFor } from '../../../cdk/monitoring/alarms/alarms.ts';
import { SERIES, seriesIn } from '../../../cdk/monitoring/series.ts';
import { startEmf, WRITE_EVERY_MS } from '../../../relay/monitoring/cloudwatch.ts';
import { createMetrics } from '../../../relay/monitoring/metrics.ts';
import { METRIC_STREAMS_OPEN, RELAY_METRICS } from '../../../relay/names.ts';
import { STATUS } from '../../../relay/router/router.ts';
import { measuredOf } from '../../support/emf-spec.ts';
import { isOn } from '../../support/relay/alarm-state.ts';
import { poolBench } from '../../support/relay/pool-bench.ts';

const ALARMS = alarmsFor({
  relays: 2,
  deadlineMs: 2_000,
  failurePolicy: 'admit',
  watchdog: false,
  console: false,
  notices: true,
  metrics: true,
}).filter(({ formula }) =>
  seriesIn(formula).every((each) => RELAY_METRICS.some(({ name }) => name === SERIES[each].name)),
);

/** A relay that has had its eight streams for a minute, and what it tells CloudWatch and Prometheus. */
async function aRelay() {
  const bench = poolBench();
  const { clock, events, settle } = bench;
  const metrics = createMetrics();
  const lines: string[] = [];
  const emf = startEmf({
    deployment: 'production',
    clock,
    random: () => 0.5,
    write: (line) => lines.push(line),
  });
  const tell = (): void => {
    for (const event of events.splice(0)) {
      emf.observe(event);
      metrics.observe(event);
    }
  };
  const relay = {
    ...bench,
    /** Lets a minute pass in steps of a second, in each of which the router does what it does. */
    async minute(everySecond: () => void = () => {}): Promise<readonly string[]> {
      const written = lines.length;
      for (let passedMs = 0; passedMs < WRITE_EVERY_MS; passedMs += 1_000) {
        everySecond();
        await settle();
        tell();
        clock.advance(1_000);
        await settle();
        tell();
      }
      return lines.slice(written);
    },
    /** Ends the relay and returns what it still writes. */
    leave(): readonly string[] {
      const written = lines.length;
      emf.leave();
      emf.stop();
      return lines.slice(written);
    },
    async gauge(name: string): Promise<number> {
      tell();
      const line = (await metrics.render()).split('\n').find((each) => each.startsWith(`${name} `));
      return Number(line?.split(' ')[1]);
    },
  };
  await bench.open();
  await relay.minute();
  return relay;
}

type ARelay = Awaited<ReturnType<typeof aRelay>>;

const OUTAGES: readonly { readonly how: string; readonly act: (relay: ARelay) => void }[] = [
  {
    how: 'refuses every connection',
    act: ({ live }) => {
      for (const call of live()) call.end(STATUS.UNAVAILABLE, 'connect ECONNREFUSED');
    },
  },
  {
    how: 'takes connections and refuses every call within the second',
    act: ({ live }) => {
      for (const call of live()) call.accept().end(STATUS.UNAUTHENTICATED, 'revoked');
    },
  },
];

const streamsOpen = (lines: readonly string[]): readonly unknown[] =>
  lines.map((line) => measuredOf(line).values.StreamsOpen);
/** Names of the alarms that are on after the last of these minutes. */
const onAfter = (minutes: readonly (readonly string[])[]): readonly string[] =>
  ALARMS.filter((spec) => isOn(spec, minutes)).map(({ name }) => name);
const minuteOf = async (relays: readonly ARelay[], everySecond: (relay: ARelay) => void = () => {}) =>
  (await Promise.all(relays.map((relay) => relay.minute(() => everySecond(relay))))).flat();
const answering =
  (via: 'ledger' | 'fallback') =>
  ({ events }: ARelay): void => {
    const answer = { outcome: 'admitted' } as const;
    events.push({ type: 'question' }, { type: 'answered', answer, via, latencyMs: 5, heard: true });
  };

test.each(OUTAGES)('a router that $how for three minutes is RelayDisconnected', async ({ act }) => {
  const relay = await aRelay();
  const minutes: (readonly string[])[] = [];
  for (let minute = 0; minute < 3; minute += 1) minutes.push(await relay.minute(() => act(relay)));
  expect(minutes.map(streamsOpen)).toEqual([[[0]], [[0]], [[0]]]);
  expect(onAfter(minutes.slice(0, 2))).toEqual([]);
  expect(onAfter(minutes)).toEqual(['RelayDisconnected']);
  expect(await relay.gauge(METRIC_STREAMS_OPEN)).toBe(0);
  expect(relay.pool.status()).toMatchObject({ open: 0, waiting: 0, downSinceMs: expect.any(Number) });
});

test('one of two relays without the router for a quarter of an hour is RelayMissing, and not RelayDisconnected', async () => {
  const [well, lost] = [await aRelay(), await aRelay()];
  const minutes: (readonly string[])[] = [];
  for (let minute = 0; minute < 15; minute += 1) {
    const both = [await well.minute(), await lost.minute(() => OUTAGES[0]?.act(lost))];
    minutes.push(both.flat());
  }
  expect(onAfter(minutes)).toEqual(['RelayMissing']);
});

test('an admit function that is throttled is FallbackShare after three minutes, and no other alarm', async () => {
  const relays = [await aRelay(), await aRelay()];
  const minutes: (readonly string[])[] = [];
  const pass = async (count: number, via: 'ledger' | 'fallback'): Promise<void> => {
    for (let minute = 0; minute < count; minute += 1) minutes.push(await minuteOf(relays, answering(via)));
  };
  await pass(5, 'ledger');
  await pass(2, 'fallback');
  expect(onAfter(minutes)).toEqual([]);
  await pass(1, 'fallback');
  expect(onAfter(minutes)).toEqual(['FallbackShare']);
});

test('relays that are replaced, as in a deployment, are no alarm', async () => {
  let serving = [await aRelay(), await aRelay()];
  const minutes: (readonly string[])[] = [];
  for (let minute = 0; minute < 15; minute += 1) minutes.push(await minuteOf(serving, answering('ledger')));
  for (const old of [...serving]) {
    serving = [...serving.filter((relay) => relay !== old), await aRelay()];
    // The last minute of the relay that leaves comes with a minute of those that serve.
    minutes.push([...old.leave(), ...(await minuteOf(serving, answering('ledger')))]);
    expect(onAfter(minutes)).toEqual([]);
  }
  for (let minute = 0; minute < 15; minute += 1) {
    minutes.push(await minuteOf(serving, answering('ledger')));
    expect(onAfter(minutes)).toEqual([]);
  }
});

/** From the pool through the metrics to the alarms on them: an outage of the router is one, however it looks from here. */
import { expect, test } from 'vitest';
import { alarmsFor } from '../../../cdk/monitoring/alarms/alarms.ts';
import { startEmf, WRITE_EVERY_MS } from '../../../relay/monitoring/cloudwatch.ts';
import { createMetrics } from '../../../relay/monitoring/metrics.ts';
import { METRIC_STREAMS_OPEN, METRIC_STREAMS_WAITING } from '../../../relay/names.ts';
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
});

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
const alarm = (name: string) => {
  const found = ALARMS.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no alarm ${name}`);
  return found;
};

test.each(OUTAGES)('a router that $how for three minutes is RelayDisconnected', async ({ act }) => {
  const relay = await aRelay();
  const minutes: (readonly string[])[] = [];
  for (let minute = 0; minute < 3; minute += 1) minutes.push(await relay.minute(() => act(relay)));
  expect(minutes.map(streamsOpen)).toEqual([[[0]], [[0]], [[0]]]);
  expect(isOn(alarm('RelayDisconnected'), minutes)).toBe(true);
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
  expect(isOn(alarm('RelayMissing'), minutes)).toBe(true);
  expect(isOn(alarm('RelayDisconnected'), minutes)).toBe(false);
});

test('two relays that are well are neither, idle or at work', async () => {
  const relays = [await aRelay(), await aRelay()];
  const minutes: (readonly string[])[] = [];
  for (let minute = 0; minute < 15; minute += 1) {
    const lines: string[] = [];
    for (const relay of relays) {
      const work = (): void => {
        for (const call of relay.live()) {
          if (call.answered !== undefined) call.take().end();
          else if (minute > 7) call.ask();
        }
        for (const question of relay.questions.splice(0)) void question.decide();
      };
      lines.push(...(await relay.minute(work)));
    }
    minutes.push(lines);
  }
  expect(isOn(alarm('RelayMissing'), minutes)).toBe(false);
  expect(isOn(alarm('RelayDisconnected'), minutes)).toBe(false);
});

test('what is shown is what is there, also once nobody asks any more', async () => {
  const relay = await aRelay();
  const gauges = async (): Promise<readonly number[]> => [
    await relay.gauge(METRIC_STREAMS_OPEN),
    await relay.gauge(METRIC_STREAMS_WAITING),
  ];
  for (const call of relay.live()) call.ask();
  await relay.settle();
  expect(await gauges()).toEqual([relay.live().length, relay.live().length - 8]);
  for (const question of relay.questions) await question.decide();
  for (const call of relay.live()) if (call.answered !== undefined) call.take().end();
  await relay.settle();
  expect(await gauges()).toEqual([relay.live().length, relay.live().length]);
  // Streams that come of age one after the other, while nothing is missing.
  for (const call of relay.live().slice(0, 3)) call.end();
  await relay.settle();
  expect(await gauges()).toEqual([relay.live().length, relay.live().length]);
});

test('a question costs the metrics two words at most, whatever becomes of it', async () => {
  const relay = await aRelay();
  for (const call of relay.live().slice(0, 2)) call.ask();
  await relay.settle();
  expect(relay.ofType('streams').length).toBeLessThanOrEqual(2);
});

import { expect, test } from 'vitest';
import { lastAlertOf } from '../../../functions/answers/status/texts.ts';
import { ChatError } from '../../../functions/core/notify/chat.ts';
import { USERS } from '../console/house.ts';
import { DAY_MS, noticesHarness, OWNED, readMessage } from './harness.ts';

/** acme/payments used 20 EUR on each day of the last four weeks. */
async function forecastHarness(
  thresholds: readonly (number | string)[],
  more: object = {},
  over: Parameters<typeof noticesHarness>[0] = {},
) {
  const [, payments] = OWNED;
  const built = await noticesHarness({ limits: [], ...over });
  const today = built.clock.nowMs();
  for (let ago = 1; ago <= 28; ago += 1)
    await built.used('group/101', new Date(today - ago * DAY_MS).toISOString().slice(0, 10), 20_000_000);
  await built.apply([{ ...payments, amount: 180, thresholds, ...more }] as typeof OWNED);
  const says = () => built.notify.sent.map(readMessage).at(-1)?.notices[0]?.says;
  return { ...built, says };
}

const ALERT = 'payments-leads forecast-reached group/101';

test('sends one alert per period when the forecast reaches a level', async () => {
  const { news, clock, says, used } = await forecastHarness([
    80,
    'forecast 50',
    'forecast 100',
    'forecast 400',
  ]);
  // The first run of the day was before the limit.
  expect(await news()).not.toContain(ALERT);
  clock.advance(DAY_MS);
  expect(await news()).toEqual([ALERT]);
  expect(says()).toBe(
    'At the pace of the last weeks the CI budget of group acme/payments comes to 163.93 EUR of 180.00 EUR by the end of November 2026 (alert at forecast 50 %).',
  );
  expect(await news()).toEqual([]);
  clock.advance(DAY_MS);
  expect(await news()).toEqual([]);
  for (let day = 0; day < 9; day += 1) {
    await used('group/101', new Date(clock.nowMs()).toISOString().slice(0, 10), 20_000_000);
    clock.advance(DAY_MS);
  }
  expect(await news()).toEqual([ALERT]);
  expect(says()).toContain('December 2026 (alert at forecast 100 %)');
});

test('records the outcome by mail and chat next to the counter', async () => {
  const sender = { send: () => Promise.reject(new ChatError('chat_refused', 'gone')) };
  const chat = { lines: async () => ['* slack https://hooks.example.com/x'], sender };
  const { runWithTopic, clock, alerts, read } = await forecastHarness(['forecast 50'], {}, { chat });
  clock.advance(DAY_MS);
  await expect(runWithTopic(0)).rejects.toThrow('[notify_unavailable]');
  const key = { subject: 'group/101', limit: 'money-month', period: '2026-11' };
  expect((await alerts.read([{ of: 'forecasts', key }]))[0]).toMatchObject([
    {
      ...{ measure: 'forecast', level: 'forecast 50 %', levelAmount: 90_000_000, limitAmount: 180_000_000 },
      ...{ owner: 'payments-leads', channels: [{ channel: 'topic', outcome: 'failed' }] },
    },
  ]);
  await runWithTopic(9);
  const [row] = (await read.budgets({ below: 'group/101', unit: 'money' }, USERS.finance)).rows;
  expect(row?.alerts?.[0]?.channels).toMatchObject([
    { channel: 'topic', outcome: 'taken' },
    { channel: 'slack', outcome: 'failed' },
  ]);
  expect(row && lastAlertOf(row)).toEqual({
    state: 'failed',
    text: 'payments-leads notified at forecast 50 % by mail on 22 Nov 2026 12:00 UTC; no answer from Slack since 22 Nov 2026 12:00 UTC',
  });
});

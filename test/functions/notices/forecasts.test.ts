import { expect, test } from 'vitest';
import { lastAlertOf } from '../../../functions/answers/standing/alert-words.ts';
import { MemoryNotifier, NotifyError } from '../../../functions/core/notify/message.ts';
import type { ChatOutcome } from '../../../functions/notices/tell-chat.ts';
import { USERS } from '../console/house.ts';
import { noticesHouse, OWNED } from './house.ts';

const DAY_MS = 86_400_000;

/** acme/payments used 20 EUR on each of the last four weeks' days; its owner asks to be told of so much of the forecast. */
async function house(thresholds: readonly (number | string)[], more: object = {}) {
  const [, payments] = OWNED;
  const limits = [{ ...payments, amount: 180, thresholds, ...more }] as typeof OWNED;
  const built = await noticesHouse({ limits: [] });
  const today = built.clock.nowMs();
  for (let ago = 1; ago <= 28; ago += 1)
    await built.used('group/101', new Date(today - ago * DAY_MS).toISOString().slice(0, 10), 20_000_000);
  await built.apply(limits);
  await built.news();
  return built;
}

const ALERT = 'payments-leads forecast-reached group/101';

test('the owner is told once a period when the forecast comes to what they asked for', async () => {
  const { news, clock, messages, used } = await house([80, 'forecast 50', 'forecast 100', 'forecast 400']);
  // Forecasts were looked at today, before the limit said so.
  expect(messages().flatMap(({ notices }) => notices.map(({ kind }) => kind))).not.toContain(
    'forecast-reached',
  );
  clock.advance(DAY_MS);
  expect(await news()).toEqual([ALERT]);
  expect(messages().at(-1)?.notices[0]?.says).toBe(
    'At the pace of the last weeks the CI budget of group acme/payments comes to 165.00 EUR of 180.00 EUR by the end of November 2026 (alert at forecast 50 %).',
  );
  expect(await news()).toEqual([]);
  clock.advance(DAY_MS);
  expect(await news()).toEqual([]);
  // Another month, another promise.
  for (let day = 0; day < 9; day += 1) {
    await used('group/101', new Date(clock.nowMs()).toISOString().slice(0, 10), 20_000_000);
    clock.advance(DAY_MS);
  }
  expect(await news()).toEqual([ALERT]);
  expect(messages().at(-1)?.notices[0]?.says).toContain('December 2026 (alert at forecast 100 %)');
});

test('what became of the message by mail and chat stands beside the counter; a refused one until it is taken', async () => {
  const chats: (ChatOutcome | undefined)[] = [];
  const topic = { isUp: false };
  const sent = new MemoryNotifier();
  const [, payments] = OWNED;
  const built = await noticesHouse({ limits: [], tellChat: async () => chats });
  const run = () =>
    built
      .runWith({
        ...built.deps,
        notify: {
          send: async (message) => {
            if (!topic.isUp) throw new NotifyError('notify_unavailable', 'no');
            await sent.send(message);
          },
        },
      })
      .catch((error: unknown) => {
        if (!(error instanceof NotifyError)) throw error;
      });
  const today = built.clock.nowMs();
  for (let ago = 1; ago <= 28; ago += 1)
    await built.used('group/101', new Date(today - ago * DAY_MS).toISOString().slice(0, 10), 20_000_000);
  await built.apply([{ ...payments, amount: 180, thresholds: ['forecast 50'] }] as typeof OWNED);
  built.clock.advance(DAY_MS);
  const key = { subject: 'group/101', limit: 'money-month', period: '2026-11' };
  const noted = async () => (await built.alerts.read([{ of: 'forecasts', key }]))[0];
  await run();
  expect(await noted()).toMatchObject([
    {
      ...{ measure: 'forecast', level: 'forecast 50 %', levelAmount: 90_000_000, limitAmount: 180_000_000 },
      ...{ owner: 'payments-leads', channels: [{ channel: 'topic', outcome: 'failed' }] },
    },
  ]);
  topic.isUp = true;
  chats.push({ service: 'slack', isTaken: false });
  await run();
  const { rows } = await built.read.budgets({ below: 'group/101', unit: 'money' }, USERS.finance);
  const [row] = rows;
  expect(row?.alerts?.[0]?.channels).toMatchObject([
    { channel: 'topic', outcome: 'taken' },
    { channel: 'slack', outcome: 'failed' },
  ]);
  expect(row && lastAlertOf(row, 'EUR')).toEqual({
    state: 'failed',
    text: 'payments-leads told at forecast 50 % by mail on 22 Nov 2026 12:00 UTC; not by Slack',
  });
});

test('an amount that was lowered is told of anew', async () => {
  const { news, clock, apply } = await house(['forecast 50']);
  clock.advance(DAY_MS);
  expect(await news()).toEqual([ALERT]);
  await apply([{ kind: 'set', subject: 'group/101', limit: 'money-month', amount: 120 }]);
  await news();
  clock.advance(DAY_MS);
  expect(await news()).toEqual([ALERT]);
});

test('below what was asked for, in shadow, and without a forecast among the thresholds nobody is told', async () => {
  for (const [thresholds, more] of [
    [['forecast 400'], {}],
    [['forecast 50'], { mode: 'shadow' }],
    [[50], {}],
  ] as const) {
    const { news, clock } = await house(thresholds, more);
    clock.advance(DAY_MS);
    expect(await news()).not.toContain(ALERT);
  }
});

/** Alerts as a budget shows them: written by the rollup, read by the pages. */
import { expect, test } from 'vitest';
import { lastAlertOf } from '../../../../functions/answers/status/texts.ts';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import type { Counter } from '../../../../functions/core/ledger/ledger.ts';
import { MemoryNotifier, NotifyError } from '../../../../functions/core/notify/message.ts';
import { findLimit } from '../../../../functions/core/thresholds/levels.ts';
import { thresholdAlerts } from '../../../../functions/core/thresholds/threshold-alerts.ts';
import { consoleHouse, LIMITS, USERS } from '../../console/house.ts';
import { aCounter } from '../../core/thresholds/limits.ts';

const EUR = 1_000_000;

/** 500 EUR a month on acme/payments (101), whose counter moves as the test says. */
async function house() {
  const built = consoleHouse();
  await built.apply(LIMITS);
  const topic = { isUp: true, sent: new MemoryNotifier(), tries: 0 };
  const process = () =>
    thresholdAlerts({
      records: built.alerts,
      clock: built.clock,
      currency: async () => 'EUR',
      log: silentLog,
      findLimit: async (counterKey) => {
        const limits = (await built.limitEdits.live())?.limits ?? built.deps.packedLimits;
        return findLimit(counterKey, limits, built.directory, built.clock.nowMs());
      },
      notify: {
        send: async (message) => {
          topic.tries += 1;
          if (!topic.isUp) throw new NotifyError('notify_unavailable', 'no');
          await topic.sent.send(message);
        },
      },
    });
  let alert = process();
  const moved = async (euro: number, period = '2026-11', spent = 0): Promise<void> => {
    const key = { subject: 'group/101', limit: 'money-month', period };
    built.counts(key.subject, key.limit, period, euro * EUR);
    const counter: Counter = aCounter(spent * EUR, euro * EUR, key);
    await alert([counter]).catch((error: unknown) => {
      if (!(error instanceof NotifyError)) throw error;
    });
  };
  const row = async () => {
    const { rows } = await built.read.budgets({ unit: 'money' }, USERS.finance);
    const found = rows.find(({ subject }) => subject === 'group/101');
    if (found === undefined) throw new Error('no such row');
    return found;
  };
  const says = async () => {
    const last = lastAlertOf(await row());
    return last && `${last.state}: ${last.text}`;
  };
  const restart = (): void => {
    alert = process();
  };
  return { ...built, topic, moved, row, says, restart };
}

const at = (text: string): RegExp => new RegExp(text.replaceAll(' @', ' on 21 Nov 2026 \\d\\d:\\d\\d UTC'));

test('shows a topic that takes no message, with the time of its first failure, until a message is taken', async () => {
  const { moved, row, says, topic, clock, restart } = await house();
  topic.isUp = false;
  await moved(260);
  const [failed] = (await row()).alerts ?? [];
  clock.advance(3_600_000);
  await moved(261);
  await moved(262);
  expect(topic.tries).toBe(3);
  restart();
  await moved(263);
  // The first failure keeps its time, also when another process fails.
  expect((await row()).alerts).toEqual([failed]);
  expect(await says()).toMatch(
    /^failed: payments-leads not notified at 50 %: no answer from mail since 21 Nov 2026 \d\d:\d\d UTC$/,
  );
  topic.isUp = true;
  await moved(264);
  expect(await says()).toMatch(at('^notified: payments-leads notified at 50 % by mail @$'));
  topic.isUp = false;
  await moved(265);
  expect(await says()).toMatch(/^notified: /);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import type { Counter } from '../../../../functions/core/ledger/ledger.ts';
import { MemoryNotifier, NotifyError } from '../../../../functions/core/notify/message.ts';
import {
  type ThresholdAlertDeps,
  thresholdAlerts,
} from '../../../../functions/core/thresholds/threshold-alerts.ts';
import type { DailyUsage } from '../../../../policies/forecast.ts';
import type { Limit } from '../../../../policies/limits/limit.ts';
import { counter } from '../../../support/ledger/asks.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { memoryAlertRecords } from '../../../support/tables/memory-alert-records.ts';
import { aCounter, aLimit } from './limits.ts';

const to = { owner: 'payments-leads' };

/** 21 November 2026; a limit of 100 micros, unless the test says otherwise. */
function harness(over: Partial<ThresholdAlertDeps> = {}) {
  const clock = manualClock();
  const records = memoryAlertRecords(clock);
  const notify = new MemoryNotifier();
  const limit = { now: aLimit({ amount: 100, owner: 'payments-leads' }) as Limit };
  const deps: ThresholdAlertDeps = {
    records,
    ...{ notify, clock, currency: async () => 'EUR', log: silentLog },
    findLimit: async ({ subject }) => ({
      limit: { ...limit.now, subject },
      subjectLabel: `group ${subject}`,
      to,
    }),
    ...over,
  };
  let process = thresholdAlerts(deps);
  const alert = (...counters: readonly Counter[]) => process(counters);
  const restart = (): void => {
    process = thresholdAlerts(deps);
  };
  /** `committed 50 %`, of all messages so far. */
  const sent = (): readonly string[] => notify.sent.flatMap(({ json }) => levelsIn(json));
  return { alert, sent, notify, limit, clock, restart };
}

const levelsIn = (json: string): readonly string[] => {
  const { alerts }: { alerts: { measure: string; level: string }[] } = JSON.parse(json);
  return alerts.map(({ measure, level }) => `${measure} ${level}`);
};
const held = (amount: number, key = counter('group/1')): Counter => aCounter(0, amount, key);

describe('once per period and level', () => {
  test('a raised limit has new levels; the old amount keeps its sent ones', async () => {
    const { alert, sent, limit } = harness();
    await alert(held(92));
    limit.now = { ...limit.now, amount: 200 };
    await alert(held(99));
    expect(sent()).toEqual(['committed 90 %']);
    await alert(held(100));
    expect(sent()).toEqual(['committed 90 %', 'committed 50 %']);
    limit.now = { ...limit.now, amount: 100 };
    await alert(held(60));
    expect(sent()).toHaveLength(2);
  });
});

/** Limit of 200 with a soft part of 130, worked out by hand. */
const LEVELS = [
  ['50 %', 100],
  ['soft', 130],
  ['75 %', 150],
  ['90 %', 180],
  ['100 %', 200],
] as const;
/** Settled never passes committed; both rise and fall at will. */
const paths = fc
  .array(fc.tuple(fc.nat({ max: 240 }), fc.nat({ max: 60 })), { minLength: 1, maxLength: 12 })
  .map((points) => points.map(([spent, more]) => aCounter(spent, spent + more)));
const passedBy = (path: readonly Counter[]): readonly (readonly string[])[] =>
  (['settled', 'committed'] as const).map((field) => {
    const most = Math.max(...path.map((each) => each[field]));
    const measure = field === 'settled' ? 'spent' : field;
    return LEVELS.filter(([, amount]) => amount <= most).map(([name]) => `${measure} ${name}`);
  });
function softHarness() {
  const built = harness();
  built.limit.now = aLimit({ amount: 200, softAmount: 130 });
  return built;
}

describe('along any path of a counter', () => {
  test('in any order and batches, the highest level is sent, and only passed levels, each once', async () => {
    const deliveries = paths.chain((path) =>
      fc.tuple(
        fc.constant(path),
        fc.shuffledSubarray([...path, ...path], { minLength: path.length * 2 }),
        fc.integer({ min: 1, max: 5 }),
      ),
    );
    await fc.assert(
      fc.asyncProperty(deliveries, async ([path, counters, size]) => {
        const { alert, sent } = softHarness();
        for (let start = 0; start < counters.length; start += size)
          await alert(...counters.slice(start, start + size));
        const messages = sent();
        expect(new Set(messages).size).toBe(messages.length);
        for (const passed of passedBy(path)) if (passed.length > 0) expect(messages).toContain(passed.at(-1));
        for (const message of messages) expect(passedBy(path).flat()).toContain(message);
        await alert(...path);
        expect(sent()).toEqual(messages);
      }),
      { numRuns: propertyRuns(300) },
    );
  });
});

describe('a crash between message and record', () => {
  const refusing = { send: () => Promise.reject(new NotifyError('notify_unavailable', 'no')) };

  test('a refused message is sent with the next try, once, also by a clock five minutes behind', async () => {
    const topic = new MemoryNotifier();
    let notify: Pick<MemoryNotifier, 'send'> = refusing;
    const { alert, clock, restart } = harness({ notify: { send: (message) => notify.send(message) } });
    await expect(alert(held(60))).rejects.toThrow(NotifyError);
    notify = topic;
    clock.advance(-300_000);
    await alert(held(60));
    restart();
    await alert(held(60));
    expect(topic.sent).toHaveLength(1);
  });

  test('a message without a record is repeated under the same id', async () => {
    const kept = memoryAlertRecords();
    let isDown = true;
    const add: typeof kept.add = (...asked) =>
      isDown ? Promise.reject(new Error('down')) : kept.add(...asked);
    const { alert, notify, restart } = harness({ records: { ...kept, add } });
    await alert(held(60));
    isDown = false;
    restart();
    await alert(held(60));
    restart();
    await alert(held(60));
    expect(notify.sent).toHaveLength(2);
    expect(notify.sent[1]?.id).toBe(notify.sent[0]?.id);
  });
});

describe('one batch, few messages', () => {
  test('alerts of one owner share a message, closest to the limit first', async () => {
    const { alert, notify } = harness();
    await alert(held(55, counter('group/1')), held(95, counter('group/2')), held(80, counter('group/3')));
    expect(notify.sent).toHaveLength(1);
    expect(notify.sent[0]?.subject).toBe('Tollgate: 3 CI limits reached a threshold');
    expect(levelsIn(notify.sent[0]?.json ?? '')).toEqual([
      'committed 90 %',
      'committed 75 %',
      'committed 50 %',
    ]);
  });
});

describe('the text of an alert', () => {
  const limit = aLimit({ owner: 'payments-leads' });
  const findLimit = async () => ({ limit, subjectLabel: 'group acme/payments', to });
  /** 5.00 a day. */
  const readDailyUse = async (): Promise<readonly DailyUsage[]> =>
    Array.from({ length: 20 }, (_, index) => ({
      day: { year: 2026, month: 11, day: index + 1 },
      amount: 5_000_000,
    }));

  test('names limit, level, numbers, forecast, owner and reset', async () => {
    const { alert, notify } = harness({ findLimit, readDailyUse });
    await alert(aCounter(440_100_000, 480_000_000));
    expect(notify.sent[0]?.subject).toBe('Tollgate: 2 CI limits reached a threshold');
    expect(notify.sent[0]?.text.split('\n').slice(0, 5)).toEqual([
      'CI budget of group acme/payments: 90 % committed (spent + held) (November 2026).',
      '  Spent 440.10 + held 39.90 = 480.00 of 500.00 EUR: 20.00 EUR left.',
      '  At the pace of the last weeks it runs out on 25 Nov 2026 13:00 Europe/Berlin (in 4 days).',
      '  Owner: payments-leads.',
      '  Resets on 1 Dec 2026 00:00 Europe/Berlin (in 9 days).',
    ]);
  });

  test('names a period that is over, without a forecast', async () => {
    const { alert, notify } = harness({ findLimit, readDailyUse });
    await alert(aCounter(300_000_000, 300_000_000, counter('group/1', 'money-month', '2026-10')));
    expect(notify.sent[0]?.text).toContain('50 % spent (2026-10).');
    expect(notify.sent[0]?.text).not.toMatch(/pace|Resets/);
  });

  test('has no lines forged by names, and a subject of short ASCII', async () => {
    const subjectLabel = `group ${'ä'.repeat(200)}\nOwner: me`;
    const { alert, notify } = harness({ findLimit: async () => ({ limit, subjectLabel, to }) });
    await alert(held(260_000_000));
    expect(notify.sent[0]?.subject).toMatch(/^[\x20-\x7e]{1,100}$/);
    expect(notify.sent[0]?.text).not.toContain('\nOwner');
  });
});

describe('overdraft: alert', () => {
  test('spending past the limit is sent once; held amounts past it are not', async () => {
    const { alert, sent, notify, limit } = harness();
    limit.now = { ...limit.now, overdraft: 'alert', thresholds: [] };
    await alert(aCounter(100, 130));
    expect(sent()).toEqual([]);
    await alert(aCounter(101, 130));
    await alert(aCounter(140, 140), aCounter(90, 90), aCounter(120, 120));
    expect(sent()).toEqual(['spent overdraft']);
    expect(notify.sent[0]?.subject).toBe('Tollgate: CI budget of group group/1: overdrawn');
  });
});

import { describe, expect, test } from 'vitest';
import { silentLog } from '../../../../functions/core/environment/machine.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { MemoryStore, type StoreFault } from '../../../../functions/core/ledger/memory-store.ts';
import { MemoryNotifier, NotifyError } from '../../../../functions/core/notify/notify.ts';
import {
  type AnnounceCrossingsDeps,
  announceCrossings,
} from '../../../../functions/core/thresholds/announce-crossings.ts';
import { KnownCrossings } from '../../../../functions/core/thresholds/announced.ts';
import type { Transition } from '../../../../functions/core/thresholds/crossings.ts';
import type { WatchedLimit } from '../../../../functions/core/thresholds/level.ts';
import type { DailyUsage } from '../../../../policies/forecast/forecast.ts';
import { counter } from '../../../support/ledger/asks.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';
import { memoryAlertMarks } from '../../../support/tables/memory-alert-marks.ts';
import { aCounter, aLimit, step } from './limits.ts';

/** 21 November 2026; a limit of 100 micros unless told otherwise. */
function house(over: Partial<AnnounceCrossingsDeps> = {}, fault?: () => StoreFault | undefined) {
  const clock = manualClock();
  const store = new MemoryStore({ instance: 'gitlab.example.com', clock, ...(fault && { fault }) });
  const ledger = createLedger({ store, clock });
  const notify = new MemoryNotifier();
  const alerts = memoryAlertMarks(clock);
  const limit = { now: aLimit({ amount: 100, owner: 'payments-leads' }) as WatchedLimit };
  const announce = (...transitions: readonly Transition[]) =>
    announceCrossings(transitions, {
      ledger,
      alerts,
      notify,
      clock,
      currency: 'EUR',
      log: silentLog,
      limitOf: async (key) => ({
        limit: { ...limit.now, subject: key.subject },
        subjectLabel: `group ${key.subject}`,
        to: { owner: 'payments-leads' },
      }),
      ...over,
    });
  /** `committed 50 %`, of all messages so far. */
  const told = (): readonly string[] => notify.sent.flatMap(({ json }) => levelsIn(json));
  return { announce, told, notify, limit, clock };
}

const levelsIn = (json: string): readonly string[] => {
  const { crossings }: { crossings: { measure: string; level: string }[] } = JSON.parse(json);
  return crossings.map(({ measure, level }) => `${measure} ${level}`);
};

describe('once per period and level', () => {
  test('down and up again is not told twice', async () => {
    const { announce, told } = house();
    await announce(step([0, 0], [0, 60]));
    await announce(step([0, 60], [0, 10]));
    expect(await announce(step([0, 10], [0, 60]))).toEqual({ told: 0, repeated: 1, messages: 0 });
    expect(told()).toEqual(['committed 50 %']);
  });

  test('levels a jump went over are not told later', async () => {
    const { announce, told } = house();
    await announce(step([0, 0], [0, 95]));
    await announce(step([0, 95], [0, 0]), step([0, 0], [0, 55]));
    await announce(step([0, 55], [0, 80]));
    expect(told()).toEqual(['committed 90 %']);
  });

  test('records that come again or in another order tell nothing twice', async () => {
    const { announce, told } = house();
    const path = [step([0, 0], [0, 55]), step([0, 55], [0, 80]), step([0, 80], [0, 92])];
    await announce(path[2] ?? step([0, 0], [0, 0]));
    await announce(...path);
    await announce(...[...path].reverse());
    expect(told()).toEqual(['committed 90 %']);
  });

  test('a step that was lost is made good by the next one, whichever way it goes', async () => {
    const { announce, told } = house();
    await announce(step([0, 0], [0, 40]));
    // 40 → 95 never arrives.
    await announce(step([0, 95], [0, 96]));
    expect(told()).toEqual(['committed 90 %']);
    // The spent side of 40 → 80 neither.
    await announce(step([80, 96], [80, 95]));
    expect(told()).toEqual(['committed 90 %', 'spent 75 %']);
  });

  test('a process that knows a level to be told does not ask the ledger again', async () => {
    let asked = 0;
    const { announce, told } = house({ knownTold: new KnownCrossings() }, () => {
      asked += 1;
      return undefined;
    });
    await announce(step([0, 0], [0, 60]));
    const before = asked;
    for (let to = 61; to < 70; to += 1) await announce(step([0, to - 1], [0, to]));
    expect({ asked: asked - before, told: told() }).toEqual({ asked: 0, told: ['committed 50 %'] });
  });

  test('a new period starts anew', async () => {
    const { announce, told, clock } = house();
    await announce(step([0, 0], [0, 60]));
    clock.advance(20 * 86_400_000);
    await announce(step([0, 0], [0, 60], counter('group/1', 'money-month', '2026-12')));
    expect(told()).toEqual(['committed 50 %', 'committed 50 %']);
  });

  test('what was told in November is still known when its last job settles in January', async () => {
    const { announce, told, clock } = house();
    await announce(step([0, 0], [60, 60]));
    clock.advance(45 * 86_400_000);
    await announce(step([0, 0], [60, 60]));
    expect(told()).toEqual(['spent 50 %', 'committed 50 %']);
  });

  test('of a raised limit the levels are new ones; put back, the old ones stay told', async () => {
    const { announce, told, limit } = house();
    await announce(step([0, 0], [0, 92]));
    limit.now = { ...limit.now, amount: 200 };
    await announce(step([0, 92], [0, 99]));
    expect(told()).toEqual(['committed 90 %']);
    await announce(step([0, 99], [0, 100]));
    expect(told()).toEqual(['committed 90 %', 'committed 50 %']);
    limit.now = { ...limit.now, amount: 100 };
    await announce(step([0, 20], [0, 60]));
    expect(told()).toHaveLength(2);
  });

  test('a lowered limit is told by asking from nothing', async () => {
    const { announce, told, limit } = house();
    limit.now = { ...limit.now, amount: 60 };
    await announce({ after: aCounter(0, 55) });
    expect(told()).toEqual(['committed 90 %']);
  });
});

describe('a crash between message and note', () => {
  test('a message nobody took is sent with the next try of the batch, once', async () => {
    const sent = new MemoryNotifier();
    let up = false;
    const { announce } = house({
      notify: {
        send: async (message) => {
          if (!up) throw new NotifyError('notify_unavailable', 'no');
          await sent.send(message);
        },
      },
    });
    await expect(announce(step([0, 0], [0, 60]))).rejects.toThrow(NotifyError);
    up = true;
    await announce(step([0, 0], [0, 60]));
    await announce(step([0, 0], [0, 60]));
    expect(sent.sent).toHaveLength(1);
  });

  test('a crash right after asking keeps the warning, also for a clock five minutes behind', async () => {
    const crash = { send: async () => Promise.reject(new NotifyError('notify_unavailable', 'no')) };
    const sent = new MemoryNotifier();
    let notify: Pick<MemoryNotifier, 'send'> = crash;
    const { announce, clock } = house({ notify: { send: (message) => notify.send(message) } });
    await expect(announce(step([0, 0], [0, 60]))).rejects.toThrow(NotifyError);
    notify = sent;
    clock.advance(-300_000);
    await announce(step([0, 0], [0, 60]));
    expect(sent.sent).toHaveLength(1);
  });

  test('a message whose note was lost comes again under the same id', async () => {
    let dead = false;
    const { announce, notify } = house({}, () => (dead ? { kind: 'lost-before' } : undefined));
    dead = true;
    await announce(step([0, 0], [0, 60]));
    dead = false;
    await announce(step([0, 0], [0, 60]));
    const [first, second] = notify.sent;
    expect(second?.id).toBe(first?.id);
    await announce(step([0, 0], [0, 60]));
    expect(notify.sent).toHaveLength(2);
  });
});

describe('one batch, few messages', () => {
  test('crossings of several counters are one message, nearest to the limit first', async () => {
    const { announce, notify } = house();
    await announce(
      step([0, 0], [0, 55], counter('group/1')),
      step([0, 0], [0, 95], counter('group/2')),
      step([0, 0], [0, 80], counter('group/3')),
    );
    expect(notify.sent).toHaveLength(1);
    expect(notify.sent[0]?.subject).toBe('Tollgate: 3 CI limits reached a threshold');
    expect(levelsIn(notify.sent[0]?.json ?? '')).toEqual([
      'committed 90 %',
      'committed 75 %',
      'committed 50 %',
    ]);
  });

  test('steps of one counter are one crossing, though it fell again meanwhile', async () => {
    const { announce, told } = house();
    await announce(step([0, 0], [0, 55]), step([0, 55], [0, 95]), step([0, 95], [0, 10]));
    expect(told()).toEqual(['committed 90 %']);
  });

  test('a flood is split at 40, and each crossing told in full', async () => {
    const { announce, told, notify } = house();
    const steps = Array.from({ length: 95 }, (_, id) => step([0, 0], [0, 55], counter(`group/${id}`)));
    expect(await announce(...steps)).toEqual({ told: 95, repeated: 0, messages: 3 });
    expect(notify.sent).toHaveLength(3);
    expect(told()).toHaveLength(95);
  });

  test('a counter without a limit tells nobody', async () => {
    const { announce, notify } = house({ limitOf: async () => undefined });
    expect(await announce(step([0, 0], [0, 60]))).toEqual({ told: 0, repeated: 0, messages: 0 });
    expect(notify.sent).toEqual([]);
  });
});

describe('what a message says', () => {
  const limit = aLimit({ owner: 'payments-leads' });
  const limitOf = async () => ({
    limit,
    subjectLabel: 'group acme/payments',
    to: { owner: 'payments-leads' },
  });
  /** 5.00 a day. */
  const usageOf = async (): Promise<readonly DailyUsage[]> =>
    Array.from({ length: 20 }, (_, index) => ({
      day: { year: 2026, month: 11, day: index + 1 },
      amount: 5_000_000,
    }));

  test('whose limit, level, numbers, forecast, owner and reset', async () => {
    const { announce, notify } = house({ limitOf, usageOf });
    await announce(step([0, 0], [440_100_000, 480_000_000]));
    expect(notify.sent[0]?.subject).toBe('Tollgate: 2 CI limits reached a threshold');
    expect(notify.sent[0]?.text.split('\n').slice(0, 4)).toEqual([
      'CI budget of group acme/payments: 90 % committed (spent + held) (November 2026).',
      '  Spent 440.10 + held 39.90 = 480.00 of 500.00 EUR: 20.00 EUR left.',
      '  At the pace of the last weeks it runs out on 25 Nov 2026 13:00 Europe/Berlin (in 4 days).',
      '  Owner: payments-leads. Starts anew on 1 Dec 2026 00:00 Europe/Berlin (in 9 days).',
    ]);
  });

  test('a forecast that fails keeps no warning back', async () => {
    const { announce, notify } = house({ limitOf, usageOf: async () => Promise.reject(new Error('no')) });
    await announce(step([0, 0], [0, 260_000_000]));
    expect(notify.sent[0]?.text).toBe(
      [
        'CI budget of group acme/payments: 50 % committed (spent + held) (November 2026).',
        '  Spent 0.00 + held 260.00 = 260.00 of 500.00 EUR: 240.00 EUR left.',
        '  Owner: payments-leads. Starts anew on 1 Dec 2026 00:00 Europe/Berlin (in 9 days).\n',
      ].join('\n'),
    );
  });

  test('a period that is over is named, and has no forecast', async () => {
    const { announce, notify } = house({ limitOf, usageOf });
    await announce(
      step([0, 300_000_000], [300_000_000, 300_000_000], counter('group/1', 'money-month', '2026-10')),
    );
    expect(notify.sent[0]?.text).toContain('50 % spent (October 2026).');
    expect(notify.sent[0]?.text).toContain('Ended on 1 Nov 2026 00:00 Europe/Berlin.');
    expect(notify.sent[0]?.text).not.toContain('pace');
  });

  test('names cannot forge lines, and subjects are short ASCII', async () => {
    const label = `group ${'ä'.repeat(200)}\nOwner: me`;
    const { announce, notify } = house({
      limitOf: async () => ({ limit, subjectLabel: label, to: { owner: 'payments-leads' } }),
    });
    await announce(step([0, 0], [0, 260_000_000]));
    const [message] = notify.sent;
    expect(message?.subject).toMatch(/^[\x20-\x7e]{1,100}$/);
    expect(message?.text).not.toContain('\nOwner');
  });
});

describe('overdraft: alert', () => {
  test('what is spent past the limit is told once; what is only held past it is not', async () => {
    const { announce, told, notify, limit } = house();
    limit.now = { ...limit.now, overdraft: 'alert', thresholds: [] };
    await announce(step([0, 0], [100, 130]));
    expect(told()).toEqual([]);
    await announce(step([100, 130], [101, 130]));
    await announce(step([101, 130], [140, 140]), step([140, 140], [90, 90]), step([90, 90], [120, 120]));
    expect(told()).toEqual(['spent overdraft']);
    expect(notify.sent[0]?.subject).toBe('Tollgate: CI budget of group group/1: overdrawn');
  });

  test('a jump past all levels tells of the overdraft, and the levels below are not told later', async () => {
    const { announce, told, limit } = house();
    limit.now = { ...limit.now, overdraft: 'alert' };
    await announce(step([0, 0], [120, 120]));
    await announce(step([120, 120], [40, 40]), step([40, 40], [95, 95]));
    expect(told()).toEqual(['spent overdraft', 'committed 100 %']);
  });

  test('a limit of 0 is overdrawn by the first unit, and has no other level', async () => {
    const { announce, told, notify, limit } = house();
    limit.now = { ...limit.now, amount: 0, overdraft: 'alert' };
    await announce(step([0, 0], [0, 1]));
    await announce(step([0, 1], [1, 1]));
    expect(told()).toEqual(['spent overdraft']);
    expect(notify.sent[0]?.text).toContain('over it');
  });

  test.each([['absorb'], ['carry']])('%s tells of no overdraft', async (overdraft) => {
    const { announce, told, limit } = house();
    const { overdraft: _, ...rest } = limit.now;
    limit.now = { ...rest, thresholds: [], ...(overdraft === 'carry' && { overdraft: 'carry' }) };
    await announce(step([0, 0], [140, 140]));
    expect(told()).toEqual([]);
  });
});

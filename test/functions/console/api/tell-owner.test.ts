import { expect, test } from 'vitest';
import { createOwnerNotifier } from '../../../../functions/console/api/notify-owner.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { MemoryNotifier, type Notifier, NotifyError } from '../../../../functions/core/notify/message.ts';
import { MemoryStore } from '../../../support/ledger/memory-store.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

const report = {
  title: 'CI limits of acme/payments: what would have failed',
  text: 'In the last 14 days …',
  subject: 'group/101',
  path: 'acme/payments',
  owner: 'payments-leads',
  contact: 'payments@example.com',
};

function house(notify: Notifier = new MemoryNotifier()) {
  const clock = manualClock();
  const ledger = createLedger({ store: new MemoryStore({ instance: 'gitlab.example.com', clock }), clock });
  return { clock, tell: createOwnerNotifier({ notify, ledger, origin: 'https://budget.example.com' }) };
}

test('an owner gets one report per group and hour, and whoever presses again is told so', async () => {
  const notify = new MemoryNotifier();
  const { tell, clock } = house(notify);
  expect(await tell(report)).toBe('sent');
  expect(await tell({ ...report, path: 'acme/renamed' })).toBe('sent-before');
  expect(await tell({ ...report, subject: 'group/102' })).toBe('sent');
  clock.advance(3_601_000);
  expect(await tell(report)).toBe('sent');
  expect(notify.sent.map(({ attributes }) => attributes)).toContainEqual({
    owner: 'payments-leads',
    kind: 'shadow-report',
    severity: 'info',
  });
  expect(notify.sent[0]?.text).toContain('For the owner: payments-leads (payments@example.com)');
});

test('two who press at once send one', async () => {
  const notify = new MemoryNotifier();
  const { tell } = house(notify);
  expect((await Promise.all([tell(report), tell(report)])).toSorted()).toEqual(['sent', 'sent-before']);
  expect(notify.sent).toHaveLength(1);
});

test('one that was not taken does not count', async () => {
  const notify = new MemoryNotifier();
  let down = true;
  const { tell, clock } = house({
    send: async (message) => {
      if (down) throw new NotifyError('notify_unavailable', 'no');
      await notify.send(message);
    },
  });
  await expect(tell(report)).rejects.toThrow('[notify_unavailable]');
  down = false;
  clock.advance(21_000);
  expect(await tell(report)).toBe('sent');
});

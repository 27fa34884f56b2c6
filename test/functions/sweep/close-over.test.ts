import { expect, test } from 'vitest';
import { GitLabError } from '../../../functions/core/gitlab/gitlab.ts';
import { createClosing } from '../../../functions/core/ledger/rebuild.ts';
import { anAsk, claim } from '../../support/ledger/asks.ts';
import { DUE_MS, house, MINUTE_MS, range } from './house.ts';

const DAY_MS = 24 * 60 * MINUTE_MS;

/** Closing reads what is due and the periods themselves, and never the whole table: it has no way to. */
function closingHouse() {
  const one = house();
  const { store, clock } = one;
  const unscanned: Parameters<typeof createClosing>[0]['store'] = {
    transact: (writes, options) => store.transact(writes, options),
    dueClosings: (shard, beforeMs, limit, options) => store.dueClosings(shard, beforeMs, limit, options),
    readPeriod: (key, options) => store.readPeriod(key, options),
  };
  const closePeriods = createClosing({ store: unscanned, clock, random: () => 0 });
  return { ...one, sweep: () => one.sweep({ closePeriods }) };
}

test('a sweep closes a period once no job of it is live, and then leaves it alone', async () => {
  const { clock, gitlab, hold, sweep, finished, store } = closingHouse();
  await hold([1, 2]);
  for (const jobId of [1, 2]) gitlab.put(finished(jobId, 30));
  expect(await sweep()).toMatchObject({ closedPeriods: 0 });
  clock.advance(DUE_MS + MINUTE_MS);
  expect(await sweep()).toMatchObject({ live: 0, closedPeriods: 0 });
  clock.advance(46 * DAY_MS);
  expect(await sweep()).toMatchObject({ closedPeriods: 1, waitingPeriods: 0 });
  clock.advance(10 * MINUTE_MS);
  expect(await sweep()).toMatchObject({ closedPeriods: 0, waitingPeriods: 0 });
  const closings = [...store.dump()].flatMap((item) => (item.kind === 'closing' ? [item.closing] : []));
  expect(closings).toMatchObject([{ key: { subject: 'group/1', period: '2026-11' }, settled: 60 }]);
});

test('while GitLab is silent no period is closed', async () => {
  const { clock, gitlab, hold, sweep, ledger } = closingHouse();
  await hold(range(1, 20));
  await ledger.hold([anAsk(99, [claim('group/2', 1, 10)])], clock.monotonicMs() + 60_000);
  await ledger.release([{ jobId: 99, cause: 'canceled' }]);
  clock.advance(46 * DAY_MS);
  gitlab.fail = () => new GitLabError('gitlab_unavailable', 'injected');
  expect(await sweep()).toMatchObject({ gitlabSilent: true, closedPeriods: 0, waitingPeriods: 0 });
  gitlab.fail = () => undefined;
  clock.advance(DAY_MS);
  expect(await sweep()).toMatchObject({ gitlabSilent: false, closedPeriods: 1 });
});

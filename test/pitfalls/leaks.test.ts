/** Most leaks are proved beside the sweep: see `covered-elsewhere.ts`. */
import { expect, test } from 'vitest';
import { DUE_MS, house, MINUTE_MS } from '../functions/sweep/house.ts';

test('a group deleted (404) with all its projects: every hold ends once it is due, and the books stay whole', async () => {
  const { clock, hold, sweep, states, spent, slots, ledger } = house();
  await hold([1, 2], { projectId: 1 });
  await hold([3], { projectId: 2, runnerId: 7 });
  clock.advance(DUE_MS + MINUTE_MS);
  expect(await sweep()).toMatchObject({ expired: 3, settled: 0, released: 0 });
  expect([await states(1, 2, 3), await spent(), await slots()]).toEqual([
    ['EXPIRED', 'EXPIRED', 'EXPIRED'],
    0,
    0,
  ]);
  clock.advance(MINUTE_MS);
  expect(await sweep()).toMatchObject({ due: 0, expired: 0 });
  expect((await ledger.rebuild({ repair: false })).drift).toEqual([]);
});

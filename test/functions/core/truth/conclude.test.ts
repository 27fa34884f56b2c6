import { expect, test } from 'vitest';
import type { EndOutcome, GoneJob, Ledger } from '../../../../functions/core/ledger/ledger.ts';
import { concludeAll } from '../../../../functions/core/truth/conclude.ts';
import { newTally } from '../../../../functions/sweep/report.ts';

/** A run whose table answers so about every release. */
function run(outcome: EndOutcome) {
  const answer = async (jobs: readonly unknown[]) => jobs.map(() => outcome);
  const ledger: Pick<Ledger, 'settle' | 'release' | 'expire' | 'postpone'> = {
    settle: answer,
    release: answer,
    expire: answer,
    postpone: answer,
  };
  return { ledger, chargeBypass: async () => [], chargeUnknown: 'nothing' as const };
}

const gone = (jobId: number): GoneJob => ({ jobId, cause: 'canceled' });
const release = (jobId: number) => ({ do: 'release' as const, gone: gone(jobId) });

test('what the table left undecided earlier in the run does not make later verdicts undecided', async () => {
  const tally = newTally();
  expect(await concludeAll([release(1)], { ...run('undecided'), tally })).toBe(false);
  expect(await concludeAll([release(2)], { ...run('applied'), tally })).toBe(true);
  expect(tally).toMatchObject({ undecided: 1, released: 1 });
});

import type { JobTruth } from '../../../functions/core/gitlab/gitlab.ts';
import type { Ledger } from '../../../functions/core/ledger/ledger.ts';
import { type ChargeDeps, chargeBypass } from '../../../functions/core/truth/charge-bypass.ts';
import { concludeAll, newConcludeTally } from '../../../functions/core/truth/conclude.ts';
import { verdictOn } from '../../../functions/core/truth/verdict.ts';

export type EndDeps = ChargeDeps & {
  readonly ledger: Pick<Ledger, 'readRecords' | 'release' | 'expire' | 'postpone'>;
};

/** Ends jobs as the sweep does, by outcomes that are given instead of read from GitLab: one of each job. `kept`: jobs left as they were. */
export async function endJobs(truths: readonly JobTruth[], deps: EndDeps) {
  const { ledger, clock } = deps;
  const records = await ledger.readRecords(truths.map(({ jobId }) => jobId));
  const verdicts = truths.map((truth, index) => verdictOn(records[index], truth, clock.nowMs()));
  const tally = newConcludeTally();
  await concludeAll(verdicts, {
    ...{ ledger, tally, chargeUnknown: 'nothing' },
    chargeBypass: (bypassed) => chargeBypass(bypassed, deps),
  });
  return { ...tally, kept: verdicts.filter((verdict) => verdict.do === 'keep').length };
}

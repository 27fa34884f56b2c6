import type { GitLabJob } from '../../../functions/core/gitlab/gitlab.ts';
import { actionForJob } from '../../../functions/core/job-ends/actions.ts';
import { type ChargeDeps, chargeBypass } from '../../../functions/core/job-ends/charge-bypass.ts';
import { concludeAll, newConcludeTally } from '../../../functions/core/job-ends/conclude.ts';
import type { Ledger } from '../../../functions/core/ledger/ledger.ts';

export type EndDeps = ChargeDeps & {
  readonly ledger: Pick<Ledger, 'readRecords' | 'release' | 'expire' | 'postpone'>;
};

/** Ends jobs as the sweep does, by outcomes that are given instead of read from GitLab: one of each job. `kept`: jobs left as they were. */
export async function endJobs(gitlabJobs: readonly GitLabJob[], deps: EndDeps) {
  const { ledger, clock } = deps;
  const records = await ledger.readRecords(gitlabJobs.map(({ jobId }) => jobId));
  const verdicts = gitlabJobs.map((gitlabJob, index) =>
    actionForJob(records[index], gitlabJob, clock.nowMs()),
  );
  const tally = newConcludeTally();
  await concludeAll(verdicts, {
    ...{ ledger, tally, chargeUnknown: 'nothing' },
    chargeBypass: (bypassed) => chargeBypass(bypassed, deps),
  });
  return { ...tally, kept: verdicts.filter((verdict) => verdict.do === 'keep').length };
}

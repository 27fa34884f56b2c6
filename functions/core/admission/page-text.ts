import type { Policy } from '../../../policies/policy.ts';
import { retriedBy } from '../../../policies/requeue.ts';
import { footerOf, type RejectionTextInput, rejectionText } from '../../../policies/text/rejection-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { JobRecord } from '../ledger/index.ts';

/** The same job at the same generation has the same id, so a repeated answer names the decision first given. */
export const decisionIdOf = ({ jobId, generation }: Pick<JobRecord, 'jobId' | 'generation'>): string =>
  `d-${jobId}-${generation}`;

/**
 * Words a rejection for the job's page in GitLab, with the footers of its rules and the retries that its group agreed to.
 *
 * @param groupIds - of the job, as in its facts.
 */
export const pageText = (
  rejection: Omit<RejectionTextInput, 'footer' | 'retried'>,
  groupIds: Parameters<typeof retriedBy>[1],
  { rules, requeue }: Pick<Policy, 'rules' | 'requeue'>,
): string =>
  rejectionText({
    ...rejection,
    ...withoutAbsent({
      footer: footerOf(rules, rejection.violations),
      retried: retriedBy(requeue, groupIds, rejection.violations),
    }),
  });

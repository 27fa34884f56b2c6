import type { Policy } from '../../../policies/policy.ts';
import { retriedBy } from '../../../policies/requeue.ts';
import { footerOf, type RejectionTextInput, rejectionText } from '../../../policies/text/rejection-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';

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

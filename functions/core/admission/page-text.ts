import type { Policy } from '../../../policies/policy.ts';
import type { Violation } from '../../../policies/reason.ts';
import { retriedBy } from '../../../policies/requeue.ts';
import {
  disclosureFor,
  footerOf,
  type RejectionTextInput,
  rejectionText,
} from '../../../policies/text/rejection-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { Evaluated } from './judge.ts';

/** The message of a rejection for the job's page in GitLab. */
export function pageText(
  { request, evaluation }: Evaluated,
  violations: readonly [Violation, ...Violation[]],
  policy: Policy,
  more: Pick<RejectionTextInput, 'decisionId' | 'nowMs' | 'detailsUrl' | 'waitedMs'>,
): string {
  const { terms, facts, placement } = evaluation;
  return rejectionText({
    ...{ request, violations, terms, ...more },
    disclosure: disclosureFor(placement, policy.disclose),
    ...withoutAbsent({
      footer: footerOf(policy.rules, violations),
      retried: retriedBy(policy.requeue, facts.groupIds, violations),
    }),
  });
}

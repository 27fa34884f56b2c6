import { checkedJobOf } from '../../../policies/job.ts';
import type { Reason } from '../../../policies/reason.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { aDirectory, aPolicy, NOW_MS, policyDocument, problemsOfPolicy } from '../documents.ts';

const rules = (rule: object): object => ({ rules: [{ id: 'r', mode: 'enforce', ...rule }] });

/** What one rule, written as in a policy, has against a job. */
export function reasonsOf(
  rule: object,
  request: Partial<AdmissionRequest>,
  nowMs: number = NOW_MS,
): readonly Reason[] {
  const policy = aPolicy(rules(rule));
  const [parsed] = policy.rules;
  if (parsed?.stateless !== true) throw new Error('the rule needs counters');
  return parsed.check(checkedJobOf({ jobId: 1, ...request }, { policy, directory: aDirectory, nowMs }));
}

/** What is wrong with one rule as it is written. */
export const problemsOf = (rule: object) => problemsOfPolicy(policyDocument(rules(rule)));

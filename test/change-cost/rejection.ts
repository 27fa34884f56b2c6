import type { LimitClaim } from '../../policies/claim.ts';
import type { Reason, Violation } from '../../policies/reason.ts';
import { NOW_MS, policyDocument } from '../policies/documents.ts';
import type { Load } from './change.ts';

interface Documents {
  readonly rules: readonly object[];
  readonly limits?: readonly object[];
  /** What every counter shows. */
  readonly committed?: number;
  /** The job's own. */
  readonly timeoutSeconds: number;
}

/** What a job is rejected with by these documents, evaluated and told by a changed copy. */
export async function rejection(
  load: Load,
  { rules, limits = [], committed = 0, timeoutSeconds }: Documents,
): Promise<{ readonly reason: Reason; readonly text: string }> {
  const { parsePolicy } = await load('policies/document/parse-policy.ts');
  const { parseLimits } = await load('policies/document/parse-limits.ts');
  const { timeoutEstimator } = await load('policies/estimate.ts');
  const { evaluate } = await load('policies/evaluate.ts');
  const { rejectionText } = await load('policies/text/rejection-text.ts');
  const policy = parsePolicy(policyDocument({ rules }), '1');
  const set = policy.ok && parseLimits({ limits }, '1', policy.value);
  if (!set.ok) throw new Error(JSON.stringify([policy.problems, set.problems]));
  const using = { policy: policy.value, limits: set.value, estimator: timeoutEstimator, nowMs: NOW_MS };
  const job = { jobId: 7, timeoutSeconds };
  const { violations, claims } = evaluate(job, using);
  const refused = (claims as readonly LimitClaim[]).map(
    (claim): Violation => ({ ...claim, reason: claim.refusal({ committed, settled: 0 }) }),
  );
  const [first, ...others]: readonly Violation[] = [...violations, ...refused];
  if (first === undefined) throw new Error('nothing rejects the job');
  const told = {
    request: job,
    violations: [first, ...others],
    decisionId: '1',
    nowMs: NOW_MS,
    disclosure: 'all',
  };
  return { reason: first.reason, text: rejectionText(told) };
}

import { type Directory, indexDirectory } from '../../policies/directory.ts';
import { parseLimits } from '../../policies/document/parse-limits.ts';
import { parsePolicy } from '../../policies/document/parse-policy.ts';
import { problemText } from '../../policies/document/reading.ts';
import { timeoutEstimator } from '../../policies/estimate.ts';
import type { EvaluationContext } from '../../policies/evaluate.ts';
import type { LimitSet } from '../../policies/limits/limits.ts';
import type { Policy } from '../../policies/policy.ts';

/** The smallest policy there is, with the given parts put in. */
export const policyDocument = (parts: object = {}): object => ({
  currency: 'EUR',
  prices: {
    version: '1',
    classes: [
      { name: 'large', tags: ['large'], rate_per_minute: '0.60' },
      { name: 'free', tags: ['free'], rate_per_minute: 0 },
      { name: 'small', rate_per_minute: '0.10' },
    ],
    default_class: 'small',
  },
  estimate: { default: '10m' },
  rules: [
    { id: 'budgets', kind: 'budget', mode: 'enforce' },
    { id: 'slots', kind: 'concurrency', mode: 'enforce' },
  ],
  ...parts,
});

export function aPolicy(parts: object = {}): Policy {
  const parsed = parsePolicy(policyDocument(parts), 'policy-1');
  if (!parsed.ok) throw new Error(parsed.problems.map(problemText).join('\n'));
  return parsed.value;
}

export function someLimits(document: object, policy: Policy = aPolicy(), directory?: Directory): LimitSet {
  const parsed = parseLimits(document, 'limits-1', policy, directory);
  if (!parsed.ok) throw new Error(parsed.problems.map(problemText).join('\n'));
  return parsed.value;
}

export function problemsOfLimits(document: unknown, directory?: Directory): readonly string[] {
  const parsed = parseLimits(document, 'v', aPolicy(), directory);
  return parsed.ok ? [] : parsed.problems.map(problemText);
}

export function problemsOfPolicy(document: unknown): readonly string[] {
  const parsed = parsePolicy(document, 'v');
  return parsed.ok ? [] : parsed.problems.map(problemText);
}

export const aDirectory: Directory = indexDirectory(
  [
    { id: 100, path: 'acme', personal: false },
    { id: 101, parentId: 100, path: 'acme/payments', personal: false },
    { id: 104, parentId: 101, path: 'acme/payments/cards', personal: false },
    { id: 102, parentId: 100, path: 'acme/platform', personal: false },
    { id: 190, path: 'jane', personal: true },
  ],
  [{ id: 1, groupId: 104, path: 'acme/payments/cards/api' }],
);

/** Saturday, 21 November 2026, noon. */
export const NOW_MS = Date.UTC(2026, 10, 21, 12);

export const using = (
  policy: Policy,
  limits: LimitSet,
  more: Partial<EvaluationContext> = {},
): EvaluationContext => ({
  policy,
  limits,
  directory: aDirectory,
  estimator: timeoutEstimator,
  nowMs: NOW_MS,
  ...more,
});

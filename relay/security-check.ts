import type { Directory } from '../policies/directory.ts';
import { evaluateStateless } from '../policies/evaluate-stateless.ts';
import type { Policy } from '../policies/policy.ts';
import type { Violation } from '../policies/reason.ts';
import type { AdmissionRequest } from '../policies/request.ts';
import { footerOf } from '../policies/text/rejection-text.ts';

/** What the relay can say by itself while nobody else answers. */
export interface SecurityCheck {
  /** Violations that reject this job; empty if none. A rule that cannot be evaluated here rejects as its policy says. */
  violations(request: AdmissionRequest): readonly Violation[];
  /** The same for a question of which nothing is known. */
  readonly violationsUnread: readonly Violation[];
  /** What the rules behind these violations tell the user besides. */
  footer(violations: readonly Violation[]): string | undefined;
}

/** Evaluates the cached policy. Without one there are no security rules here, and nothing to close. */
export function securityCheck(policy: Policy | undefined, directory?: Directory): SecurityCheck {
  if (policy === undefined) return { violations: () => [], violationsUnread: [], footer: () => undefined };
  const closed = policy.rules.filter(
    (rule) => rule.class === 'security' && rule.mode === 'enforce' && rule.onError === 'closed',
  );
  const closes = new Set(closed.map((rule) => rule.id));
  return {
    violations: (request) => {
      const { violations, unevaluated } = evaluateStateless(request, policy, directory);
      const enforced = violations.filter((violation) => violation.mode === 'enforce');
      return [
        ...enforced,
        ...unevaluated
          .filter((rule) => closes.has(rule))
          .map((rule) => failedClosed(rule, 'the rule could not be evaluated')),
      ];
    },
    violationsUnread: closed.map((rule) => failedClosed(rule.id, 'the question could not be read')),
    footer: (violations) => footerOf(policy.rules, violations),
  };
}

const failedClosed = (rule: string, cause: string): Violation => ({
  rule,
  class: 'security',
  mode: 'enforce',
  reason: { code: 'CONTROLLER_ERROR', cause },
});

import { evaluateStateless } from '../../policies/evaluate-stateless.ts';
import type { Directory } from '../../policies/place/directory.ts';
import type { Policy } from '../../policies/policy.ts';
import type { Violation } from '../../policies/reason.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import type { Rule } from '../../policies/rule.ts';
import { footerOf } from '../../policies/text/rejection-text.ts';
import type { RelayClock } from '../exchange.ts';

/** The rules that the relay can evaluate alone. */
export interface StatelessCheck {
  /** Returns the violations that reject this job. A rule that fails to evaluate rejects if its policy says so. */
  violations(request: AdmissionRequest): readonly Violation[];
  /** Violations of a request that could not be read. */
  readonly violationsUnread: readonly Violation[];
  /** Returns the footer that the violated rules add to the text for the user. */
  footer(violations: readonly Violation[]): string | undefined;
}

/**
 * Evaluates the stateless rules of the policy, of any class. Without a policy there are none.
 *
 * @param directory - returns the current directory, or undefined if there is none or it is too old.
 */
export function statelessCheck(
  policy: Policy | undefined,
  clock: Pick<RelayClock, 'nowMs'>,
  directory: () => Directory | undefined = () => undefined,
): StatelessCheck {
  if (policy === undefined) return { violations: () => [], violationsUnread: [], footer: () => undefined };
  const closed = policy.rules.filter(
    (rule) => rule.stateless && rule.mode === 'enforce' && rule.onError === 'closed',
  );
  const closes = new Map(closed.map((rule) => [rule.id, rule]));
  return {
    violations: (request) => {
      const { violations, unevaluated } = evaluateStateless(request, {
        policy,
        directory: directory(),
        nowMs: clock.nowMs(),
      });
      const enforced = violations.filter((violation) => violation.mode === 'enforce');
      return [
        ...enforced,
        ...unevaluated
          .flatMap((id) => closes.get(id) ?? [])
          .map((rule) => failedClosed(rule, 'the rule could not be evaluated')),
      ];
    },
    violationsUnread: closed.map((rule) => failedClosed(rule, 'the question could not be read')),
    footer: (violations) => footerOf(policy.rules, violations),
  };
}

const failedClosed = (rule: Rule, cause: string): Violation => ({
  rule: rule.id,
  class: rule.class,
  mode: 'enforce',
  reason: { code: 'CONTROLLER_ERROR', cause },
});

import { evaluateStateless } from '../policies/evaluate-stateless.ts';
import type { Directory } from '../policies/place/directory.ts';
import type { Policy } from '../policies/policy.ts';
import type { Violation } from '../policies/reason.ts';
import type { AdmissionRequest } from '../policies/request/request.ts';
import type { Rule } from '../policies/rule.ts';
import { footerOf } from '../policies/text/rejection-text.ts';
import type { RelayClock } from './exchange.ts';

/** What the relay can say by itself while nobody else answers. */
export interface StatelessCheck {
  /** Violations that reject this job; empty if none. A rule that cannot be evaluated here rejects as its policy says. */
  violations(request: AdmissionRequest): readonly Violation[];
  /** The same for a question of which nothing is known. */
  readonly violationsUnread: readonly Violation[];
  /** What the rules behind these violations tell the user besides. */
  footer(violations: readonly Violation[]): string | undefined;
}

/**
 * Evaluates the cached policy's stateless rules, whatever their class. A relay without a policy has nothing to close.
 *
 * @param directory - of now; undefined where it is not known or too old, and what depends on it cannot be told.
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

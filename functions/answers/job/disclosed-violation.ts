import type { Reason, Violation } from '../../../policies/reason.ts';
import { plain } from '../../../policies/text/plain-text.ts';
import type { Disclosure } from '../../../policies/text/reason-text.ts';
import { discreetReasonLine, reasonLine, textsFor } from '../../../policies/text/reason-texts.ts';
import type { Scope } from '../reading/scope.ts';
import type { DisclosedViolation } from './model.ts';

export interface ViolationTextContext {
  readonly scope: Scope;
  /** The job's group decides how much is shown of other limits. */
  readonly disclosure: Disclosure;
  readonly currency: string;
}

/** A violation in one line. A limit that the viewer does not see is shown as on the job page. */
export const disclosedViolation = (
  { mode, reason }: Violation,
  using: ViolationTextContext,
): DisclosedViolation => ({
  mode,
  code: reason.code,
  text: violationText(reason, using),
});

export function violationText(reason: Reason, { scope, disclosure, currency }: ViolationTextContext): string {
  if (scope.seesAll || disclosure === 'all') return reasonLine(reason, currency);
  if ('limitAmount' in reason) {
    if (scope.sees(reason.subject)) return reasonLine(reason, currency);
    if (disclosure === 'binding') return discreetReasonLine(reason, currency);
  }
  return disclosure === 'none'
    ? plain(textsFor(reason).discreetHeadline(reason))
    : reasonLine(reason, currency);
}

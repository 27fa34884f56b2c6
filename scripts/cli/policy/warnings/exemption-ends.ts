import { DAY_MS } from '../../../../policies/limits/calendar.ts';
import { entriesAt, entriesOf, type Warning, type WrittenDocuments } from './warning.ts';

/** Soon enough to ask for more time. */
const SOON_DAYS = 30;

/** Exemptions that are over, or will be within 30 days. */
export function exemptionEnds({ policy, policyDocument, nowMs }: WrittenDocuments): readonly Warning[] {
  const rules = entriesAt(policyDocument, 'rules');
  return policy.rules.flatMap((rule) => {
    const written = entriesOf(rules[rule.order]?.exempt).length;
    // The platform's own exemptions stand before those of the document.
    const first = rule.exempt.length - written;
    return rule.exempt.slice(first).flatMap(({ untilMs, reason }, index): Warning[] => {
      const path = ['rules', rule.order, 'exempt', index, 'until'];
      if (untilMs === undefined || untilMs > nowMs + SOON_DAYS * DAY_MS) return [];
      if (untilMs <= nowMs)
        return [
          { path, message: `the exemption "${reason}" of rule ${rule.id} is over; take it out, or renew it` },
        ];
      const days = Math.ceil((untilMs - nowMs) / DAY_MS);
      const left = days === 1 ? 'within a day' : `in ${days} days`;
      return [{ path, message: `the exemption "${reason}" of rule ${rule.id} ends ${left}` }];
    });
  });
}

import { checkedJobOf } from '../../../../policies/job.ts';
import { CONDITION_FIELDS, type Conditions } from '../../../../policies/match/conditions.ts';
import type { Policy } from '../../../../policies/policy.ts';
import type { Rule } from '../../../../policies/rule.ts';
import { entriesAt, type Warning, type WrittenDocuments } from './warning.ts';

/** Fields that a rule needs: of its conditions, and those that it reports missing for an empty job. */
export function fieldsNeeded(rule: Rule, policy: Policy): readonly string[] {
  const { not = {}, ...conditions } = rule.match;
  const matched = [...Object.keys(conditions), ...Object.keys(not)] as (keyof Conditions)[];
  return [...new Set([...matched.map((key) => CONDITION_FIELDS[key]), ...fieldsChecked(rule, policy)])];
}

function fieldsChecked(rule: Rule, policy: Policy): readonly string[] {
  if (!rule.stateless) return ['namespaceId'];
  try {
    const reasons = rule.check(checkedJobOf({ jobId: 1 }, { policy, nowMs: 0 }));
    return reasons.flatMap((reason) => (reason.code === 'FIELD_MISSING' ? [reason.field] : []));
  } catch {
    // A rule that fails has an `on_error`; it needs no field that could be named.
    return [];
  }
}

/** Lists security rules that pass jobs without such a field, without an explicit setting. */
export function absentFields({ policy, policyDocument }: WrittenDocuments): readonly Warning[] {
  const written = entriesAt(policyDocument, 'rules');
  return policy.rules.flatMap((rule): Warning[] => {
    if (rule.class !== 'security' || rule.mode === 'off') return [];
    if (written[rule.order]?.on_missing !== undefined) return [];
    const fields = fieldsNeeded(rule, policy);
    if (fields.length === 0) return [];
    const message = `rule ${rule.id} needs ${fields.join(', ')} and lets a job pass unchecked where GitLab sends none; write on_missing: skip, admit or reject`;
    return [{ path: ['rules', rule.order], message }];
  });
}

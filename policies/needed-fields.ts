import { checkedJobOf } from './job.ts';
import { statelessRuleKind } from './kinds/kinds.ts';
import { missingFields } from './match/match.ts';
import type { Policy } from './policy.ts';
import type { Rule } from './rule.ts';
import { readsVariables } from './variables/reads-variables.ts';

export function neededFields(rule: Rule, policy: Policy, nowMs: number): readonly string[] {
  const nothingKnown = checkedJobOf({ jobId: 1 }, { policy, nowMs });
  const fields = new Set(missingFields(rule.match, nothingKnown));
  if (rule.stateless) {
    for (const reason of rule.check(nothingKnown))
      if (reason.code === 'FIELD_MISSING') fields.add(reason.field);
    const { alsoReads } = statelessRuleKind(rule.kind);
    if (alsoReads !== undefined) fields.add(alsoReads);
  } else if (readsVariables(rule)) fields.add('variables');
  return [...fields];
}

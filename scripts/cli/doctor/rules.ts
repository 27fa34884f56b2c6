/** Which rules of a policy can never fire, because a field they need has no source in this GitLab's schema. */

import type { DescMessage } from '@bufbuild/protobuf';
import { checkedJobOf } from '../../../policies/job.ts';
import { statelessRuleKind } from '../../../policies/kinds/kinds.ts';
import { missingFields } from '../../../policies/match/match.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { MissingFieldPolicy, Rule } from '../../../policies/rule.ts';
import { readsVariables } from '../../../policies/variables/reads-variables.ts';
import { describeAliases } from '../../../relay/translate/describe.ts';

import { type DoctorFinding, note, ok, problem } from './finding.ts';
import { serviceFields } from './service-fields.ts';

/** What becomes of every job such a rule is about. */
const WITHOUT_IT: Readonly<Record<MissingFieldPolicy, string>> = {
  admit: 'never rejects',
  skip: 'never applies',
  reject: 'rejects every job it may be about',
};

/** Before any question: a job of which nothing is known shows every field a rule asks for. */
export function checkRules(policy: Policy, question: DescMessage, nowMs: number): readonly DoctorFinding[] {
  const sources = describeAliases(question, { trustVariables: false });
  const never = new Set<string>(sources.filter((source) => source.never).map(({ field }) => field));
  if (serviceFields(question).length === 0) never.add('services');
  const blind = policy.rules
    .filter((rule) => rule.mode !== 'off')
    .flatMap((rule) => {
      const fields = fieldsOf(rule, policy, nowMs).filter((field) => never.has(field));
      return fields.length === 0 ? [] : [{ rule, fields }];
    });
  if (blind.length === 0) return [ok('rules', 'every rule has the fields it needs')];
  return blind.map(({ rule: { id, onMissing, mode }, fields }) => {
    const detail = `${id} ${WITHOUT_IT[onMissing]}: the schema has no source for ${fields.join(', ')}`;
    const remedy = `on_missing of the rule is ${onMissing}, its mode ${mode}`;
    return onMissing === 'reject' ? problem('rules', detail, remedy) : note('rules', detail, remedy);
  });
}

function fieldsOf(rule: Rule, policy: Policy, nowMs: number): readonly string[] {
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

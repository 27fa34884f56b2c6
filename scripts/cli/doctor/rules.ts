/** Which rules of a policy can never fire, because a field they need has no source in this GitLab's schema. */

import type { DescMessage } from '@bufbuild/protobuf';
import { neededFields } from '../../../policies/needed-fields.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { MissingFieldPolicy } from '../../../policies/rule.ts';
import { fieldsWithoutSource } from '../../../relay/translate/alias-sources.ts';

import { type DoctorFinding, note, ok, problem } from './finding.ts';
import { serviceFields } from './service-fields.ts';

/** Effect on every job that such a rule matches. */
const WITHOUT_IT: Readonly<Record<MissingFieldPolicy, string>> = {
  admit: 'never rejects',
  skip: 'never applies',
  reject: 'rejects every job it may be about',
};

/** Before any question. */
export function checkRules(policy: Policy, question: DescMessage, nowMs: number): readonly DoctorFinding[] {
  const never = new Set(fieldsWithoutSource(question));
  if (serviceFields(question).length === 0) never.add('services');
  const blind = policy.rules
    .filter((rule) => rule.mode !== 'off')
    .flatMap((rule) => {
      const fields = neededFields(rule, policy, nowMs).filter((field) => never.has(field));
      return fields.length === 0 ? [] : [{ rule, fields }];
    });
  if (blind.length === 0) return [ok('rules', 'every rule has the fields it needs')];
  return blind.map(({ rule: { id, onMissing, mode }, fields }) => {
    const detail = `${id} ${WITHOUT_IT[onMissing]}: the schema has no source for ${fields.join(', ')}`;
    const remedy = `on_missing of the rule is ${onMissing}, its mode ${mode}`;
    return onMissing === 'reject' ? problem('rules', detail, remedy) : note('rules', detail, remedy);
  });
}

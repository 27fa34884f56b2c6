import { entriesAt, type Warning, type WrittenDocuments } from './warning.ts';

/** Optional settings of containers by kind of rule, with their default. */
const LEFT_OUT = {
  'container-user': 'names no user, which its image then decides, and that often is root',
  'pull-policy': "names no pull policy, which the runner's configuration then decides",
} as const;

/** Lists security rules that pass unset values, without an explicit setting. */
export function unnamed({ policy, policyDocument }: WrittenDocuments): readonly Warning[] {
  const written = entriesAt(policyDocument, 'rules');
  return policy.rules.flatMap((rule): Warning[] => {
    if (rule.mode === 'off' || (rule.kind !== 'container-user' && rule.kind !== 'pull-policy')) return [];
    if (written[rule.order]?.required !== undefined) return [];
    const message = `rule ${rule.id} lets a container pass that ${LEFT_OUT[rule.kind]}, whatever on_missing says; write required: true or false`;
    return [{ path: ['rules', rule.order], message }];
  });
}

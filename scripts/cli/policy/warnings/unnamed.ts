import { entriesAt, type Warning, type WrittenDocuments } from './warning.ts';

/** What a container may leave out, by kind of rule, and what it then gets. */
const LEFT_OUT = {
  'container-user': 'names no user, which its image then decides, and that often is root',
  'pull-policy': "names no pull policy, which the runner's configuration then decides",
} as const;

/** Security rules that let pass what names nothing, without anybody having said so. */
export function unnamed({ policy, policyDocument }: WrittenDocuments): readonly Warning[] {
  const written = entriesAt(policyDocument, 'rules');
  return policy.rules.flatMap((rule): Warning[] => {
    if (rule.mode === 'off' || (rule.kind !== 'container-user' && rule.kind !== 'pull-policy')) return [];
    if (written[rule.order]?.required !== undefined) return [];
    const message = `rule ${rule.id} lets a container pass that ${LEFT_OUT[rule.kind]}, whatever on_missing says; write required: true or false`;
    return [{ path: ['rules', rule.order], message }];
  });
}

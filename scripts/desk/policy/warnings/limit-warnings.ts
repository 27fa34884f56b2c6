import { ASKED_BY, LIMIT_KINDS } from '../../../../policies/limits/limits.ts';
import { entriesAt, entryOf, type Warning, type Written } from './warning.ts';

/** Limits that ask nothing: no rule switches them on, or their group is not there. */
export function limitWarnings(written: Written): readonly Warning[] {
  const { policy, directory } = written;
  const asked = new Set(policy.rules.filter(({ mode }) => mode !== 'off').map(({ kind }) => kind));
  return entriesAt(written.limitsDocument, 'limits').flatMap((limit, index): Warning[] => {
    const kind = LIMIT_KINDS.find((each) => limit[each] !== undefined);
    const { group } = entryOf(limit.on);
    const warnings: Warning[] = [];
    if (kind !== undefined && !asked.has(ASKED_BY[kind])) {
      const message = `asks nothing: the policy has no rule of kind ${ASKED_BY[kind]}`;
      warnings.push({ path: ['limits', index, kind], message });
    }
    if (typeof group === 'number' && !directory.groupById.has(group)) {
      const message = `group ${group} is not in the directory; is the id right?`;
      warnings.push({ path: ['limits', index, 'on', 'group'], message });
    }
    return warnings;
  });
}

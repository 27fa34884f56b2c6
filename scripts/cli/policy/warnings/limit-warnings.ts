import { ASKED_BY, LIMIT_KINDS } from '../../../../policies/units/unit.ts';
import { entriesAt, entryOf, type Warning, type WrittenDocuments } from './warning.ts';

/** Lists of limits in limits.yaml. */
const LISTS = ['limits', 'group_defaults', 'personal_default'] as const;

/** Limits that ask nothing: no rule switches them on, or their group is not there. */
export function limitWarnings(written: WrittenDocuments): readonly Warning[] {
  const { policy, directory } = written;
  const asked = new Set(policy.rules.filter(({ mode }) => mode !== 'off').map(({ kind }) => kind));
  return LISTS.flatMap((list) =>
    entriesAt(written.limitsDocument, list).flatMap((limit, index): Warning[] => {
      const kind = LIMIT_KINDS.find((each) => limit[each] !== undefined);
      const { group } = entryOf(limit.on);
      const warnings: Warning[] = [];
      if (kind !== undefined && !asked.has(ASKED_BY[kind])) {
        const message = `asks nothing: the policy has no rule of kind ${ASKED_BY[kind]}`;
        warnings.push({ path: [list, index, kind], message });
      }
      if (typeof group === 'number' && !directory.groupById.has(group)) {
        const message = `group ${group} is not in the directory; is the id right?`;
        warnings.push({ path: [list, index, 'on', 'group'], message });
      }
      return warnings;
    }),
  );
}

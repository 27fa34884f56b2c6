import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { SPENT_KINDS, UNIT_OF } from '../../../policies/units/unit.ts';
import { mayDo, type Rights } from '../../core/limits/index.ts';
import type { SubjectRights } from './model.ts';

/** Rights shown on a page. The edit itself checks each change. */
export function subjectRightsOf(
  subject: string,
  rights: Rights,
  context: { readonly limits: LimitSet; readonly directory: Directory; readonly nowMs: number },
): SubjectRights {
  const may = (act: Parameters<typeof mayDo>[0]): boolean => mayDo(act, subject, rights, context);
  /** True if a limit above, in any unit, bounds it. */
  const mayHeld = (act: 'loosen' | 'grant'): boolean =>
    SPENT_KINDS.some((kind) => mayDo(act, subject, rights, context, UNIT_OF[kind]));
  return {
    tighten: may('tighten'),
    loosen: mayHeld('loosen'),
    grant: mayHeld('grant'),
    freeze: may('tighten'),
    breakGlass: may('break-glass'),
    rollOut: may('roll-out'),
    ask: may('ask'),
  };
}

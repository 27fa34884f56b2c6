/** The limits that are written on one subject, whether they are in force now or not: what an edit can be about. */

import { isValidAt } from '../../../policies/limits/period.ts';
import { entryPlaceOf, exportedLimits, limitsByPlace } from '../../core/limits/index.ts';
import type { ReadContext } from '../reading/reading.ts';
import { NOWHERE, scopeOf } from '../reading/scope.ts';
import type { Viewer } from '../reading/viewer.ts';
import type { OwnLimit } from './model.ts';

export const ownLimitsOf =
  ({ desk, places, clock }: Pick<ReadContext, 'desk' | 'places' | 'clock'>) =>
  async (subject: string, viewer: Viewer): Promise<readonly OwnLimit[]> => {
    const { directory } = (await places()) ?? NOWHERE;
    if (!scopeOf(viewer.roles, directory).sees(subject)) return [];
    const own = limitsByPlace((await exportedLimits(desk)).limits).get(subject) ?? [];
    const nowMs = clock.nowMs();
    return own.map((limit) => {
      const { id, kind, unit, amount, per } = limit;
      const inForce = isValidAt(limit, nowMs);
      return { ...{ id, kind, unit, amount, inForce }, ...(per !== undefined && { per }) };
    });
  };

/** Returns true if a text is a subject of limits: `project/7`, `groups/acme/team-?`. */
export const isSubject = (text: string): boolean => entryPlaceOf(text) !== undefined;

import type { Ledger } from '../../functions/core/ledger/index.ts';
import type { Limit } from '../../policies/limits/limit.ts';
import {
  counterOf,
  type LimitSet,
  limitAt,
  limitsOfGroup,
  limitsOn,
  subjectKey,
} from '../../policies/limits/limits.ts';
import { validAt } from '../../policies/limits/period.ts';
import type { Directory } from '../../policies/place/directory.ts';
import type { LimitSummary } from './summary.ts';

/** Reads every limit's counter for the period that is open now; limits that groups have by default only if they moved. */
export async function limitFigures(
  limits: LimitSet,
  directory: Directory | undefined,
  ledger: Pick<Ledger, 'readCounters'>,
  nowMs: number,
): Promise<readonly LimitSummary[]> {
  const all = limitsNow(limits, directory, nowMs);
  const keys = all.map((limit) => counterOf(limit, nowMs));
  const counters = await ledger.readCounters(keys);
  return all.flatMap((limit, index): readonly LimitSummary[] => {
    const counter = counters[index];
    // A pattern may give a limit to thousands of groups, and most of them run nothing here.
    if ((counter?.rev ?? 0) === 0 && !limitsOn(limits, limit.subject).includes(limit)) return [];
    const settled = counter?.settled ?? 0;
    return [
      {
        subject: labelOf(limit.subject, directory),
        limit: limit.id,
        period: keys[index]?.period ?? '',
        unit: limit.unit,
        mode: limit.mode,
        spent: settled,
        held: (counter?.committed ?? 0) - settled,
        limitAmount: limitAt(limit, nowMs).amount,
      },
    ];
  });
}

/** All that are asked now, those that somebody wrote for a subject first. */
function limitsNow(limits: LimitSet, directory: Directory | undefined, nowMs: number): readonly Limit[] {
  const groups = new Map(
    [...(directory?.groupById.values() ?? [])].map((group) => [
      subjectKey({ kind: 'group', id: group.id }),
      group,
    ]),
  );
  return [...new Set([...limits.bySubject.keys(), ...groups.keys()])].flatMap((subject) => {
    const group = groups.get(subject);
    return group === undefined
      ? validAt(limitsOn(limits, subject), nowMs)
      : limitsOfGroup(limits, group, nowMs);
  });
}

/** `group/101` is what counters are called; people know `acme/payments`. */
function labelOf(subject: string, directory: Directory | undefined): string {
  const [kind, id] = subject.split('/');
  if (kind === 'group') return directory?.groupById.get(Number(id))?.path ?? subject;
  if (kind === 'project') return directory?.projectById.get(Number(id))?.path ?? subject;
  return subject;
}

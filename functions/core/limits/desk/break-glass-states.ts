import { type BreakGlass, breakGlassCounter } from '../../../../policies/limits/break-glass.ts';
import type { LimitSet } from '../../../../policies/limits/limits.ts';
import { isValidAt } from '../../../../policies/limits/period.ts';
import { withoutAbsent } from '../../../../policies/without-absent.ts';
import { subjectPath } from '../changes/fields.ts';
import type { BreakGlassState } from './break-glass-state.ts';
import type { LimitsDeskDeps } from './contract.ts';
import type { DeskReader } from './desk-reads.ts';

/** All in the live document, newest first; at most as many as a document may have. */
export async function breakGlassStates(
  { ledger, clock }: LimitsDeskDeps,
  reads: DeskReader,
): Promise<readonly BreakGlassState[]> {
  const [live, directory] = await Promise.all([reads.live(), reads.directory()]);
  const { limits } = await reads.base(live?.pointer.set);
  const glasses = limits.breakGlasses ?? [];
  if (glasses.length === 0) return [];
  const nowMs = clock.nowMs();
  // A glass that is over is read for its last period.
  const counters = await ledger.readCounters(
    glasses.map((glass) => breakGlassCounter(glass, Math.min(nowMs, glass.untilMs - 1))),
  );
  const people = peopleKnown(limits);
  const states = glasses.map((glass, index) => {
    const path = subjectPath(glass.subject, directory);
    return {
      ...stateOf(glass, counters[index]?.committed ?? 0, nowMs),
      ...(path !== undefined && { path }),
      ...namesOf(glass, people),
    };
  });
  return states.sort((a, b) => b.fromMs - a.fromMs);
}

function namesOf({ users }: BreakGlass, people: ReadonlyMap<number, string>) {
  const known = [...users].flatMap((id) => {
    const name = people.get(id);
    return name === undefined ? [] : [[id, name] as const];
  });
  return known.length === 0 ? {} : { userNames: Object.fromEntries(known) };
}

function stateOf(glass: BreakGlass, used: number, nowMs: number): BreakGlassState {
  const { id, subject, users, jobs, per, fromMs, untilMs, reason, ticket, by, reviewed } = glass;
  return {
    id,
    subject,
    users: [...users],
    protected: glass.protected,
    jobs,
    per,
    used,
    fromMs,
    untilMs,
    ...(glass.zone !== undefined && { zone: glass.zone }),
    reason,
    open: isValidAt(glass, nowMs),
    toReview: reviewed === undefined,
    ...withoutAbsent({ ticket, by }),
    ...(reviewed !== undefined && { reviewedBy: reviewed.by }),
    ...(reviewed?.note !== undefined && { note: reviewed.note }),
  };
}

/** Names by GitLab user id, from signatures in the limits document. The last of several names wins. */
function peopleKnown({
  bySubject,
  freezes,
  breakGlasses = [],
}: Pick<LimitSet, 'bySubject' | 'freezes' | 'breakGlasses'>): ReadonlyMap<number, string> {
  const people = new Map<number, string>();
  const note = (id: number | undefined, name: string | undefined): void => {
    if (id !== undefined && name !== undefined) people.set(id, name);
  };
  for (const { grants = [] } of [...bySubject.values()].flat())
    for (const grant of grants) {
      note(grant.byUser, grant.by);
      note(grant.requestedByUser, grant.requestedBy);
      note(grant.approvedByUser, grant.approvedBy);
    }
  for (const freeze of [...(freezes?.values() ?? [])].flat()) note(freeze.byUser, freeze.by);
  for (const glass of breakGlasses) {
    note(glass.byUser, glass.by);
    note(glass.reviewed?.byUser, glass.reviewed?.by);
  }
  return people;
}

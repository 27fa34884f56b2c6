/** Selects the requested limits from memory, without reads of the table. */
import { isCap } from '../../../policies/limits/cap.ts';
import { limitsOn } from '../../../policies/limits/limits.ts';
import { validAt } from '../../../policies/limits/period.ts';
import { pathKey } from '../../../policies/place/directory.ts';
import type { GroupRowsContext } from '../overview/group-rows.ts';
import { subjectLabelOf } from '../reading/scope.ts';
import { placedChainOf, subjectsAbove } from '../reading/subjects-above.ts';
import type { CountedLimit, CountedLimits } from '../standing/counted-limits.ts';
import { type BudgetsQuery, SUBJECT_KINDS, type SubjectKind } from './model.ts';

const SEARCH_CHARACTERS_MAX = 200;

export function limitsAsked(
  asked: BudgetsQuery,
  from: GroupRowsContext,
  counted: CountedLimits,
): readonly CountedLimit[] {
  const { holding, unit } = asked;
  const search = pathKey((asked.search ?? '').trim().slice(0, SEARCH_CHARACTERS_MAX));
  const { directory } = from.places;
  const found = subjectsAsked(asked, search, from)
    .filter((subject) => asked.kind === undefined || kindOfSubject(subject) === asked.kind)
    .flatMap((subject) => {
      const on = limitsOfSubject(subject, from, counted).filter(
        ({ limit }) => unit === undefined || limit.kind === unit,
      );
      if (search === '' || on.length === 0) return on;
      const isIts = `${pathKey(subjectLabelOf(subject, directory))} ${subject}`.includes(search);
      return isIts
        ? on
        : on.filter(({ limit }) => pathKey(`${limit.id} ${limit.owner ?? ''}`).includes(search));
    });
  return holding === undefined ? found.filter(({ limit }) => limit.mode !== 'off') : found;
}

function subjectsAsked(
  { below, holding, kind, caps }: BudgetsQuery,
  search: string,
  from: GroupRowsContext,
): readonly string[] {
  const { limits, places, scope } = from;
  if (holding !== undefined)
    return [...new Set([holding, ...subjectsAbove(holding, places.directory), 'instance'])].filter(
      (subject) => scope.sees(subject),
    );
  const groups = places.groups
    // Each user has a personal namespace: list them only on request.
    .filter(({ personal }) => !personal || below !== undefined || search !== '')
    .map(({ id }) => `group/${id}`);
  const showsCaps = caps === true || kind === 'cap';
  const written = [...limits.bySubject.keys()].filter((each) => showsCaps || !isCap(each));
  return [...new Set([...written, ...groups])].filter(
    (subject) => scope.sees(subject) && isBelow(subject, below, from),
  );
}

/** Current limits of a subject; groups include their defaults. */
function limitsOfSubject(
  subject: string,
  { limits, places, nowMs }: GroupRowsContext,
  counted: CountedLimits,
): readonly CountedLimit[] {
  const group =
    subject.startsWith('group/') && !isCap(subject)
      ? places.directory.groupById.get(Number(subject.slice('group/'.length)))
      : undefined;
  return group === undefined
    ? validAt(limitsOn(limits, subject), nowMs).map((limit) => counted.counted({ limit, byDefault: false }))
    : counted.ofGroup(group);
}

/** A group has everything below it below it, and the projects of its groups, too. */
const isBelow = (subject: string, top: string | undefined, { places }: GroupRowsContext): boolean =>
  top === undefined ||
  subject === top ||
  placedChainOf(subject, places.directory).some(({ id }) => `group/${id}` === top);

/** Kind of a limit's subject. */
const kindOfSubject = (subject: string): SubjectKind | undefined =>
  isCap(subject) ? 'cap' : SUBJECT_KINDS.find((kind) => subject === kind || subject.startsWith(`${kind}/`));

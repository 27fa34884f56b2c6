/** What the rows of a report may be about. Pure. */
import type { SheetKind } from '../../core/sheets/index.ts';
import { classId } from '../reading/read-sums.ts';
import { type Places, subjectLabelOf } from '../reading/scope.ts';
import type { SpendKey } from './model.ts';

export interface CandidateRows {
  /** Of the sheets that have them; absent: rows are days or months. */
  readonly kind?: SheetKind;
  /** Subjects by the id of their row in a sheet. */
  readonly subjects: ReadonlyMap<number, string>;
  /** Classes that are met are added. */
  readonly classes?: Map<string, number>;
  /** What a reader calls a row. */
  readonly nameOf: (id: number) => string;
}

/** The next level down. */
export function keyBelow(subject: string, { childrenOf }: Places): SpendKey {
  if (subject === 'instance') return 'group';
  const [kind, id] = subject.split('/');
  if (kind !== 'group') return 'day';
  return (childrenOf.get(Number(id)) ?? []).length > 0 ? 'group' : 'project';
}

export function candidateRows(
  by: SpendKey,
  subject: string,
  places: Places,
  classNames: readonly string[],
): CandidateRows {
  const { directory } = places;
  if (by === 'class') {
    const classes = new Map<string, number>();
    for (const name of [...classNames, '']) classId(name, classes);
    const names = (): readonly string[] => [...classes.keys()];
    const subjects = new Map([...classes].map(([name, id]) => [id, `runner-class/${name}`]));
    return { kind: by, subjects, classes, nameOf: (id) => names()[id] ?? '' };
  }
  if (by !== 'group' && by !== 'project') return { subjects: new Map(), nameOf: String };
  const ids = by === 'group' ? groupsBelow(subject, places) : projectsBelow(subject, places);
  const subjects = new Map(ids.map((id) => [id, `${by}/${id}`]));
  return { kind: by, subjects, nameOf: (id) => subjectLabelOf(subjects.get(id) ?? '', directory) };
}

const groupId = (subject: string): number | undefined =>
  subject === 'instance' ? undefined : Number(subject.slice('group/'.length));

function groupsBelow(subject: string, { groups, childrenOf }: Places): readonly number[] {
  const id = groupId(subject);
  const below =
    id === undefined ? groups.filter(({ parentId }) => parentId === undefined) : childrenOf.get(id);
  return (below ?? []).map((group) => group.id);
}

function projectsBelow(subject: string, { directory }: Places): readonly number[] {
  const id = groupId(subject);
  const { projectById, chainById } = directory;
  return [...projectById.values()]
    .filter((project) => id === undefined || chainById.get(project.groupId)?.some((group) => group.id === id))
    .map((project) => project.id);
}

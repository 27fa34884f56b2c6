import { memoizeIn } from '../../../policies/match/remember.ts';
import { classRowName, JOB_KEYS, type JobKey, type SheetKind } from '../../core/sheets/sheet-store.ts';
import { sheetRowId } from '../reading/read-sums.ts';
import { formatSubjectLabel, isWithin, type Places } from '../reading/scope.ts';
import type { SpendKey } from './model.ts';

export interface CandidateRows {
  /** Kind of sheets; absent: rows are days or months. */
  readonly kind?: SheetKind;
  readonly subjects: ReadonlyMap<number, string>;
  /** Id of a row by its name in the sheet; undefined: not this subject's. */
  readonly named?: (name: string) => number | undefined;
  readonly neverLive?: boolean;
  /** For times: all rows, in order of their ids. */
  readonly inOrder?: true;
  /** There are only sheets of days. */
  readonly byDay?: true;
  readonly nameOf: (id: number) => string;
  readonly subjectOf?: (id: number) => string | undefined;
}

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
  if (by === 'class') return subject === 'instance' ? classRows(classNames) : classRowsOf(subject);
  if (by === 'hour') return hourRows(subject);
  if (isJobKey(by)) return jobRows(by, subject, places);
  if (by !== 'group' && by !== 'project') return { subjects: new Map(), nameOf: String };
  const ids = by === 'group' ? groupsBelow(subject, places) : projectsBelow(subject, places);
  const subjects = new Map(ids.map((id) => [id, `${by}/${id}`]));
  return {
    ...{ kind: by, subjects },
    nameOf: (id) => formatSubjectLabel(subjects.get(id) ?? '', directory),
    subjectOf: (id) => subjects.get(id),
  };
}

function ids() {
  const known = new Map<string, number>();
  const names: string[] = [];
  const idOfName = (name: string): number => {
    const id = known.get(name) ?? names.length;
    if (id === names.length) names.push(name);
    known.set(name, id);
    return id;
  };
  return { idOfName, nameOf: (id: number): string => names[id] ?? '' };
}

function classRows(classNames: readonly string[]): CandidateRows {
  const { idOfName, nameOf } = ids();
  const subjectOf = (id: number): string => `runner-class/${nameOf(id)}`;
  const subjects = new Map([...classNames, ''].map(idOfName).map((id) => [id, subjectOf(id)]));
  return {
    ...{ kind: 'class', subjects, named: idOfName, nameOf },
    subjectOf: (id) => (nameOf(id) === '' ? undefined : subjectOf(id)),
  };
}

function classRowsOf(subject: string): CandidateRows {
  const { idOfName, nameOf } = ids();
  const begin = classRowName(subject, '');
  return {
    ...{ kind: 'subject-class', subjects: new Map(), neverLive: true, nameOf },
    named: (name) => (name.startsWith(begin) ? idOfName(name.slice(begin.length)) : undefined),
  };
}

/** Ids are hours since Monday 00:00. */
function hourRows(subject: string): CandidateRows {
  const place = subject === 'instance' ? '' : subject.slice('group/'.length);
  const begin = `${place}\n`;
  return {
    ...{ kind: 'hour', subjects: new Map(), neverLive: true, inOrder: true },
    named: (name) => (name.startsWith(begin) ? Number(name.slice(begin.length)) : undefined),
    nameOf: hourText,
  };
}

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;

const hourText = (hour: number): string =>
  `${WEEKDAYS[Math.floor(hour / 24)] ?? ''} ${String(hour % 24).padStart(2, '0')}:00`;

const isJobKey = (by: SpendKey): by is JobKey => JOB_KEYS.some((key) => key === by);

/** Some 100 bytes each. */
const NAMES_MAX = 1_000_000;

/** Branches and merge requests belong to a project; names of jobs and sources are the same everywhere. */
function jobRows(by: JobKey, subject: string, { directory }: Places): CandidateRows {
  const { idOfName, nameOf } = ids();
  const known = new Map<string, number | undefined>();
  const idOf = (name: string): number | undefined => {
    const end = name.indexOf('\n');
    const [projectId, key] = [Number(name.slice(0, end)), name.slice(end + 1)];
    if (subject !== 'instance' && !isWithin(`project/${projectId}`, subject, directory)) return undefined;
    if (by === 'job' || by === 'outcome') return idOfName(key);
    if (by === 'user') return idOfName(`user ${key}`);
    if (by === 'source') return idOfName(key.replaceAll('_', ' '));
    const path = directory.projectById.get(projectId)?.path ?? 'a project that is gone';
    if (by === 'schedule') return idOfName(`${path}: ${scheduleText(key)}`);
    return idOfName(by === 'branch' ? `${path}: ${key}` : `${path}!${key}`);
  };
  const named = (name: string) => memoizeIn(known, name, NAMES_MAX, () => idOf(name));
  return {
    ...{ kind: by, subjects: new Map(), named, nameOf, neverLive: true },
    ...(by === 'user' && { byDay: true }),
  };
}

/** `schedule k3Jx… on main`; schedules of a branch are one row if GitLab does not distinguish them. */
function scheduleText(key: string): string {
  const [digest = '', ref = ''] = key.split(' ');
  const which = digest === '' ? 'schedules' : `schedule ${digest}`;
  return ref === '' ? which : `${which} on ${ref}`;
}

const groupsBelow = (subject: string, { roots, childrenOf }: Places): readonly number[] =>
  (subject === 'instance' ? roots : (childrenOf.get(sheetRowId(subject)) ?? [])).map(({ id }) => id);

const projectsBelow = (subject: string, { directory }: Places): readonly number[] =>
  [...directory.projectById.keys()].filter(
    (id) => subject === 'instance' || isWithin(`project/${id}`, subject, directory),
  );

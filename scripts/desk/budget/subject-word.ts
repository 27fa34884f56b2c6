import { placeOf } from '../../../functions/limits/csv/placed-entries.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import { type Directory, pathKey } from '../../../policies/place/directory.ts';
import { UsageError } from '../command.ts';

/** How a subject is written on the command line, for help texts. */
export const SUBJECT_HELP = `  <group>              a full path such as acme/payments, or GitLab's id; also instance, a project's path,
                       project/7, runner-class/large, user/5, personal, or "groups/acme/team-*"`;

/** @throws {UsageError} if nobody is called like this. */
export function subjectOfWord(word: string, directory: Directory): string {
  const group = directory.groupByPath.get(pathKey(word));
  if (group !== undefined) return `group/${group.id}`;
  // An id is taken even where the directory does not know it: it may be younger than the last sync.
  if (/^[1-9]\d{0,14}$/.test(word)) return `group/${word}`;
  const project = directory.projectByPath.get(pathKey(word));
  if (project !== undefined) return `project/${project.id}`;
  if (placeOf(word) !== undefined) return word;
  throw new UsageError(
    `"${word}": the directory knows no group or project of this path; expected a path, GitLab's id of a group, or a subject such as project/7`,
  );
}

/** What people call a subject: the path of a group or project, else as it is written. */
export function subjectLabel(subject: string, directory: Directory): string {
  const [kind, id] = subject.split('/');
  if (kind === 'group') return directory.groupById.get(Number(id))?.path ?? subject;
  return (kind === 'project' ? directory.projectById.get(Number(id))?.path : undefined) ?? subject;
}

/** Ids of the limits that stand on a subject itself. */
export const limitIdsOn = (subject: string, limits: LimitSet): readonly string[] =>
  (limits.bySubject.get(subject) ?? []).map(({ id }) => id);

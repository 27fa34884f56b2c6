import { isSubject } from '../../../functions/answers/limits/edits.ts';
import { closest } from '../../../policies/document/reading.ts';
import { capOf, capWords } from '../../../policies/limits/cap.ts';
import { type Directory, pathKey } from '../../../policies/place/directory.ts';
import { runnerClassNames } from '../../../policies/prices/price.ts';
import { UsageError } from '../../terminal/command.ts';
import type { BudgetContext } from '../api/open-api.ts';
import { ownLimits } from './pick-limit.ts';

/** Forms of a subject on the command line, for help texts. */
export const SUBJECT_HELP = `  <group>              a full path such as acme/payments, or GitLab's id; also instance, a project's path,
                       project/7, runner-class/large, user/5, personal, "groups/acme/team-*", or group/101/each/pipeline`;

/** @throws {UsageError} for an unknown name. */
export function subjectOfWord(word: string, directory: Directory): string {
  const group = directory.groupByPath.get(pathKey(word));
  if (group !== undefined) return `group/${group.id}`;
  // An id is taken even where the directory does not know it: it may be younger than the last sync.
  if (/^[1-9]\d{0,14}$/.test(word)) return `group/${word}`;
  const project = directory.projectByPath.get(pathKey(word));
  if (project !== undefined) return `project/${project.id}`;
  if (isSubject(word)) return word;
  const like = closest(pathKey(word), [...directory.groupByPath.keys(), ...directory.projectByPath.keys()]);
  const hint =
    like === undefined
      ? `expected a path, GitLab's id of a group, or a subject such as project/7`
      : `did you mean ${like}?`;
  throw new UsageError(`"${word}": the directory knows no group or project of this path; ${hint}`);
}

/**
 * The same of a subject that is only looked at: what neither the directory nor a limit knows has nothing to show, and
 * would look as if it had no limit. @throws {UsageError}
 */
export async function knownSubject(
  word: string,
  { api, directory, policy }: Pick<BudgetContext, 'api' | 'directory' | 'policy'>,
): Promise<string> {
  const subject = subjectOfWord(word, directory);
  if ((await ownLimits(subject, { api })).length > 0) return subject;
  const [kind, name = ''] = subject.split('/');
  if (kind === 'group' && !directory.groupById.has(Number(name))) throw unknownId(word, 'group');
  if (kind === 'project' && !directory.projectById.has(Number(name))) throw unknownId(word, 'project');
  const classes = runnerClassNames(policy.prices);
  if (kind !== 'runner-class' || classes.includes(name)) return subject;
  const like = closest(name, classes);
  const hint = like === undefined ? `expected ${classes.join(', ')}` : `did you mean runner-class/${like}?`;
  throw new UsageError(`"${word}": is no runner class of the policy; ${hint}`);
}

const unknownId = (word: string, what: 'group' | 'project'): UsageError =>
  new UsageError(`"${word}": the directory knows no ${what} of this id; expected a path, or an id it has`);

/** Returns the path of a group or project, else the subject itself. */
export function subjectWord(subject: string, directory: Directory): string {
  const cap = capOf(subject);
  if (cap !== undefined) return `${capWords(cap.kind)} of ${subjectWord(cap.place, directory)}`;
  const [kind, id] = subject.split('/');
  if (kind === 'group') return directory.groupById.get(Number(id))?.path ?? subject;
  return (kind === 'project' ? directory.projectById.get(Number(id))?.path : undefined) ?? subject;
}

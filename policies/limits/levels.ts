import type { Job } from '../checked-job.ts';
import type { PlacedGroup } from '../place/placement.ts';
import type { Limit } from './limit.ts';
import { defaultsOf, type LimitSet, limitsOn, withDefaults } from './limits.ts';
import { validAt } from './validity.ts';

/** One subject a job counts for, and its limits. */
export interface SubjectLimits {
  /** What a person calls it. Computed when asked for: most jobs meet no limit. */
  readonly label: () => string;
  readonly limits: readonly Limit[];
}

/** One subject a job counts for. */
interface JobSubject {
  readonly subject: string;
  /** What a person calls it. */
  readonly label: () => string;
  /** Those it is asked for at an instant: its own, and for a group those it has by default. */
  readonly limits: (set: LimitSet, nowMs: number) => readonly Limit[];
}

/** The subjects of a job that have limits now: instance → root → … → its group → project → runner class → runner → user. */
export function subjectLimitsOf(job: Job, set: LimitSet): readonly SubjectLimits[] {
  const levels: SubjectLimits[] = [];
  for (const { label, limits: limitsIn } of subjectsOf(job)) {
    const limits = limitsIn(set, job.nowMs);
    if (limits.length > 0) levels.push({ label, limits });
  }
  return levels;
}

/** All of them, with limits or without, in the same order. */
export function subjectsOf({ request, placement, runnerClass }: Job): readonly JobSubject[] {
  const subjects: JobSubject[] = [];
  const add = (subject: string, label: () => string): void => {
    subjects.push({ subject, label, limits: (set, nowMs) => validAt(limitsOn(set, subject), nowMs) });
  };
  const { ancestors, personal, projectId, projectPath, userId } = placement;
  add('instance', () => 'the whole GitLab');
  for (const group of ancestors) {
    const subject = subjectKey({ kind: 'group', id: group.id });
    subjects.push({
      subject,
      label: () => groupLabel(group, personal),
      limits: (set, nowMs) => limitsOfGroup(set, { ...group, personal }, nowMs),
    });
  }
  if (projectId !== undefined)
    add(subjectKey({ kind: 'project', id: projectId }), () => `project ${projectPath ?? projectId}`);
  const { name } = runnerClass;
  add(subjectKey({ kind: 'runner-class', name }), () => `runner class ${name}`);
  const { runnerId } = request;
  if (runnerId !== undefined) add(subjectKey({ kind: 'runner', id: runnerId }), () => `runner ${runnerId}`);
  if (userId !== undefined) add(subjectKey({ kind: 'user', id: userId }), () => `user ${userId}`);
  return subjects;
}

/** What a group or personal namespace is asked for at an instant: its own limits, and the default ones of the kinds it has none of. */
export function limitsOfGroup(
  set: LimitSet,
  group: { readonly id: number; readonly path?: string; readonly personal: boolean },
  nowMs: number,
): readonly Limit[] {
  const subject = subjectKey({ kind: 'group', id: group.id });
  const own = validAt(limitsOn(set, subject), nowMs);
  return withDefaults(own, validAt(defaultsOf(set, group), nowMs), subject);
}

const groupLabel = ({ id, path }: PlacedGroup, personal: boolean): string =>
  `${personal ? 'personal namespace' : 'group'} ${path ?? id}`;

/** What a limit counts for. Ids, never paths: groups are renamed and moved. */
type Subject =
  | { readonly kind: 'instance' }
  | { readonly kind: 'group'; readonly id: number }
  | { readonly kind: 'project'; readonly id: number }
  | { readonly kind: 'runner-class'; readonly name: string }
  | { readonly kind: 'runner'; readonly id: number }
  | { readonly kind: 'user'; readonly id: number };

/** One word per subject, used in counter keys, logs and index look-ups: `instance`, `group/101`, `runner-class/large`. */
export function subjectKey(subject: Subject): string {
  switch (subject.kind) {
    case 'instance':
      return 'instance';
    case 'runner-class':
      return `runner-class/${subject.name}`;
    case 'group':
    case 'project':
    case 'runner':
    case 'user':
      return `${subject.kind}/${subject.id}`;
  }
}

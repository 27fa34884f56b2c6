import type { Job } from '../job.ts';
import type { PlacedGroup } from '../place/placement.ts';
import { type Limit, type LimitSet, limitsOn, personalLimitsOn } from './limits.ts';
import { subjectKey } from './subject.ts';

/** One subject a job counts for, and its limits. */
export interface Level {
  /** What a person calls it. Computed when asked for: most jobs meet no limit. */
  readonly label: () => string;
  readonly limits: readonly Limit[];
}

/** The subjects of a job that have limits: instance → root → … → its group → project → runner class → runner → user. */
export function levelsOf({ request, placement, runnerClass }: Job, set: LimitSet): readonly Level[] {
  const levels: Level[] = [];
  const add = (limits: readonly Limit[], label: () => string): void => {
    if (limits.length > 0) levels.push({ label, limits });
  };
  const { ancestors, personal, projectId, projectPath, userId } = placement;
  add(limitsOn(set, 'instance'), () => 'the whole GitLab');
  for (const group of ancestors) {
    const subject = subjectKey({ kind: 'group', id: group.id });
    const limits = personal ? personalLimitsOn(set, subject) : limitsOn(set, subject);
    add(limits, () => groupLabel(group, personal));
  }
  if (projectId !== undefined) {
    const limits = limitsOn(set, subjectKey({ kind: 'project', id: projectId }));
    add(limits, () => `project ${projectPath ?? projectId}`);
  }
  const { name } = runnerClass;
  add(limitsOn(set, subjectKey({ kind: 'runner-class', name })), () => `runner class ${name}`);
  const { runnerId } = request;
  if (runnerId !== undefined)
    add(limitsOn(set, subjectKey({ kind: 'runner', id: runnerId })), () => `runner ${runnerId}`);
  if (userId !== undefined)
    add(limitsOn(set, subjectKey({ kind: 'user', id: userId })), () => `user ${userId}`);
  return levels;
}

const groupLabel = ({ id, path }: PlacedGroup, personal: boolean): string =>
  `${personal ? 'personal namespace' : 'group'} ${path ?? id}`;

import type { JobTruth } from '../gitlab/job-truth.ts';

/**
 * What jobs that share counters have in common: their top-level group, by the first part of their path. Only for putting
 * them side by side; a project without a path stands alone.
 */
export function rootOf({ projectPath, projectId }: JobTruth): string {
  const slash = projectPath?.indexOf('/') ?? -1;
  return slash > 0 && projectPath !== undefined
    ? projectPath.slice(0, slash).toLowerCase()
    : `project/${projectId}`;
}

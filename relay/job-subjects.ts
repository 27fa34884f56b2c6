/** What limits may be on, as far as a request says by itself: the subjects of a job in the words of `subjectKey`. */
import type { AdmissionRequest } from '../policies/request/request.ts';
import { projectOf } from './commit/batch-job.ts';

/** @param groups - ids of the groups that are known to be above it. */
export function subjectsOf(request: AdmissionRequest, groups: readonly number[]): readonly string[] {
  const project = projectSubject(request);
  const runner = runnerSubject(request);
  const { namespaceId, rootNamespaceId, userId, runnerId } = request;
  const subjects = new Set(['instance', project, `${project} ${runner ?? ''}`]);
  for (const id of [namespaceId, rootNamespaceId, ...groups])
    if (id !== undefined) subjects.add(`group/${id}`);
  if (userId !== undefined) subjects.add(`user/${userId}`);
  if (runnerId !== undefined) subjects.add(`runner/${runnerId}`);
  if (runner !== undefined) subjects.add(runner);
  return [...subjects];
}

export const projectSubject = (request: AdmissionRequest): string => `project/${projectOf(request)}`;

/** A runner class is not named in a request; its runner's tags make it. */
export const runnerSubject = ({ runnerTags }: AdmissionRequest): string | undefined =>
  runnerTags === undefined ? undefined : `runner-tags/${[...runnerTags].sort().join(',')}`;

/** Jobs that ask the same: one of the pipeline before, or what GitLab makes of `retry`. Undefined: it has no name. */
export const kindOfJob = (request: AdmissionRequest): string | undefined =>
  request.jobName === undefined
    ? undefined
    : JSON.stringify([projectOf(request), request.jobName, runnerSubject(request) ?? '']);

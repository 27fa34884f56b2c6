/**
 * A question may decode and yet be read wrongly: another field stands where one is looked for. What cannot be true of any
 * job tells that. Two texts that changed places, e.g. image and job name, do not: nothing tells them apart.
 */
import { type Directory, pathKey } from '../policies/place/directory.ts';
import type { AdmissionRequest } from '../policies/request/request.ts';

/** GitLab takes no longer timeout: one month. */
const TIMEOUT_SECONDS_MAX = 31 * 86_400;
/** Jobs remembered: an id that is asked about again within so many is the same job's. */
export const JOBS_REMEMBERED = 1_000;
/** `group/project`: no space, no empty part. */
const PROJECT_PATH = /^[^\s/]+(?:\/[^\s/]+)+$/;

export type Plausibility =
  | 'plausible'
  /** True of no job. */
  | 'impossible'
  /** Against the directory, which is some minutes or days old: a single project may have been renamed. */
  | 'against_directory';

export type JudgePlausibility = (request: AdmissionRequest) => Plausibility;

/** @param current - the directory of now; undefined: none, or too old to judge by. */
export function plausibilityJudge(current: () => Directory | undefined): JudgePlausibility {
  const ownerByJob = new Map<number, string>();
  return (request) => {
    if (!isPossible(request) || isAnotherJob(request, ownerByJob)) return 'impossible';
    const directory = current();
    return directory !== undefined && contradicts(directory, request) ? 'against_directory' : 'plausible';
  };
}

const isPossible = ({ projectPath, timeoutSeconds }: AdmissionRequest): boolean =>
  (projectPath === undefined || PROJECT_PATH.test(projectPath)) &&
  (timeoutSeconds === undefined || timeoutSeconds <= TIMEOUT_SECONDS_MAX);

/** A job belongs to one pipeline of one project for ever. The oldest are forgotten. */
function isAnotherJob(
  { jobId, pipelineId, projectId, projectPath }: AdmissionRequest,
  ownerByJob: Map<number, string>,
): boolean {
  const owner = `${projectId ?? projectPath} ${pipelineId}`;
  const known = ownerByJob.get(jobId);
  if (known !== undefined) return known !== owner;
  ownerByJob.set(jobId, owner);
  const [oldest] = ownerByJob.keys();
  if (ownerByJob.size > JOBS_REMEMBERED && oldest !== undefined) ownerByJob.delete(oldest);
  return false;
}

/** The directory knows both, the project by its id and the path, and they are two projects. */
function contradicts(directory: Directory, { projectId, projectPath }: AdmissionRequest): boolean {
  if (projectId === undefined || projectPath === undefined) return false;
  const byPath = directory.projectByPath.get(pathKey(projectPath));
  return byPath !== undefined && byPath.id !== projectId && directory.projectById.has(projectId);
}

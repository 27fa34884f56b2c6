/**
 * A cap is a limit that every pipeline, user, … of a place has by itself: it is written once, on `group/101/each/pipeline`, and each
 * pipeline has a counter of its own, `group/101/each/pipeline/987`.
 */
import type { Placement } from '../place/placement.ts';
import type { AdmissionRequest } from '../request/request.ts';

/** `pipeline_job` is a job's name within one pipeline: what a retry has in common with the job it repeats. */
export const CAP_KINDS = ['pipeline', 'job', 'pipeline_job', 'user'] as const;

export type CapKind = (typeof CAP_KINDS)[number];

/** What a job is to a cap: the name of its own counter, or the field that is missing to tell. */
type CapName =
  | { readonly name: string; readonly label: string; readonly missing?: never }
  | { readonly missing: string; readonly name?: never };

const EACH = '/each/';
const CAP = /^(instance|group\/\d+|project\/\d+)\/each\/(\w+)(?:\/(.+))?$/s;
const OF_ONE_PIPELINE: readonly string[] = ['pipeline', 'pipeline_job'] satisfies readonly CapKind[];

/** `group/101`, `pipeline` → `group/101/each/pipeline`. */
export const capSubject = (place: string, kind: CapKind): string => `${place}${EACH}${kind}`;

/** The parts of a cap's subject, or of the subject of one of its counters; undefined: it is no cap's. */
export function capOf(
  subject: string,
): { readonly place: string; readonly kind: CapKind; readonly name?: string } | undefined {
  if (!isCap(subject)) return undefined;
  const [, place, written, name] = CAP.exec(subject) ?? [];
  const kind = CAP_KINDS.find((each) => each === written);
  if (place === undefined || kind === undefined) return undefined;
  return { place, kind, ...(name !== undefined && { name }) };
}

export const isCap = (subject: string): boolean => subject.includes(EACH);

/** Whose limits a subject's are: of a cap, the place that it is written for. */
export const placeOfSubject = (subject: string): string => capOf(subject)?.place ?? subject;

/** The user whose counter it is. */
export function userOfSubject(subject: string): string | undefined {
  if (subject.startsWith('user/')) return subject.slice('user/'.length);
  const cap = capOf(subject);
  return cap?.kind === 'user' ? cap.name : undefined;
}

/** Whether what it counts is over with its pipeline. */
export function endsWithPipeline(subject: string): boolean {
  const cap = capOf(subject);
  return cap !== undefined && OF_ONE_PIPELINE.includes(cap.kind);
}

/** Whether jobs of several root groups may count in it. */
export const capSpansRoots = (subject: string): boolean => {
  const cap = capOf(subject);
  return cap?.place === 'instance' && cap.kind === 'user';
};

/** What people call it: `each pipeline`, `each job name`. */
export const capWords = (kind: CapKind): string => `each ${CAP_WORDS[kind]}`;

const CAP_WORDS: Readonly<Record<CapKind, string>> = {
  pipeline: 'pipeline',
  job: 'job name',
  pipeline_job: 'job name in a pipeline',
  user: 'user',
};

/** Longer names share a counter with those that begin alike: a key has its bound. */
const JOB_NAME_CHARACTERS_MAX = 200;
/** What stands between the parts of a counter's name. */
const SEPARATORS = /[%|#\n\r]/g;

/** Which of a cap's counters a job counts in; undefined: the cap is not about such jobs. */
export function capNameOf(
  kind: CapKind,
  request: AdmissionRequest,
  { projectId, projectPath, userId }: Pick<Placement, 'projectId' | 'projectPath' | 'userId'>,
): CapName | undefined {
  const { pipelineId } = request;
  const label = request.jobName?.slice(0, JOB_NAME_CHARACTERS_MAX).toWellFormed();
  const jobName = label?.replace(SEPARATORS, encodeURIComponent);
  switch (kind) {
    case 'pipeline':
      if (pipelineId === undefined) return { missing: 'pipelineId' };
      return { name: String(pipelineId), label: `pipeline ${pipelineId}` };
    case 'job':
      if (projectId === undefined) return { missing: 'projectId' };
      if (jobName === undefined) return { missing: 'jobName' };
      return {
        name: `${projectId}/${jobName}`,
        label: `job '${label}' of ${projectPath ?? `project ${projectId}`}`,
      };
    case 'pipeline_job':
      if (pipelineId === undefined) return { missing: 'pipelineId' };
      if (jobName === undefined) return { missing: 'jobName' };
      return { name: `${pipelineId}/${jobName}`, label: `job '${label}' of pipeline ${pipelineId}` };
    case 'user':
      return userId === undefined ? { missing: 'userId' } : { name: String(userId), label: `user ${userId}` };
  }
}

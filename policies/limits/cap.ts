/**
 * A cap is a limit that every pipeline, user, … of a place has alone: it is written once, on `group/101/each/pipeline`, and each
 * pipeline has a counter of its own, `group/101/each/pipeline/987`.
 */

import type { Placement } from '../placement.ts';
import type { AdmissionRequest } from '../request/request.ts';

/** `pipeline_job` is a job's name within one pipeline: what a retry has in common with the job it repeats. */
export const CAP_KINDS = [
  'pipeline',
  'merge_request',
  'job',
  'pipeline_job',
  'user',
  'bot',
  'schedule',
] as const;

export type CapKind = (typeof CAP_KINDS)[number];

type CapName =
  | { readonly name: string; readonly label: string; readonly missing?: never }
  | { readonly missing: string; readonly name?: never };

const EACH = '/each/';
const CAP = /^(instance|group\/\d+|project\/\d+)\/each\/(\w+)(?:\/(.+))?$/s;
const ENDING: readonly CapKind[] = ['pipeline', 'pipeline_job', 'merge_request'];
const OF_USERS: readonly CapKind[] = ['user', 'bot'];

export const capSubject = (place: string, kind: CapKind): string => `${place}${EACH}${kind}`;

export function parseCap(subject: string) {
  if (!isCap(subject)) return undefined;
  const [, place, written, name] = CAP.exec(subject) ?? [];
  const kind = CAP_KINDS.find((each) => each === written);
  if (place === undefined || kind === undefined) return undefined;
  return { place, kind, ...(name !== undefined && { name }) };
}

export const isCap = (subject: string): boolean => subject.includes(EACH);

export const placeOfSubject = (subject: string): string => parseCap(subject)?.place ?? subject;

export function userOfSubject(subject: string): string | undefined {
  if (subject.startsWith('user/')) return subject.slice('user/'.length);
  const cap = parseCap(subject);
  return cap !== undefined && OF_USERS.includes(cap.kind) ? cap.name : undefined;
}

export function endsWithPipeline(subject: string): boolean {
  const cap = parseCap(subject);
  return cap !== undefined && ENDING.includes(cap.kind);
}

export const capSpansRoots = (subject: string): boolean => {
  const cap = parseCap(subject);
  return cap?.place === 'instance' && OF_USERS.includes(cap.kind);
};

export const capWords = (kind: CapKind): string => `each ${CAP_WORDS[kind]}`;

const CAP_WORDS: Readonly<Record<CapKind, string>> = {
  pipeline: 'pipeline',
  merge_request: 'merge request',
  job: 'job name',
  pipeline_job: 'job name in a pipeline',
  user: 'user',
  bot: 'bot',
  schedule: 'schedule',
};

/** Longer names share a counter with those that begin alike: a key has its bound. */
const JOB_NAME_CHARACTERS_MAX = 200;
const SEPARATORS = /[%|#\n\r]/g;

/** Pipelines that have a merge request: its own, and those they start in the same project. */
const MERGE_REQUEST_SOURCES: readonly string[] = ['merge_request_event', 'parent_pipeline'];

/** Which of a cap's counters a job counts in; undefined: the cap is not about such jobs. */
export function capNameOf(
  kind: CapKind,
  request: AdmissionRequest,
  { projectId, projectPath, userId }: Pick<Placement, 'projectId' | 'projectPath' | 'userId'>,
): CapName | undefined {
  const { pipelineId, pipelineSource: source, mergeRequestId, scheduleDigest, byBot } = request;
  const project = projectPath ?? `project ${projectId}`;
  const written = request.jobName?.slice(0, JOB_NAME_CHARACTERS_MAX).toWellFormed();
  const jobName = written?.replace(SEPARATORS, encodeURIComponent);
  const named = (label: string, parts: Readonly<Record<string, number | string | undefined>>): CapName => {
    const missing = Object.keys(parts).find((field) => parts[field] === undefined);
    return missing === undefined ? { name: Object.values(parts).join('/'), label } : { missing };
  };
  switch (kind) {
    case 'pipeline':
      return named(`pipeline ${pipelineId}`, { pipelineId });
    case 'job':
      return named(`job '${written}' of ${project}`, { projectId, jobName });
    case 'pipeline_job':
      return named(`job '${written}' of pipeline ${pipelineId}`, { pipelineId, jobName });
    case 'merge_request':
      if (source === undefined) return { missing: 'pipelineSource' };
      if (!MERGE_REQUEST_SOURCES.includes(source)) return undefined;
      // A pipeline that another one started may have none.
      if (mergeRequestId === undefined && source !== 'merge_request_event') return undefined;
      return named(mergeRequestLabel(mergeRequestId, request), { mergeRequestId });
    case 'schedule':
      if (source === undefined) return { missing: 'pipelineSource' };
      return source === 'schedule'
        ? named(`this schedule of ${project}`, {
            projectId,
            scheduleDigest: scheduleDigest?.replace(SEPARATORS, encodeURIComponent),
          })
        : undefined;
    case 'bot':
      if (byBot === undefined) return { missing: 'byBot' };
      return byBot ? named(`bot ${userId}`, { userId }) : undefined;
    case 'user':
      return named(`user ${userId}`, { userId });
  }
}

function mergeRequestLabel(id: number | undefined, { variables }: AdmissionRequest): string {
  const iid = variables?.CI_MERGE_REQUEST_IID;
  return iid !== undefined && /^\d{1,10}$/.test(iid) ? `merge request !${iid}` : `merge request ${id}`;
}

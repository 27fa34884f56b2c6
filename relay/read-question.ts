import { keepLatest } from '../policies/keep-latest.ts';
import { type Directory, pathKey } from '../policies/place/directory.ts';
import type { AdmissionRequest } from '../policies/request/request.ts';
import type { RelayObserver } from './events.ts';
import type { ReadQuestion } from './translate/question-reader.ts';
import type { SchemaProof } from './wire/schema-proof.ts';

export type QuestionOutcome =
  | { readonly ok: true; readonly request: AdmissionRequest }
  /** The project is named only where the job itself may have brought this about. */
  | { readonly ok: false; readonly cause: 'unreadable' | 'oversized'; readonly projectId?: number };

interface ReadQuestionDeps {
  readonly read: ReadQuestion;
  readonly judge: JudgePlausibility;
  readonly proof: Pick<SchemaProof, 'note'>;
  readonly observe: RelayObserver;
}

/** Reads one question, and what it says about the schema. */
export function createQuestionReader(deps: ReadQuestionDeps): (bytes: Uint8Array) => QuestionOutcome {
  const { observe, proof } = deps;

  return (bytes) => {
    const read = deps.read(bytes);
    if (read.unknown.length > 0) observe({ type: 'unknown_fields', fields: read.unknown });
    if (!read.ok) {
      const { cause, problem, blame, projectId } = read;
      observe({ type: 'unreadable', problem, sizeBytes: bytes.length });
      const jobs = blame === 'job' && projectId !== undefined;
      // Size says nothing about the schema: any job can be large.
      if (cause !== 'oversized') {
        proof.note(jobs ? { kind: 'broken', project: String(projectId) } : { kind: 'contradicted' });
      }
      return { ok: false, cause, ...(jobs && { projectId }) };
    }
    const { request, suspicious } = read;
    if (suspicious.length > 0) observe({ type: 'suspicious', jobId: request.jobId, fields: suspicious });
    noteRead(request);
    return { ok: true, request };
  };

  function noteRead(request: AdmissionRequest): void {
    const { jobId, projectId } = request;
    const project = projectId === undefined ? request.projectPath : String(projectId);
    const plausibility = deps.judge(request);
    if (plausibility === 'plausible') {
      proof.note({ kind: 'explained', jobId, project });
      return;
    }
    observe({ type: 'implausible', jobId, why: plausibility });
    proof.note(
      plausibility === 'impossible' || project === undefined
        ? { kind: 'contradicted' }
        : { kind: 'broken', project },
    );
  }
}

/*
 * A question may decode and yet be read wrongly: another field stands where one is looked for. What cannot be true of any
 * job tells that. Two texts that changed places, e.g. image and job name, do not: nothing tells them apart.
 */
/** GitLab takes no longer timeout: one month. */
const TIMEOUT_SECONDS_MAX = 31 * 86_400;
/** Jobs remembered: an id that is asked about again within so many is the same job's. */
export const JOBS_REMEMBERED = 1_000;
/** `group/project`: no space, no empty part. */
const PROJECT_PATH = /^[^\s/]+(?:\/[^\s/]+)+$/;

type Plausibility =
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
  keepLatest(ownerByJob, jobId, owner, JOBS_REMEMBERED);
  return false;
}

/** The directory knows both, the project by its id and the path, and they are two projects. */
function contradicts(directory: Directory, { projectId, projectPath }: AdmissionRequest): boolean {
  if (projectId === undefined || projectPath === undefined) return false;
  const byPath = directory.projectByPath.get(pathKey(projectPath));
  return byPath !== undefined && byPath.id !== projectId && directory.projectById.has(projectId);
}

import type { AdmissionRequest } from '../policies/request/request.ts';
import type { Observe } from './events.ts';
import type { JudgePlausibility } from './plausibility.ts';
import type { Translate } from './translate/translator.ts';
import type { Decoded } from './wire/decode.ts';
import type { SchemaProof } from './wire/schema-proof.ts';

/** Decoding blocks everybody else; what GitLab sends of one job, all variables included, is far below. */
export const QUESTION_BYTES_MAX = 4 * 1024 * 1024;

export type Read =
  | { readonly ok: true; readonly request: AdmissionRequest }
  /** The project is named only where the job itself may have brought this about. */
  | { readonly ok: false; readonly cause: 'unreadable' | 'oversized'; readonly projectId?: number };

export interface ReadQuestionDeps {
  readonly decode: (bytes: Uint8Array) => Decoded;
  /** Of a question too large to decode. */
  readonly findProject: (bytes: Uint8Array) => number | undefined;
  readonly translate: Translate;
  readonly judge: JudgePlausibility;
  readonly proof: Pick<SchemaProof, 'note'>;
  readonly observe: Observe;
}

/** Reads one question, and what it says about the schema. */
export function createQuestionReader(deps: ReadQuestionDeps): (bytes: Uint8Array) => Read {
  const { observe, proof } = deps;

  return (bytes) => {
    const sizeBytes = bytes.length;
    if (sizeBytes > QUESTION_BYTES_MAX) {
      observe({ type: 'unreadable', problem: `larger than ${QUESTION_BYTES_MAX} bytes`, sizeBytes });
      return unread('oversized', deps.findProject(bytes));
    }
    const decoded = deps.decode(bytes);
    if (!decoded.ok) {
      observe({ type: 'unreadable', problem: decoded.problem, sizeBytes });
      proof.note({ kind: 'contradicted' });
      return unread('unreadable', undefined);
    }
    if (decoded.unknown.length > 0) observe({ type: 'unknown_fields', fields: decoded.unknown });
    const translation = deps.translate(decoded.message);
    if (!translation.ok) {
      const { problem, projectId, blame } = translation;
      observe({ type: 'unreadable', problem, sizeBytes });
      const jobs = blame === 'job' && projectId !== undefined;
      proof.note(jobs ? { kind: 'broken', project: String(projectId) } : { kind: 'contradicted' });
      return unread('unreadable', jobs ? projectId : undefined);
    }
    const { request, suspicious } = translation;
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

const unread = (cause: 'unreadable' | 'oversized', projectId: number | undefined): Read => ({
  ok: false,
  cause,
  ...(projectId !== undefined && { projectId }),
});

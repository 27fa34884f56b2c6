import type { AdmissionRequest } from '../policies/request/request.ts';
import type { Observe } from './events.ts';
import type { JudgePlausibility } from './plausibility.ts';
import type { ReadQuestion } from './translate/question-reader.ts';
import type { SchemaProof } from './wire/schema-proof.ts';

export type Read =
  | { readonly ok: true; readonly request: AdmissionRequest }
  /** The project is named only where the job itself may have brought this about. */
  | { readonly ok: false; readonly cause: 'unreadable' | 'oversized'; readonly projectId?: number };

export interface ReadQuestionDeps {
  readonly read: ReadQuestion;
  readonly judge: JudgePlausibility;
  readonly proof: Pick<SchemaProof, 'note'>;
  readonly observe: Observe;
}

/** Reads one question, and what it says about the schema. */
export function createQuestionReader(deps: ReadQuestionDeps): (bytes: Uint8Array) => Read {
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

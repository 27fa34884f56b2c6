/**
 * GetJob, the runner's side of the job router. GitLab Runner's source describes it: one message each way with one
 * field, JSON that the router passes through.
 */
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { AdmissionResult } from './admission.ts';
import type { RegisteredController } from './controllers.ts';
import type { JobQuestion } from './messages.ts';

export const GET_JOB_PATH = '/gitlab.agent.job_router.rpc.JobRouter/GetJob';

/** `job_request` of the request, and `job_response` of the response. */
const JSON_FIELD = 1;

/** GitLab as its job router sees it. */
export interface RouterGitLab {
  /** In the order of their requests. Read again for every job and every stream. */
  controllers(): readonly RegisteredController[];
  /** Notes that a relay used a controller's token. */
  tokenUsed(token: string): void;
  /** Starts the oldest job that this runner may take, and returns it. */
  requestJob(runnerToken: string): JobRequestOutcome;
  /** Fails a rejected job with `job_router_failure`. */
  failJob(jobId: number, message: string): void;
}

export type JobRequestOutcome =
  | { readonly kind: 'refused' }
  | { readonly kind: 'none' }
  | {
      readonly kind: 'job';
      readonly jobId: number;
      readonly runnerId: number;
      /** The runner's response. It has the job token, so a controller never gets it. */
      readonly payload: object;
      readonly question: JobQuestion;
    };

/**
 * Returns the bytes of the response, or undefined for a runner token that GitLab does not know. A rejected job fails
 * in GitLab with the controller's reason; its runner gets no job.
 */
export async function answerGetJob(
  runnerToken: string,
  gitlab: RouterGitLab,
  admit: (question: JobQuestion, runnerId: number) => Promise<AdmissionResult>,
): Promise<Uint8Array | undefined> {
  const asked = gitlab.requestJob(runnerToken);
  if (asked.kind === 'refused') return undefined;
  if (asked.kind === 'none') return encodeGetJob(undefined);
  const admission = await admit(asked.question, asked.runnerId);
  const { result, reason = 'no reason was given', controllerId } = admission;
  if (result === 'admitted' || result === 'disabled') return encodeGetJob(asked.payload);
  gitlab.failJob(asked.jobId, `Runner controller ${controllerId}: ${reason}`);
  return encodeGetJob(undefined);
}

/** @param body - absent: there is no job. */
export function encodeGetJob(body: object | undefined): Uint8Array {
  const writer = new BinaryWriter();
  if (body !== undefined)
    writer.tag(JSON_FIELD, WireType.LengthDelimited).bytes(Buffer.from(JSON.stringify(body)));
  return writer.finish();
}

/** Returns the JSON of a request or a response, if there is any. @throws {Error} if it is neither message nor JSON. */
export function decodeGetJob(bytes: Uint8Array): unknown {
  const reader = new BinaryReader(bytes);
  let body: Uint8Array | undefined;
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === JSON_FIELD && wireType === WireType.LengthDelimited) body = reader.bytes();
    else reader.skip(wireType, number);
  }
  return body === undefined || body.length === 0 ? undefined : JSON.parse(Buffer.from(body).toString('utf8'));
}

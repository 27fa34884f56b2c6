/** Admission requests and responses on the wire, by the field names of a schema that is input. */
import { create, type DescMessage, fromBinary, fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { BytesValueSchema } from '@bufbuild/protobuf/wkt';
import type { WireSchema } from '../../../relay/wire/schema.ts';
import type { AdmissionResult, RegisteredController } from './admission.ts';

export type RouterJob = Readonly<Record<string, unknown>>;

/**
 * Returns an encoder for a message. It leaves out keys that the schema does not have, as an older GitLab would.
 *
 * @param strict - refuses such keys instead.
 */
export const requestEncoder =
  (desc: DescMessage, strict: boolean): ((job: RouterJob) => Uint8Array) =>
  (job) =>
    toBinary(desc, fromJson(desc, jsonOf(job), { ignoreUnknownFields: !strict }));

const jsonOf = (job: RouterJob): JsonValue =>
  JSON.parse(JSON.stringify(job, (_key, value) => (typeof value === 'bigint' ? String(value) : value)));

/** GitLab stores at most this many characters of a job message. A longer reason is invalid here. */
const REASON_CHARS_MAX = 10_000;

export type ControllerAnswer =
  | { readonly result: 'admitted' }
  | { readonly result: 'rejected'; readonly reason: string }
  | { readonly result: 'invalid'; readonly problem: string };

export function answerReader({ answer }: WireSchema): (bytes: Uint8Array) => ControllerAnswer {
  const variants = answer.oneofs.find(({ fields }) => fields.some(({ name }) => name === 'admitted'));
  if (variants === undefined) throw new Error(`${answer.typeName} has no oneof with a variant "admitted"`);
  const numbers = new Set(variants.fields.map((field) => field.number));
  return (bytes) => {
    try {
      const sent = countFields(bytes, numbers);
      if (sent !== 1) return invalid(`${sent} variants of ${variants.name} are set, must be one`);
      const message = reflect(answer, fromBinary(answer, bytes));
      const variant = message.oneofCase(variants);
      if (variant?.name === 'admitted') return { result: 'admitted' };
      if (variant?.fieldKind !== 'message') return invalid('the variant is not a message');
      return rejection(variant.message, message.get(variant).message);
    } catch (error) {
      return invalid(
        `does not parse as ${answer.typeName}: ${error instanceof Error ? error.message : error}`,
      );
    }
  };
}

function rejection(desc: DescMessage, message: Parameters<typeof reflect>[1]): ControllerAnswer {
  const field = desc.fields.find(({ name }) => name === 'reason');
  if (field === undefined) return invalid(`${desc.typeName} has no field "reason"`);
  const reason = String(reflect(desc, message).get(field));
  if (reason === '') return invalid('rejected.reason is empty');
  // GitLab counts characters, not UTF-16 units.
  if (reason.length > REASON_CHARS_MAX && [...reason].length > REASON_CHARS_MAX)
    return invalid(`rejected.reason is longer than ${REASON_CHARS_MAX} characters`);
  return { result: 'rejected', reason };
}

/** Counts on the wire: a protobuf reader keeps only the last variant of a oneof. */
function countFields(bytes: Uint8Array, numbers: ReadonlySet<number>): number {
  const reader = new BinaryReader(bytes);
  let count = 0;
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (numbers.has(number)) count += 1;
    reader.skip(wireType, number);
  }
  return count;
}

const invalid = (problem: string): ControllerAnswer => ({ result: 'invalid', problem });

/** The runner's side of the router: one message each way with one field, JSON that the router passes through. */
export const GET_JOB_PATH = '/gitlab.agent.job_router.rpc.JobRouter/GetJob';

export interface RouterGitLab {
  controllers(): readonly RegisteredController[];
  tokenUsed(token: string): void;
  requestJob(runnerToken: string): JobRequestOutcome;
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
      readonly request: RouterJob;
    };

/**
 * Returns the bytes of the response, or undefined for a runner token that GitLab does not know. A rejected job fails
 * in GitLab with the controller's reason; its runner gets no job.
 */
export async function answerGetJob(
  runnerToken: string,
  gitlab: RouterGitLab,
  admit: (request: RouterJob, runnerId: number) => Promise<AdmissionResult>,
): Promise<Uint8Array | undefined> {
  const request = gitlab.requestJob(runnerToken);
  if (request.kind === 'refused') return undefined;
  if (request.kind === 'none') return encodeGetJob(undefined);
  const admission = await admit(request.request, request.runnerId);
  const { result, reason = 'no reason was given', controllerId } = admission;
  if (result === 'admitted' || result === 'disabled') return encodeGetJob(request.payload);
  gitlab.failJob(request.jobId, `Runner controller ${controllerId}: ${reason}`);
  return encodeGetJob(undefined);
}

// The message's one field has the number and type of BytesValue's.
export const encodeGetJob = (body: object | undefined): Uint8Array =>
  toBinary(
    BytesValueSchema,
    create(BytesValueSchema, { value: Buffer.from(body === undefined ? '' : JSON.stringify(body)) }),
  );

export function decodeGetJob(bytes: Uint8Array): unknown {
  const { value } = fromBinary(BytesValueSchema, bytes);
  return value.length === 0 ? undefined : JSON.parse(Buffer.from(value).toString('utf8'));
}

/**
 * GetJob, the runner's side of the job router. GitLab Runner has its description in its own source: one message each way with
 * one field, JSON that the router passes through.
 */
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

export const GET_JOB_PATH = '/gitlab.agent.job_router.rpc.JobRouter/GetJob';

/** `job_request` of the request, and `job_response` of the response. */
const JSON_FIELD = 1;

/** @param body - absent: there is no job. */
export function encodeGetJob(body: object | undefined): Uint8Array {
  const writer = new BinaryWriter();
  if (body !== undefined)
    writer.tag(JSON_FIELD, WireType.LengthDelimited).bytes(Buffer.from(JSON.stringify(body)));
  return writer.finish();
}

/** The JSON of a request or a response; undefined: there is none in it. @throws {Error} if it is neither message nor JSON. */
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

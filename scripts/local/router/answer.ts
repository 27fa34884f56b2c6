import { type DescMessage, fromBinary } from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import type { WireSchema } from '../../../relay/wire/schema.ts';

/** GitLab stores at most this many characters of a job message; longer reasons are refused here, not cut. */
const REASON_CHARS_MAX = 10_000;

export type ControllerAnswer =
  | { readonly result: 'admitted' }
  | { readonly result: 'rejected'; readonly reason: string }
  | { readonly result: 'invalid'; readonly problem: string };

/** Reads and validates one AdmitJobResponse the way GitLab's own validation would. Never throws. */
export function answerReader(schema: WireSchema): (bytes: Uint8Array) => ControllerAnswer {
  const arms = schema.answer.oneofs.find((oneof) => oneof.fields.some((field) => field.name === 'admitted'));
  if (arms === undefined) throw new Error(`${schema.answer.typeName} has no oneof with an arm "admitted"`);
  const armNumbers = new Set(arms.fields.map((field) => field.number));
  return (bytes) => {
    try {
      const sent = armsOnTheWire(bytes, armNumbers);
      if (sent !== 1)
        return invalid(
          `${sent} of the arms ${arms.fields.map((field) => field.name).join(', ')} are set, must be one`,
        );
      const answer = reflect(schema.answer, fromBinary(schema.answer, bytes));
      const arm = answer.oneofCase(arms);
      if (arm?.name === 'admitted') return { result: 'admitted' };
      if (arm?.fieldKind !== 'message') return invalid('the arm set is not a message');
      return rejection(arm.message, answer.get(arm).message);
    } catch (error) {
      return invalid(
        `does not parse as ${schema.answer.typeName}: ${error instanceof Error ? error.message : error}`,
      );
    }
  };
}

function rejection(desc: DescMessage, message: Parameters<typeof reflect>[1]): ControllerAnswer {
  const field = desc.fields.find((candidate) => candidate.name === 'reason');
  if (field === undefined) return invalid(`${desc.typeName} has no field "reason"`);
  const reason = String(reflect(desc, message).get(field));
  if (reason === '') return invalid('rejected.reason is empty');
  // Characters, not UTF-16 units: this is how GitLab counts.
  if (reason.length > REASON_CHARS_MAX && [...reason].length > REASON_CHARS_MAX) {
    return invalid(`rejected.reason is longer than ${REASON_CHARS_MAX} characters`);
  }
  return { result: 'rejected', reason };
}

/** Protobuf lets the last arm win silently, so the arms are counted before decoding. */
function armsOnTheWire(bytes: Uint8Array, armNumbers: ReadonlySet<number>): number {
  const reader = new BinaryReader(bytes);
  let arms = 0;
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (armNumbers.has(number)) arms += 1;
    reader.skip(wireType, number);
  }
  return arms;
}

const invalid = (problem: string): ControllerAnswer => ({
  result: 'invalid',
  problem,
});

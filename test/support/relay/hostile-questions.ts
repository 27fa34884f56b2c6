/**
 * Questions that protobuf allows and no router sends: each as large as a question may be, and made of what costs most to
 * read. Keyed by what they are full of.
 */
import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { type MessageObject, resolvePath } from '../../../relay/translate/variables.ts';
import { READING_BOUNDS } from '../../../relay/wire/pass.ts';
import { requestEncoder } from '../../../scripts/local/router/messages.ts';

const JOB: MessageObject = { id: 7, job_info: { id: 7, project_id: 42 }, image: { name: '$A'.repeat(20) } };
const KILOBYTE = 'x'.repeat(1_000);

export function hostileQuestionBytes(desc: DescMessage): Readonly<Record<string, Uint8Array>> {
  const encode = requestEncoder(desc, true);
  const job = encode(JOB);
  const full = (unit: Uint8Array | ((index: number) => Uint8Array)): Uint8Array => filled(job, unit);
  const variable = (key: string, value = ''): Uint8Array => encode({ variables: [{ key, value }] });
  const service = (of: MessageObject): Uint8Array => encode({ services: [of] });
  return {
    'empty variables': full(encode({ variables: [{}] })),
    'variables with a name': full(variable('A')),
    'variables with other names': full((index) => variable(`A${index}`)),
    'one variable again and again': full((index) => variable('CI_PROJECT_ID', String(index))),
    'a long value again and again': full((index) => variable('CI_JOB_NAME', `${index}${KILOBYTE}`)),
    'labels of a pod': full((index) => variable('KUBERNETES_POD_LABELS_1', String(index))),
    numbers: full(encode({ id: 7 })),
    'long varints': full(raw(fieldOf(desc, 'id'), WireType.Varint, LONG_VARINT)),
    'unknown varints': full(unknown(900, WireType.Varint, [1])),
    'unknown long varints': full(unknown(900, WireType.Varint, LONG_VARINT)),
    'unknown fields, each another one': full((index) => unknown(1_000 + index, WireType.Varint, [1])),
    'unknown groups': full(unknown(900, WireType.StartGroup, [900 * 8 + WireType.EndGroup])),
    'groups in groups': full(
      Uint8Array.from(
        Array<number[]>(90)
          .fill([0x63])
          .concat(Array(90).fill([0x64]))
          .flat(),
      ),
    ),
    'one group of many numbers': filled(Buffer.concat([job, Uint8Array.of(0x63)]), Uint8Array.of(8, 1)),
    'fields of another form': full(raw(fieldOf(desc, 'id'), WireType.Bit32, [1, 1, 1, 1])),
    'empty messages': full(encode({ job_info: {} })),
    'messages in messages': full(encode({ image: { executor_opts: { docker: { user: 'a' } } } })),
    'image names': full(encode({ image: { name: 'registry.example.com/a/b:1' } })),
    'image names that are no text': full(
      raw(fieldOf(desc, 'image'), WireType.LengthDelimited, [4, 0x0a, 2, 0xff, 0xfe]),
    ),
    tags: full(encode({ job_info: { tags: ['a'] } })),
    'empty services': full(service({})),
    'services with variables': full(service({ name: 'a', variables: [{ key: 'A' }] })),
    'one service with variables': one(desc, 'services', filled(Uint8Array.of(), serviceVariable(desc))),
    'one image name': full(encode({ image: { name: 'x'.repeat(READING_BOUNDS.bytes - 200) } })),
    'one variable that is large': full(variable('APP_CONFIG', 'x'.repeat(READING_BOUNDS.bytes - 200))),
    'references in many services': filled(
      Buffer.concat([
        job,
        encode({
          variables: [{ key: 'A', value: KILOBYTE, public: true }],
          services: Array(100).fill({ name: '$A'.repeat(20) }),
        }),
      ]),
      variable('B', KILOBYTE),
    ),
  };
}

function filled(head: Uint8Array, unit: Uint8Array | ((index: number) => Uint8Array)): Uint8Array {
  const roomBytes = READING_BOUNDS.bytes - ROOM_BYTES - head.length;
  if (typeof unit !== 'function') {
    const units = Math.floor(roomBytes / unit.length);
    return Buffer.concat([head, Buffer.alloc(units * unit.length, unit)]);
  }
  const parts: Uint8Array[] = [head];
  for (let index = 0, sizeBytes = 0; ; index += 1) {
    const part = unit(index);
    sizeBytes += part.length;
    if (sizeBytes > roomBytes) return Buffer.concat(parts);
    parts.push(part);
  }
}

const ROOM_BYTES = 16;

/** The number one in ten bytes. */
const LONG_VARINT = [0x81, ...Array<number>(8).fill(0x80), 0];

function unknown(no: number, wireType: WireType, value: readonly number[]): Uint8Array {
  const writer = new BinaryWriter().tag(no, wireType);
  for (const one of value)
    wireType === WireType.StartGroup ? writer.uint32(one) : writer.raw(Uint8Array.of(one));
  return writer.finish();
}

const raw = (field: DescField, wireType: WireType, value: readonly number[]): Uint8Array =>
  new BinaryWriter().tag(field.number, wireType).raw(Uint8Array.from(value)).finish();

function one(desc: DescMessage, path: string, content: Uint8Array): Uint8Array {
  const { number } = fieldOf(desc, path);
  const id = new BinaryWriter().tag(fieldOf(desc, 'id').number, WireType.Varint).int64(7n);
  return id.tag(number, WireType.LengthDelimited).bytes(content).finish();
}

function serviceVariable(desc: DescMessage): Uint8Array {
  const services = fieldOf(desc, 'services');
  if (services.fieldKind !== 'list' || services.listKind !== 'message') throw new Error('no services');
  return requestEncoder(services.message, true)({ variables: [{ key: 'KUBERNETES_CPU_LIMIT', value: '1' }] });
}

function fieldOf(desc: DescMessage, path: string): DescField {
  const found = resolvePath(desc, path);
  if (found === undefined) throw new Error(`the schema has no ${path}`);
  return found.leaf;
}

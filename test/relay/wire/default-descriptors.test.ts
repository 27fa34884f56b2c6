import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { loadSchema } from '../../../relay/wire/schema.ts';

const folder = fileURLToPath(new URL('../../../relay/wire/proto', import.meta.url));
// It comes with grpc-js; a second parser is the point: the descriptors were made by another one.
const protobuf = createRequire(import.meta.url)('protobufjs') as ProtobufJs;

interface ProtobufJs {
  parse(
    source: string,
    options: { keepCase: boolean },
  ): { readonly root: Namespace; readonly package: string };
}
interface Namespace {
  lookup(path: string): (Namespace & { readonly nested?: Readonly<Record<string, Parsed>> }) | null;
}
interface Parsed {
  readonly fields?: Readonly<Record<string, ParsedField>>;
  readonly methods?: Readonly<Record<string, ParsedMethod>>;
}
interface ParsedField {
  readonly id: number;
  readonly type: string;
  readonly repeated: boolean;
  readonly partOf: { readonly name: string } | null;
}
interface ParsedMethod {
  readonly requestType: string;
  readonly responseType: string;
  readonly requestStream?: boolean;
  readonly responseStream?: boolean;
}

const lastPart = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

/** The sources as lines: one per field and method. */
function sourceLines(file: string): string[] {
  const { root, package: name } = protobuf.parse(readFileSync(join(folder, file), 'utf8'), {
    keepCase: true,
  });
  return Object.entries(root.lookup(name)?.nested ?? {}).flatMap(([type, { fields = {}, methods = {} }]) => [
    `${name}.${type}`,
    ...Object.entries(fields).map(([field, { id, type: of, repeated, partOf }]) =>
      line(
        type,
        field,
        id,
        lastPart(of),
        repeated,
        partOf === null || partOf.name.startsWith('_') ? '' : partOf.name,
      ),
    ),
    ...Object.entries(methods).map(
      ([method, { requestType, responseType, requestStream, responseStream }]) =>
        `${type}.${method} ${requestStream === true ? 'stream ' : ''}${lastPart(requestType)} → ${responseStream === true ? 'stream ' : ''}${lastPart(responseType)}`,
    ),
  ]);
}

const line = (
  type: string,
  field: string,
  id: number,
  of: string,
  repeated: boolean,
  oneof: string,
): string =>
  `${type}.${field} = ${id} ${repeated ? 'repeated ' : ''}${of}${oneof === '' ? '' : ` of ${oneof}`}`;

function typeOf(field: DescField): string {
  if (field.message !== undefined) return lastPart(field.message.typeName);
  return field.scalar === undefined ? 'enum' : (ScalarType[field.scalar] ?? '').toLowerCase();
}

function descriptorLines(): string[] {
  return [...loadSchema().registry].flatMap((type): string[] => {
    const name = lastPart('typeName' in type ? type.typeName : '');
    if (type.kind === 'message') {
      return [
        type.typeName,
        ...(type as DescMessage).fields.map((field) =>
          line(
            name,
            field.name,
            field.number,
            typeOf(field),
            field.fieldKind === 'list',
            field.oneof?.name ?? '',
          ),
        ),
      ];
    }
    if (type.kind !== 'service') return [];
    return [
      type.typeName,
      ...type.methods.map((method) => {
        const asks =
          method.methodKind === 'bidi_streaming' || method.methodKind === 'client_streaming' ? 'stream ' : '';
        const answers =
          method.methodKind === 'bidi_streaming' || method.methodKind === 'server_streaming' ? 'stream ' : '';
        return `${name}.${method.name} ${asks}${lastPart(method.input.typeName)} → ${answers}${lastPart(method.output.typeName)}`;
      }),
    ];
  });
}

test('the descriptors we ship are those of the .proto files beside them (else: npm run proto:build)', () => {
  const sources = ['agent_registrar.proto', 'runner_controller.proto'].flatMap(sourceLines);
  expect(sources.length).toBeGreaterThan(40);
  expect(descriptorLines().sort()).toEqual(sources.sort());
});

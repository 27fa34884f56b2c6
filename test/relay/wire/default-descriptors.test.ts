import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';

interface Namespace {
  readonly fullName: string;
  readonly nestedArray?: readonly Namespace[];
  readonly fields?: Readonly<Record<string, Field>>;
  readonly methods?: Readonly<Record<string, Method>>;
}
interface Field {
  readonly name: string;
  readonly id: number;
  readonly type: string;
  readonly repeated: boolean;
  readonly partOf: { readonly name: string } | null;
}
interface Method {
  readonly name: string;
  readonly requestType: string;
  readonly responseType: string;
  readonly requestStream?: boolean;
  readonly responseStream?: boolean;
}

// It comes with grpc-js. A second parser is the point: another one made the descriptors.
const require = createRequire(import.meta.url);
const protobuf = require('protobufjs') as {
  parse(source: string, options: { keepCase: boolean }): { readonly root: Namespace };
  readonly Root: { fromDescriptor(set: Uint8Array): Namespace };
};
require('protobufjs/ext/descriptor');

const read = (file: string) => readFileSync(new URL(`../../../relay/wire/${file}`, import.meta.url));
const lastPart = (name: string): string | undefined => name.split('.').at(-1);

/** One line per field and method. */
const linesOf = ({ fullName, nestedArray = [], fields = {}, methods = {} }: Namespace): readonly string[] => [
  ...Object.values(fields).map(
    ({ name, id, type, repeated, partOf }) =>
      `${fullName}.${name} = ${id} ${repeated} ${lastPart(type)} ${partOf?.name}`,
  ),
  ...Object.values(methods).map(
    ({ name, requestType, responseType, requestStream = false, responseStream = false }) =>
      `${fullName}.${name} ${requestStream} ${lastPart(requestType)} ${responseStream} ${lastPart(responseType)}`,
  ),
  ...nestedArray.flatMap(linesOf),
];

test('the descriptors in this repository are those of its .proto files (else: npm run proto:build)', () => {
  const sources = ['agent_registrar.proto', 'runner_controller.proto'].map(
    (file) => protobuf.parse(read(`proto/${file}`).toString(), { keepCase: true }).root,
  );
  const expected = sources.flatMap(linesOf);
  expect(expected.length).toBeGreaterThan(40);
  expect([...linesOf(protobuf.Root.fromDescriptor(read('default.binpb')))].sort()).toEqual(expected.sort());
});

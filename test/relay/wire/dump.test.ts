import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dumpWire, formatDump } from '../../../relay/wire/inspect.ts';
import { encodeKnown, loadSchema } from '../../../relay/wire/schema.ts';

const schema = loadSchema();
const bytes = encodeKnown(schema.question, {
  id: 123_456n,
  job_info: { id: 123_456n, name: 'unit tests', project_full_path: 'acme/app' },
  image: { name: 'registry.example.com/node:24' },
});

test('a question is shown by number, form and shape, without a schema and without its values', () => {
  expect(formatDump(dumpWire(bytes))).toBe(
    [
      '1 varint 3 B 6 digits',
      '2 message 26 B',
      '  1 varint 3 B 6 digits',
      '  2 text 10 B text 10',
      '  7 text 8 B path 8',
      '7 message 30 B',
      '  1 text 28 B path with tag 28',
    ].join('\n'),
  );
});

test('a value is shown only if the allowlist knows it', () => {
  const shown = formatDump(dumpWire(bytes, [/^acme\/app$/]));
  expect(shown).toContain('7 text 8 B "acme/app"');
  expect(shown).not.toContain('registry.example.com');
});

test('no text of a question is ever in its dump', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-zA-Z0-9!-~]{8,60}$/), (secret) => {
      const variable = new BinaryWriter()
        .tag(1, WireType.LengthDelimited)
        .string('KEY')
        .tag(2, WireType.LengthDelimited)
        .string(secret)
        .finish();
      const message = new BinaryWriter().tag(5, WireType.LengthDelimited).bytes(variable).finish();
      expect(formatDump(dumpWire(message))).not.toContain(secret);
    }),
  );
});

test('bytes that are no message are said to be none', () => {
  expect(formatDump(dumpWire(Uint8Array.from([0x0a, 0x7f])))).toContain('not readable');
});

test('no bytes can make the dump throw or grow without end', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2_000 }), (any) => {
      expect(formatDump(dumpWire(any)).split('\n').length).toBeLessThanOrEqual(502);
    }),
    { numRuns: 500 },
  );
});

test('of many fields of one kind a few are shown and the rest are counted', () => {
  // Seven times field 5, one byte long.
  const bytes = new Uint8Array(Array.from({ length: 7 }, () => [0x2a, 1, 0x61]).flat());
  const lines = formatDump(dumpWire(bytes)).split('\n');
  expect(lines).toHaveLength(5);
  expect(lines.at(-1)).toBe('5 … 3 more');
});

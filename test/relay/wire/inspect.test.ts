import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dumpWire, explain } from '../../../relay/wire/inspect.ts';
import { REASON_BYTES_MAX, wireReason } from '../../../relay/wire/reason.ts';
import { encodeKnown, loadSchema } from '../../../relay/wire/schema.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { range } from '../../support/relay/commit-bench.ts';
import { ODD_SCHEMA } from '../../support/relay/odd-schemas.ts';

describe('dump', () => {
  const schema = loadSchema();
  const bytes = encodeKnown(schema.request, {
    id: 123_456n,
    job_info: { id: 123_456n, name: 'unit tests', project_full_path: 'acme/app' },
    image: { name: 'registry.example.com/node:24' },
  });

  test('a question is shown by number, form and shape, without a schema and without its values', () => {
    expect(dumpWire(bytes)).toBe(
      [
        '1 varint 3 B 6 digits',
        '2 message 26 B',
        '  1 varint 3 B 6 digits',
        '  2 text 10 B text 10',
        '  7 text 8 B path 8',
        '7 message 30 B',
        '  1 text 28 B path 28',
      ].join('\n'),
    );
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
        expect(dumpWire(message)).not.toContain(secret);
      }),
    );
  });

  test('no bytes can make the dump throw or grow without end', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), (any) => {
        expect(dumpWire(any).split('\n').length).toBeLessThanOrEqual(502);
      }),
      { numRuns: propertyRuns(500) },
    );
  });
});

describe('explanation', () => {
  const { request: question } = loadSchema();
  const bytes = encodeKnown(question, { id: 42n, image: { name: 'node:24' } });

  test('the share of known bytes counts unknown fields with their tags', () => {
    const unknown = new BinaryWriter().tag(999, WireType.LengthDelimited).string('x'.repeat(20)).finish();
    const explanation = explain(question, Buffer.concat([bytes, unknown]));
    expect(explanation.totalBytes - explanation.knownBytes).toBe(unknown.length);
  });

  test('parts that translation does not read are looked into, as deep as they go', () => {
    // tree.child.child with a field that trees do not have, and one in another form.
    const tree = Uint8Array.from([0xf2, 1, 8, 0x0a, 6, 0x0a, 4, 0x38, 1, 0x10, 1]);
    expect(explain(ODD_SCHEMA, tree)).toMatchObject({
      unknown: ['tree.child.child.7:varint'],
      contradicted: ['tree.child.child.name (2) is varint, the schema says bytes'],
    });
  });
});

describe('reasons', () => {
  const FIRST = 'The budget of acme is used up: 1 200 € of 1 200 €.';
  const LINES = range(1, 20).map((line) => `  line ${line} with a word of Größe and 价格`);
  const DETAILS = `Details: https://console.example.com/${'j'.repeat(250)}`;
  const DECISION = 'Decision: d-0123456789abcdefghij';

  test('a text that fits is sent as it is', () => {
    const text = [FIRST, '', LINES[0], DECISION].join('\n');
    expect(wireReason(text)).toBe(text);
  });

  test.each([
    ['with a link', [DETAILS, DECISION], [DETAILS, DECISION]],
    ['without', [DECISION], ['Full reason: tollgate explain', DECISION]],
    [
      'of a fallback, which says more at the end',
      [DECISION, '(Decided 5 s ago.)'],
      ['Full reason: tollgate explain', DECISION],
    ],
  ])('a long text loses whole lines, and still ends with where all of it is: %s', (_, ends, expected) => {
    const reason = wireReason([FIRST, ...LINES, ...ends].join('\n'));
    expect(Buffer.byteLength(reason)).toBeLessThan(500);
    expect(reason.startsWith(`${FIRST}\n`)).toBe(true);
    expect(reason.endsWith(expected.join('\n'))).toBe(true);
    for (const line of reason.split('\n')) expect([FIRST, ...LINES, ...expected]).toContain(line);
  });

  test.each(['é', '价', '😀'])('a first line without end is cut at a whole %s', (character) => {
    for (const before of ['', 'a', 'ab', 'abc']) {
      const reason = wireReason(`${before}${character.repeat(2_000)}\n${DECISION}`);
      expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(REASON_BYTES_MAX);
      expect(reason.isWellFormed()).toBe(true);
      expect(reason).not.toContain('\uFFFD');
      expect(reason.endsWith(DECISION)).toBe(true);
    }
  });
});

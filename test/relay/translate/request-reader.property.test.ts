import type { DescMessage } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileReader, type RequestReading } from '../../../relay/translate/request-reader.ts';
import type { TranslatorOptions } from '../../../relay/translate/translator.ts';
import { explain } from '../../../relay/wire/inspect.ts';
import { FIELDS_MAX } from '../../../relay/wire/pass.ts';
import { encodeKnown, loadSchema, parseSchema } from '../../../relay/wire/schema.ts';
import { ODD_JOB, ODD_SCHEMA } from '../../support/relay/odd-schemas.ts';
import { extended, renamedAndRenumbered, withoutTags } from '../../support/relay/schema-variants.ts';
import { legalWire } from './legal-wire.ts';
import { compileTwoPasses, type TwoPassReader } from './two-passes.ts';

const ours = loadSchema().request;
const SCHEMAS: readonly (readonly [string, DescMessage])[] = [
  ['ours', ours],
  ['renumbered', parseSchema(renamedAndRenumbered(), 'theirs').request],
  ['without tags', parseSchema(withoutTags(), 'older').request],
  ['odd', ODD_SCHEMA],
];
const RUNS = 200;
/** protobuf-es passes over such a number where nobody reads it. */
const OVERLONG = 'a varint of more than 10 bytes';
const TRUST: readonly TranslatorOptions[] = [true, false].map((trustVariables) => ({
  variables: { names: ['COST_CENTER', '__proto__', 'constructor'], prefixes: ['TEAM_'] },
  trustVariables,
}));

/** What both ways of reading say, without the wording of problems in the bytes themselves. */
const said = (read: RequestReading | ReturnType<TwoPassReader>): object =>
  read.ok
    ? { request: read.request, suspicious: read.suspicious }
    : { problem: read.problem, projectId: 'projectId' in read ? read.projectId : undefined };

/** Most questions name a job; which way, its schema knows. */
const questions = (desc: DescMessage): fc.Arbitrary<Uint8Array> => {
  const job = desc === ODD_SCHEMA ? ODD_JOB : encodeKnown(desc, { id: 7n, job: { id: 7n } });
  return fc
    .tuple(fc.integer({ min: 0, max: 9 }), legalWire(desc))
    .map(([chance, bytes]) => (chance === 0 ? bytes : Buffer.concat([bytes, job])));
};

describe.each(SCHEMAS)('one pass over questions of the schema: %s', (_, desc) => {
  test.each(TRUST)('reads what the whole message says, variables trusted: $trustVariables', (options) => {
    const one = compileReader({ request: desc, source: 'test' }, options);
    const two = compileTwoPasses(desc, options);
    let readable = 0;
    fc.assert(
      fc.property(questions(desc), (bytes) => {
        const [read, whole] = [one(bytes), two(bytes)];
        expect(said(read)).toEqual(said(whole));
        if (read.ok) readable += 1;
        // It does not say what is unknown within parts that nobody reads.
        const { unknown } = explain(desc, bytes);
        if (unknown.length < FIELDS_MAX) expect(unknown).toEqual(expect.arrayContaining([...read.unknown]));
      }),
      { numRuns: RUNS },
    );
    expect(readable).toBeGreaterThan(RUNS / 4);
  });
});

test('every part of our schema is read, so every unknown field is told, those of a newer router too', () => {
  const newer = parseSchema(extended(), 'newer').request;
  const [options] = TRUST as [TranslatorOptions];
  const one = compileReader({ request: ours, source: 'test' }, options);
  const two = compileTwoPasses(ours, options);
  fc.assert(
    fc.property(legalWire(newer), (bytes) => {
      const [read, whole] = [one(bytes), two(bytes)];
      expect(read.unknown).toEqual('unknown' in whole ? [...whole.unknown].sort() : []);
    }),
  );
});

describe.each(SCHEMAS)('bytes that no router sends, against the schema: %s', (_, desc) => {
  const [options] = TRUST as [TranslatorOptions];
  const one = compileReader({ request: desc, source: 'test' }, options);
  const two = compileTwoPasses(desc, options);

  test('are a request or a problem, never an exception', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const read = one(bytes);
        expect(read.ok ? read.request.jobId : read.problem.length).toBeGreaterThan(0);
      }),
      { numRuns: 200 },
    );
  });

  test('are read as the whole message would be where it is one, with any byte changed', () => {
    const changed = fc
      .tuple(
        legalWire(desc).filter(({ length }) => length > 0),
        fc.nat(),
        fc.integer({ min: 0, max: 255 }),
      )
      .map(([bytes, at, byte]) => bytes.with(at % bytes.length, byte));
    fc.assert(
      fc.property(changed, (bytes) => {
        const [read, whole] = [one(bytes), two(bytes)];
        if (whole.ok && (read.ok || read.problem !== OVERLONG)) expect(said(read)).toEqual(said(whole));
      }),
      { numRuns: 200 },
    );
  });
});

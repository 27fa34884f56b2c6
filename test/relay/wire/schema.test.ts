import { fromBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { encodeAdmitted, encodeRejected, parseSchema } from '../../../relay/wire/schema.ts';
import { renamedAndRenumbered } from '../../support/relay/schema-variants.ts';

test('answers are encoded as the schema says, whatever their numbers', () => {
  const theirs = parseSchema(renamedAndRenumbered(), 'theirs');
  expect(fromBinary(theirs.answer, encodeRejected(theirs, 'no budget'))).toMatchObject({
    admissionResponse: { case: 'rejected', value: { reason: 'no budget' } },
  });
  expect(fromBinary(theirs.answer, encodeAdmitted(theirs))).toMatchObject({
    admissionResponse: { case: 'admitted' },
  });
});

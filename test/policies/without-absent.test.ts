import { expect, test } from 'vitest';
import { withoutAbsent } from '../../policies/without-absent.ts';

test('only what has no value is left out: nothing, zero and no are values', () => {
  const fields = withoutAbsent({ absent: undefined, zero: 0, empty: '', no: false, nothing: null });
  expect(Object.keys(fields)).toEqual(['zero', 'empty', 'no', 'nothing']);
});

import { describe, expect, test } from 'vitest';
import { expanded, jobNamed, names } from './folder.ts';

test('of a key that is written twice the last counts, and it costs no other job', () => {
  const pipeline = expanded(
    'a: { script: x, image: first }\nb: { script: x }\na: { script: x, image: third }',
  );
  expect(names(pipeline)).toEqual(['a', 'b']);
  expect(jobNamed(pipeline, 'a')).toMatchObject({ image: 'third', place: { line: 3 } });
  expect(pipeline.problems).toEqual([]);
});

describe('merge keys', () => {
  test('win over the keys above them and not over those below', () => {
    const pipeline = expanded(`
.x: &x { image: merged, tags: [merged] }
above: { script: x, image: own, <<: *x }
below: { <<: *x, image: own, script: x }
`);
    expect(jobNamed(pipeline, 'above')).toMatchObject({ image: 'merged', tags: ['merged'] });
    expect(jobNamed(pipeline, 'below')).toMatchObject({ image: 'own', tags: ['merged'] });
  });

  test('of a list, the first wins over the later ones, and several may stand in one job', () => {
    const pipeline = expanded(`
.x: &x { image: x }
.y: &y { image: y, tags: [y] }
list: { script: x, <<: [*x, *y] }
twice: { script: x, <<: *x, <<: *y }
`);
    expect(jobNamed(pipeline, 'list')).toMatchObject({ image: 'x', tags: ['y'] });
    expect(jobNamed(pipeline, 'twice').image).toBe('y');
  });
});

test.each([
  ['1.0', '1.0'],
  ['3.20', '3.2'],
  ['010', '8'],
  ['0x1F', '31'],
  ['1_000', '1000'],
  ['1:30', '90'],
  ['1e3', '1e3'],
  ['12345678901234567890', '12345678901234567890'],
  ['yes', 'true'],
  ['Off', 'false'],
  ['y', 'y'],
  ['"010"', '010'],
  ["'yes'", 'yes'],
  ['!!str 010', '010'],
  ['1.2.3', '1.2.3'],
])('a variable written as %s is %s, as Ruby reads and prints it', (written, value) => {
  expect(jobNamed(expanded(`j: { script: x, variables: { V: ${written} } }`), 'j').variables.V).toBe(value);
});

import { expect, test } from 'vitest';
import { HIDDEN_VALUE } from '../../../policies/kubernetes/resource-variables.ts';
import {
  type Fate,
  KeptVariables,
  OVERWRITES_KEPT_MAX,
  VARIABLES_KEPT_MAX,
} from '../../../relay/translate/kept-variables.ts';
import { TEXT_LENGTH_MAX } from '../../../relay/translate/text-length.ts';

type Put = readonly [name: string, value: string, fate?: Fate];

function kept(...puts: readonly Put[]): Readonly<Record<string, string>> {
  const variables = new KeptVariables();
  for (const [name, value, fate = 'keep'] of puts) variables.put(name, value, fate);
  return Object.fromEntries(variables.all());
}

const NAMESPACE = 'KUBERNETES_NAMESPACE_OVERWRITE';
const LABEL = 'KUBERNETES_POD_LABELS_1';
const MEMORY = 'KUBERNETES_MEMORY_LIMIT';
const LONG = 'x'.repeat(TEXT_LENGTH_MAX + 1);
const flood = (name: string, count: number): readonly Put[] =>
  Array.from({ length: count }, (_, at): Put => [`${name}${at}`, 'x']);

test('the last value of a name wins, and one that may not be read takes the earlier away', () => {
  expect(kept(['A', '1'], ['A', '2'])).toEqual({ A: '2' });
  expect(kept(['A', '1'], ['A', '2', 'drop'])).toEqual({});
  expect(kept(['A', '1'], ['A', LONG])).toEqual({});
});

test('of an overwrite or a resource the later one is known to be there, even if it may not be read', () => {
  expect(kept([NAMESPACE, 'ci'], [NAMESPACE, 'prod', 'hide'])).toEqual({ [NAMESPACE]: HIDDEN_VALUE });
  expect(kept([MEMORY, '1Gi'], [MEMORY, '900Gi', 'hide'])).toEqual({ [MEMORY]: HIDDEN_VALUE });
  expect(kept([NAMESPACE, LONG], [MEMORY, LONG])).toEqual({
    [NAMESPACE]: HIDDEN_VALUE,
    [MEMORY]: HIDDEN_VALUE,
  });
});

test('a flood of other variables does not push an overwrite or a resource out', () => {
  const found = kept(...flood('KUBERNETES_X', 2 * VARIABLES_KEPT_MAX), [NAMESPACE, 'prod'], [MEMORY, '9Gi']);
  expect(found).toMatchObject({ [NAMESPACE]: 'prod', [MEMORY]: '9Gi' });
  expect(Object.keys(found)).toHaveLength(VARIABLES_KEPT_MAX + 2);
});

test('more labels than are looked at leave a sign that no pattern allows', () => {
  const found = kept(...flood('KUBERNETES_POD_LABELS_', OVERWRITES_KEPT_MAX + 9), [
    'KUBERNETES_NODE_SELECTOR_A',
    'x',
  ]);
  expect(Object.keys(found)).toHaveLength(OVERWRITES_KEPT_MAX + 2);
  expect(found).toMatchObject({ 'KUBERNETES_POD_LABELS_…': HIDDEN_VALUE, KUBERNETES_NODE_SELECTOR_A: 'x' });
});

test('every value of a label that comes twice is kept, because the runner takes them all', () => {
  expect(kept([LABEL, 'a=1'], [LABEL, 'b=1'], [LABEL, 'a=1'], [LABEL, 'c', 'hide'])).toEqual({
    [LABEL]: 'a=1',
    [`${LABEL} (2)`]: 'b=1',
    [`${LABEL} (3)`]: HIDDEN_VALUE,
  });
});

test('an empty value is no secret: whether a token or a toleration is empty decides', () => {
  expect(
    kept(['KUBERNETES_BEARER_TOKEN', '', 'hide'], ['KUBERNETES_NODE_TOLERATIONS_1', '', 'hide']),
  ).toEqual({
    KUBERNETES_BEARER_TOKEN: '',
    KUBERNETES_NODE_TOLERATIONS_1: '',
  });
});

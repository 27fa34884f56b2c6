import { expect, test } from 'vitest';
import { HIDDEN_VALUE } from '../../../policies/kubernetes/resource-variables.ts';
import type { Reason } from '../../../policies/reason.ts';
import { reasonsOf } from './checking.ts';

const reasons = (rule: object, variables?: Readonly<Record<string, string>>): readonly Reason[] =>
  reasonsOf({ kind: 'overwrites', ...rule }, variables === undefined ? {} : { variables });

const NAMESPACE = 'KUBERNETES_NAMESPACE_OVERWRITE';
const TOKEN = 'KUBERNETES_BEARER_TOKEN';
const TOLERATION = 'KUBERNETES_NODE_TOLERATIONS_1';
const LABEL = 'KUBERNETES_POD_LABELS_1';

test.each<[object, string, string, string | undefined, string]>([
  [{ namespace: '^ci-' }, NAMESPACE, 'prod', 'pattern', 'anything else does not'],
  [{ namespace: 'ci-' }, NAMESPACE, 'prod-ci-1', undefined, "a pattern matches anywhere, as the runner's do"],
  [{ namespace: '' }, NAMESPACE, 'ci-1', 'off', "an empty pattern turns the overwrite off, as the runner's"],
  [{ namespace: true }, NAMESPACE, 'ci-1', undefined, 'true allows any'],
  [{ namespace: '^ci-' }, NAMESPACE, '', undefined, 'an empty namespace overwrites nothing'],
  [{ service_account: '^ci$', others: 'deny' }, NAMESPACE, 'prod', 'off', 'unless it denies the others'],
  [{ others: 'deny' }, TOKEN, HIDDEN_VALUE, 'off', 'the token is one of them'],
  [{ others: 'deny' }, 'KUBERNETES_CPU_REQUEST', '4', undefined, 'resources are not'],
  [{ node_selector: 'arch=.*' }, 'KUBERNETES_NODE_SELECTOR_ARCH', 'arch=arm64', undefined, 'node selectors'],
  [{ node_selector: 'arch=.*' }, 'KUBERNETES_NODE_SELECTOR_POOL', 'pool=gpu', 'pattern', 'of any name'],
  [{ node_tolerations: '.+' }, TOLERATION, '', 'pattern', 'the empty toleration tolerates all: it is judged'],
  [{ node_tolerations: false }, TOLERATION, '', 'off', 'and is set, however empty'],
  [{ pod_labels: true }, LABEL, 'runner.gitlab.com/x=1', 'reserved', "the runner's labels are read-only"],
  [{ pod_labels: true }, LABEL, 'myrunner.gitlab.com/x=1', undefined, 'another domain is not'],
  [{ namespace: 'ci-' }, NAMESPACE, `prod\${ci-}`, 'pattern', 'a variable lends no letters to a match'],
  [{ namespace: '.*' }, NAMESPACE, HIDDEN_VALUE, 'pattern', 'what cannot be seen is not taken to be allowed'],
  [{ namespace: true }, NAMESPACE, HIDDEN_VALUE, undefined, 'unless all is'],
])('%j with %s=%j: %s: %s', (rule, variable, value, why) => {
  const found = reasons(rule, { [variable]: value });
  expect(found.map((each) => 'why' in each && each.why)).toEqual(why === undefined ? [] : [why]);
});

test('the reason names the variable and the pattern, and never the value', () => {
  const found = reasons(
    { namespace: '^ci-', anchored: true },
    { [NAMESPACE]: 's3cr3t', [LABEL]: 'a.runner.gitlab.com/s3cr3t=1' },
  );
  expect(found).toEqual([
    { code: 'OVERWRITE_NOT_ALLOWED', variable: NAMESPACE, why: 'pattern', pattern: '^(?:^ci-)$' },
    { code: 'OVERWRITE_NOT_ALLOWED', variable: LABEL, why: 'reserved' },
  ]);
  expect(JSON.stringify(found)).not.toContain('s3cr3t');
});

test('variables that did not come are a missing field, none set is none', () => {
  expect(reasons({ others: 'deny' })).toEqual([{ code: 'FIELD_MISSING', field: 'variables' }]);
  expect(reasons({ others: 'deny' }, {})).toEqual([]);
});

import { expect, test } from 'vitest';
import { type Fate, type VariableFlags, variableAllowlist } from '../../../relay/translate/kept-variables.ts';

const PUBLIC: VariableFlags = { public: true, masked: false, file: false };
const PRIVATE: VariableFlags = { public: false, masked: false, file: false };
const fateOf = variableAllowlist({ names: ['COST_CENTER', 'CI_JOB_TOKEN'], prefixes: ['TEAM_'] });

test.each<[string, string, VariableFlags, Fate]>([
  ['context GitLab sets', 'CI_PIPELINE_SOURCE', PUBLIC, 'keep'],
  [
    'context in a schema without flags',
    'CI_PIPELINE_SOURCE',
    { public: undefined, masked: undefined, file: undefined },
    'keep',
  ],
  ['a context name set as a private setting', 'CI_PIPELINE_SOURCE', PRIVATE, 'drop'],
  ['a CPU request set in the job', 'KUBERNETES_CPU_REQUEST', PUBLIC, 'keep'],
  ['a memory limit set for the project', 'KUBERNETES_SERVICE_MEMORY_LIMIT', PRIVATE, 'keep'],
  ['an overwrite set in the job', 'KUBERNETES_NODE_SELECTOR_POOL', PUBLIC, 'keep'],
  ['an overwrite set for the project', 'KUBERNETES_NODE_SELECTOR_POOL', PRIVATE, 'keep'],
  ['the bearer token', 'KUBERNETES_BEARER_TOKEN', PUBLIC, 'hide'],
  ['the bearer token, masked', 'KUBERNETES_BEARER_TOKEN', { ...PRIVATE, masked: true }, 'hide'],
  ['an overwrite named like a secret', 'KUBERNETES_POD_ANNOTATIONS_VAULT_AUTH', PUBLIC, 'hide'],
  ['a masked overwrite', 'KUBERNETES_NAMESPACE_OVERWRITE', { ...PUBLIC, masked: true }, 'hide'],
  ['an overwrite in a file', 'KUBERNETES_POD_LABELS_1', { ...PUBLIC, file: true }, 'hide'],
  [
    'an overwrite where masked cannot be told',
    'KUBERNETES_SERVICE_ACCOUNT_OVERWRITE',
    { ...PUBLIC, masked: undefined },
    'hide',
  ],
  ['a masked resource', 'KUBERNETES_POD_MEMORY_LIMIT', { ...PUBLIC, masked: true }, 'hide'],
  ['any other executor setting that is public', 'KUBERNETES_DNS', PUBLIC, 'keep'],
  ['any other executor setting that is private', 'KUBERNETES_DNS', PRIVATE, 'drop'],
  ['any other executor setting named like a secret', 'KUBERNETES_PASSWORD', PUBLIC, 'drop'],
  ['a name the policy asks for, private', 'COST_CENTER', PRIVATE, 'keep'],
  ['a name the policy asks for, masked', 'COST_CENTER', { ...PUBLIC, masked: true }, 'drop'],
  ['a name the policy asks for, a file', 'COST_CENTER', { ...PUBLIC, file: true }, 'drop'],
  [
    'a name the policy asks for, where masked cannot be told',
    'COST_CENTER',
    { ...PUBLIC, masked: undefined },
    'drop',
  ],
  ['a name under an asked prefix, public', 'TEAM_NAME', PUBLIC, 'keep'],
  ['a name under an asked prefix, private', 'TEAM_NAME', PRIVATE, 'drop'],
  ['a secret under an asked prefix', 'TEAM_API_KEY', PUBLIC, 'drop'],
  ['a token the policy asks for by mistake', 'CI_JOB_TOKEN', PUBLIC, 'drop'],
  ['the URL with a token inside', 'CI_REPOSITORY_URL', PUBLIC, 'drop'],
  ['anything else', 'FOO', PUBLIC, 'drop'],
])('%s: %s', (_what, name, flags, expected) => {
  expect(fateOf(name, flags)).toBe(expected);
});

test('an empty prefix in a policy does not open the gate to secrets by name', () => {
  const open = variableAllowlist({ names: [], prefixes: [''] });
  for (const name of ['CI_JOB_TOKEN', 'AWS_SECRET_ACCESS_KEY', 'DB_PASSWORD', 'CI_REPOSITORY_URL']) {
    expect(open(name, PUBLIC)).toBe('drop');
  }
});

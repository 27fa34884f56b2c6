import { expect, test } from 'vitest';
import { type VariableFlags, variableAllowlist } from '../../../relay/translate/variable-allowlist.ts';

const PUBLIC: VariableFlags = { public: true, masked: false, file: false };
const PRIVATE: VariableFlags = { public: false, masked: false, file: false };
const survives = variableAllowlist({ names: ['COST_CENTER', 'CI_JOB_TOKEN'], prefixes: ['TEAM_'] });

test.each<[string, string, VariableFlags, boolean]>([
  ['context GitLab sets', 'CI_PIPELINE_SOURCE', PUBLIC, true],
  [
    'context in a schema without flags',
    'CI_PIPELINE_SOURCE',
    { public: undefined, masked: undefined, file: undefined },
    true,
  ],
  ['a context name set as a private setting', 'CI_PIPELINE_SOURCE', PRIVATE, false],
  ['a CPU request set in the job', 'KUBERNETES_CPU_REQUEST', PUBLIC, true],
  ['a memory limit set for the project', 'KUBERNETES_SERVICE_MEMORY_LIMIT', PRIVATE, true],
  ['any other executor setting that is public', 'KUBERNETES_NODE_SELECTOR_POOL', PUBLIC, true],
  ['any other executor setting that is private', 'KUBERNETES_NODE_SELECTOR_POOL', PRIVATE, false],
  ['an executor setting named like a secret', 'KUBERNETES_BEARER_TOKEN', PUBLIC, false],
  ['a name the policy asks for, private', 'COST_CENTER', PRIVATE, true],
  ['a name the policy asks for, masked', 'COST_CENTER', { ...PUBLIC, masked: true }, false],
  ['a name the policy asks for, a file', 'COST_CENTER', { ...PUBLIC, file: true }, false],
  [
    'a name the policy asks for, where masked cannot be told',
    'COST_CENTER',
    { ...PUBLIC, masked: undefined },
    false,
  ],
  ['a name under an asked prefix, public', 'TEAM_NAME', PUBLIC, true],
  ['a name under an asked prefix, private', 'TEAM_NAME', PRIVATE, false],
  ['a secret under an asked prefix', 'TEAM_API_KEY', PUBLIC, false],
  ['a token the policy asks for by mistake', 'CI_JOB_TOKEN', PUBLIC, false],
  ['the URL with a token inside', 'CI_REPOSITORY_URL', PUBLIC, false],
  ['anything else', 'FOO', PUBLIC, false],
])('%s: %s', (_what, name, flags, expected) => {
  expect(survives(name, flags)).toBe(expected);
});

test('an empty prefix in a policy does not open the gate to secrets by name', () => {
  const open = variableAllowlist({ names: [], prefixes: [''] });
  for (const name of ['CI_JOB_TOKEN', 'AWS_SECRET_ACCESS_KEY', 'DB_PASSWORD', 'CI_REPOSITORY_URL']) {
    expect(open(name, PUBLIC)).toBe(false);
  }
});

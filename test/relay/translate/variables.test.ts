import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  HIDDEN_VALUE,
  RESOURCE_WORDS,
  type ResourceName,
  resourceVariableName,
} from '../../../policies/kubernetes/resource-variables.ts';
import { TEXT_LENGTH_MAX } from '../../../relay/translate/aliases.ts';
import {
  type Fate,
  KeptVariables,
  VARIABLES_KEPT_MAX,
  type VariableFlags,
  variableAllowlist,
} from '../../../relay/translate/kept-variables.ts';
import { compileTranslator } from '../../../relay/translate/translator.ts';
import { loadSchema } from '../../../relay/wire/schema.ts';
import { descOf, messageFrom } from '../../support/relay/desc-of.ts';

describe('kept variables', () => {
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

  test.each(['build', 'helper', 'service', 'pod'] as const)(
    'a hidden request of a %s is known to be there',
    (kind) => {
      for (const resource of Object.keys(RESOURCE_WORDS) as ResourceName[]) {
        const name = resourceVariableName(kind, resource, 'request');
        expect(kept([name, '9', 'hide'])).toEqual({ [name]: HIDDEN_VALUE });
      }
    },
  );

  test('a flood of other variables does not push an overwrite or a resource out', () => {
    const found = kept(
      ...flood('KUBERNETES_X', 2 * VARIABLES_KEPT_MAX),
      [NAMESPACE, 'prod'],
      [MEMORY, '9Gi'],
    );
    expect(found).toMatchObject({ [NAMESPACE]: 'prod', [MEMORY]: '9Gi' });
    expect(Object.keys(found)).toHaveLength(VARIABLES_KEPT_MAX + 2);
  });

  test('every value of a label that comes twice is kept, because the runner takes them all', () => {
    expect(kept([LABEL, 'a=1'], [LABEL, 'b=1'], [LABEL, 'a=1'], [LABEL, 'c', 'hide'])).toEqual({
      [LABEL]: 'a=1',
      [`${LABEL} (2)`]: 'b=1',
      [`${LABEL} (3)`]: HIDDEN_VALUE,
    });
  });
});

describe('the allowlist', () => {
  const PUBLIC: VariableFlags = { public: true, masked: false, file: false };
  const PRIVATE: VariableFlags = { public: false, masked: false, file: false };
  const fateOf = variableAllowlist({ names: ['COST_CENTER', 'CI_JOB_TOKEN'], prefixes: ['TEAM_'] });

  test.each<[string, VariableFlags, Fate]>([
    ['CI_PIPELINE_SOURCE', PUBLIC, 'keep'],
    ['CI_PIPELINE_SOURCE', { public: undefined, masked: undefined, file: undefined }, 'keep'],
    ['CI_PIPELINE_SOURCE', PRIVATE, 'drop'],
    ['KUBERNETES_CPU_REQUEST', PUBLIC, 'keep'],
    ['KUBERNETES_SERVICE_MEMORY_LIMIT', PRIVATE, 'keep'],
    ['KUBERNETES_NODE_SELECTOR_POOL', PUBLIC, 'keep'],
    ['KUBERNETES_NODE_SELECTOR_POOL', PRIVATE, 'keep'],
    ['KUBERNETES_BEARER_TOKEN', PUBLIC, 'hide'],
    ['KUBERNETES_BEARER_TOKEN', { ...PRIVATE, masked: true }, 'hide'],
    ['KUBERNETES_POD_ANNOTATIONS_VAULT_AUTH', PUBLIC, 'hide'],
    ['KUBERNETES_NAMESPACE_OVERWRITE', { ...PUBLIC, masked: true }, 'hide'],
    ['KUBERNETES_POD_LABELS_1', { ...PUBLIC, file: true }, 'hide'],
    ['KUBERNETES_SERVICE_ACCOUNT_OVERWRITE', { ...PUBLIC, masked: undefined }, 'hide'],
    ['KUBERNETES_POD_MEMORY_LIMIT', { ...PUBLIC, masked: true }, 'hide'],
    ['KUBERNETES_DNS', PUBLIC, 'keep'],
    ['KUBERNETES_DNS', PRIVATE, 'drop'],
    ['KUBERNETES_PASSWORD', PUBLIC, 'drop'],
    ['COST_CENTER', PRIVATE, 'keep'],
    ['COST_CENTER', { ...PUBLIC, masked: true }, 'drop'],
    ['COST_CENTER', { ...PUBLIC, file: true }, 'drop'],
    ['COST_CENTER', { ...PUBLIC, masked: undefined }, 'drop'],
    ['TEAM_NAME', PUBLIC, 'keep'],
    ['TEAM_NAME', PRIVATE, 'drop'],
    ['TEAM_API_KEY', PUBLIC, 'drop'],
    ['CI_JOB_TOKEN', PUBLIC, 'drop'],
    ['CI_REPOSITORY_URL', PUBLIC, 'drop'],
    ['FOO', PUBLIC, 'drop'],
  ])('%s with %j: %s', (name, flags, expected) => {
    expect(fateOf(name, flags)).toBe(expected);
  });

  test('an empty prefix in a policy does not open the gate to secrets by name', () => {
    const open = variableAllowlist({ names: [], prefixes: [''] });
    for (const name of ['CI_JOB_TOKEN', 'AWS_SECRET_ACCESS_KEY', 'DB_PASSWORD', 'CI_REPOSITORY_URL']) {
      expect(open(name, PUBLIC)).toBe('drop');
    }
  });
});

describe('secrets', () => {
  const schema = loadSchema();
  const translate = compileTranslator(schema.request, {
    variables: { names: ['COST_CENTER', '__proto__', 'constructor'], prefixes: ['TEAM_', '_'] },
    trustVariables: true,
  });

  const name = fc.oneof(
    fc.constantFrom(
      'CI_JOB_TOKEN',
      'CI_PROJECT_ID',
      'CI_PROJECT_PATH',
      'CI_RUNNER_TAGS',
      'CI_COMMIT_REF_NAME',
      'CI_JOB_IMAGE',
    ),
    fc.constantFrom('KUBERNETES_CPU_REQUEST', 'KUBERNETES_PASSWORD', 'COST_CENTER', 'TEAM_TOKEN', 'TEAM_A'),
    fc.constantFrom('KUBERNETES_BEARER_TOKEN', 'KUBERNETES_NAMESPACE_OVERWRITE', 'KUBERNETES_POD_LABELS_1'),
    fc.constantFrom(
      'KUBERNETES_POD_ANNOTATIONS_TOKEN',
      'KUBERNETES_POD_CPU_LIMIT',
      'KUBERNETES_NODE_SELECTOR_KEY',
    ),
    fc.constantFrom('__proto__', 'constructor', 'toString', '_x'),
    fc.string({ maxLength: 20 }),
  );

  test('the value of a masked or file variable, or of a token, never survives, whatever it is called', () => {
    const variable = fc.record({ name, public: fc.boolean(), masked: fc.boolean(), file: fc.boolean() });
    fc.assert(
      fc.property(fc.array(variable, { maxLength: 20 }), (variables) => {
        const secret = (index: number): string => `s3cr3t-${index}-end`;
        const message = messageFrom(schema.request, {
          id: '7',
          variables: variables.map(({ name: key, ...flags }, index) => ({
            key,
            value: secret(index),
            ...flags,
          })),
        });
        const told = JSON.stringify(translate(message));
        for (const [index, { name: key, masked, file }] of variables.entries()) {
          if (masked || file || key === 'CI_JOB_TOKEN' || /PASSWORD|TOKEN/.test(key))
            expect(told).not.toContain(secret(index));
        }
      }),
    );
  });

  test('variables named like properties of every object neither vanish into one nor harm it', () => {
    const message = messageFrom(schema.request, {
      id: '7',
      variables: ['__proto__', 'constructor'].map((key) => ({ key, value: 'polluted', public: true })),
    });
    const translation = translate(message);
    expect(translation.ok && Object.keys(translation.request.variables ?? {})).toEqual([
      '__proto__',
      'constructor',
    ]);
    expect(JSON.parse(JSON.stringify(translation))).toMatchObject({ ok: true });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('fault 14: any numbers in any field are a request of safe integers, or a problem', () => {
    const int64 = fc
      .oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.constantFrom(0n, 1n, -1n, 2n ** 53n))
      .map(String);
    const desc = descOf({ job_id: 'int64', project_id: 'int64', user_id: 'int64', timeout: 'int64' });
    const read = compileTranslator(desc, { variables: { names: [], prefixes: [] }, trustVariables: false });
    fc.assert(
      fc.property(int64, int64, int64, int64, (job_id, project_id, user_id, timeout) => {
        const translation = read(messageFrom(desc, { job_id, project_id, user_id, timeout }));
        if (!translation.ok) return;
        for (const value of Object.values(translation.request)) {
          expect(Number.isSafeInteger(value) && (value as number) > 0).toBe(true);
        }
        expect(String(translation.request.jobId)).toBe(job_id);
      }),
    );
  });
});

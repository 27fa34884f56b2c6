import { fromBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileTranslator } from '../../../relay/translate/translator.ts';
import { loadSchema } from '../../../relay/wire/schema.ts';
import { descOf, messageFrom } from '../../support/relay/desc-of.ts';

const schema = loadSchema();
const translate = compileTranslator(schema.question, {
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
      const message = messageFrom(schema.question, {
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
  const message = messageFrom(schema.question, {
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

test('translating leaves the message as it was', () => {
  const bytes = new Uint8Array([8, 7]);
  const before = fromBinary(schema.question, bytes);
  translate(before);
  expect(before).toEqual(fromBinary(schema.question, bytes));
});

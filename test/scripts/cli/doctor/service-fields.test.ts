import { expect, test } from 'vitest';
import { compileTranslator } from '../../../../relay/translate/translator.ts';
import { loadSchema } from '../../../../relay/wire/schema.ts';
import { serviceFields } from '../../../../scripts/cli/doctor/question.ts';
import { descOf } from '../../../support/relay/desc-of.ts';

test('a field is named by its path as the schema spells it, and one without a path is none', () => {
  const desc = descOf({ services: [{ image: 'string', pullPolicies: 'string' }] });
  expect(serviceFields(desc)).toEqual([
    { field: 'name', path: 'services[].image' },
    { field: 'alias', path: undefined },
    { field: 'pullPolicies', path: undefined },
    { field: 'dockerUser', path: undefined },
    { field: 'kubernetesUser', path: undefined },
    { field: 'variables', path: undefined },
  ]);
  expect(serviceFields(descOf({ id: 'int64' }))).toEqual([]);
});

test('the fields that are listed are those the relay reads', () => {
  const { question } = loadSchema();
  const translate = compileTranslator(question, {
    variables: { names: [], prefixes: ['KUBERNETES_'] },
    trustVariables: false,
  });
  const service = {
    name: 'postgres:18',
    alias: 'db',
    pullPolicy: ['always'],
    executorOpts: { docker: { user: 'a' }, kubernetes: { user: '1000' } },
    variables: [{ key: 'KUBERNETES_CPU_REQUEST', value: '1', public: true }],
  };
  const read = translate({ id: 1n, services: [service] } as never);
  const [translated] = (read.ok && read.request.services) || [];
  const listed = serviceFields(question).flatMap(({ field, path }) => (path === undefined ? [] : [field]));
  expect(Object.keys(translated ?? {}).sort()).toEqual([...listed].sort());
});

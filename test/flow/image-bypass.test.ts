import { expect, test } from 'vitest';
import { reasonsOf } from '../policies/kinds/checking.ts';
import { type QuestionVariable, set, shapeWith, translated, VARIABLE } from '../support/flow/translated.ts';

const E = set('E', '');
const EVIL = 'evil.example/miner:1';

/** What a runner would start is none of these images, whatever executor it has. */
const ALLOW = ['golang:[!lx]*', 'golang:1.*', 'registry.example.com/**', 'registry.example.com/*/*:*'];

const ATTEMPTS: readonly (readonly [string, string, readonly QuestionVariable[]])[] = [
  [
    'twenty-one references, the last of which is the tag',
    `golang:${'$E'.repeat(20)}$V`,
    [E, set('V', 'latest')],
  ],
  ['a hundred references before a registry', `${'$E'.repeat(100)}$V`, [E, set('V', EVIL)]],
  ['a masked tag', 'golang:$V', [set('V', '1.2/../evil', { masked: true })]],
  [
    'a masked variable behind an allowed prefix',
    'registry.example.com/$V',
    [set('V', 'x', { masked: true })],
  ],
  ['a masked image', '$V', [set('V', EVIL, { masked: true })]],
  [
    'a plain value that a masked one replaces',
    'golang:$V',
    [set('V', '1.22'), set('V', 'x', { masked: true })],
  ],
  ['a plain value that a file replaces', 'golang:$V', [set('V', '1.22'), set('V', 'x', { file: true })]],
  ['a file, which becomes a path', 'registry.example.com/$V', [set('V', 'a:1', { file: true })]],
  ['a plain value that a second one replaces', '$V', [set('V', 'golang:1.22'), set('V', EVIL)]],
  ['a name that did not come, as of a secret', 'golang:1.$V', []],
  ['two dollars', 'golang:$$V', [set('V', 'latest/x')]],
  ['two dollars in front of a whole name', '$$V', [set('V', EVIL)]],
  ['a value that refers to another', '$A', [set('A', '$V'), set('V', EVIL)]],
  ['a chain behind an allowed prefix', 'golang:$A', [set('A', '$B'), set('B', '$C'), set('C', '$D')]],
  ['two that refer to each other', 'golang:$A', [set('A', '$B'), set('B', '$A')]],
  ['a raw value that the second pass expands', 'golang:$A', [set('A', '$V', { raw: true }), set('V', '1/x')]],
  ['a raw value that names a foreign image', '$A', [set('A', '$V', { raw: true }), set('V', EVIL)]],
  ['a value with a masked reference', 'golang:$A', [set('A', '1.$V'), set('V', 'x', { masked: true })]],
  ['a value that grows too long', 'golang:$V', [set('V', 'x'.repeat(1_024))]],
  ['values that grow too long together', `golang:${'$V'.repeat(300)}`, [set('V', 'xxxx')]],
  ['a job input', 'golang:${' + '{ job.inputs.tag }}', []],
  ['a flag of the runner', 'golang:1.$FF_NETWORK_PER_BUILD', [set('FF_NETWORK_PER_BUILD', '22')]],
  ['a version that the runner sets itself', 'golang:1.$CI_RUNNER_VERSION', [set('CI_RUNNER_VERSION', '22')]],
  ['a dollar at the end', 'golang:1.22$', []],
  ['a percent sign, which the runner leaves', '%V%', [set('V', 'golang:1.22')]],
  ['the shell\u2019s own names around a registry', '$@$V$*', [set('V', EVIL)]],
  ['a dollar that a value lends', 'golang:$A{V}', [set('A', '$$'), set('V', '1/x')]],
];

test.each(ATTEMPTS)('an allow list does not admit %s: %s', (_, name, variables) => {
  const request = translated({ image: { name }, variables, services: [{ name }] });
  const codes = (kind: string) => reasonsOf({ kind, allow: ALLOW }, request).map(({ code }) => code);
  expect(codes('image'), `judged as ${request.image}`).toEqual(['IMAGE_NOT_ALLOWED']);
  expect(codes('services')).toEqual(['IMAGE_NOT_ALLOWED']);
});

test('a schema that cannot say which values are raw leaves a value with a reference unknown', () => {
  const variables = [set('A', '$V'), set('V', '1.22')];
  const { image } = translated({ image: { name: 'golang:$A' }, variables }, shapeWith(VARIABLE));
  expect(image).toBe('golang:$A');
});

test.each<[string, string, readonly QuestionVariable[]]>([
  ['golang:1.22', '$A', [set('A', '$B:$V'), set('B', 'golang'), set('V', '1.22')]],
  ['golang:1.22', '$A', [set('A', 'golang:$V', { raw: true }), set('V', '1.22')]],
  ['golang:1.22', 'golang:$$V', [set('V', '1.22')]],
])('%s is admitted, written as %s', (image, name, variables) => {
  const request = translated({ image: { name }, variables });
  expect(request.image).toBe(image);
  expect(reasonsOf({ kind: 'image', allow: ['golang:1.*'] }, request)).toEqual([]);
});

test('a service is expanded once and the image of the job twice', () => {
  const variables = [set('A', '$B', { raw: true }), set('B', 'golang:1')];
  const request = translated({ image: { name: '$A' }, services: [{ name: '$A' }], variables });
  expect(request).toMatchObject({ image: 'golang:1', services: [{ name: '$A' }] });
});

test.each(['$U', '1000:$U', '$$U'])('a user that cannot be told is not allowed: %s', (user) => {
  const options = { kubernetes: { user }, docker: { user } };
  const request = translated({
    image: { name: 'a', executor_opts: options },
    variables: [set('U', '0', { masked: true })],
  });
  expect(reasonsOf({ kind: 'container-user' }, request)).toHaveLength(2);
});

test('with a deny list alone, what cannot be told is a missing field; on_missing decides', () => {
  const request = translated({ image: { name: '$V' }, services: [{ name: '$V' }] });
  expect(reasonsOf({ kind: 'image', deny: ['evil*/**'] }, request)).toEqual([
    { code: 'FIELD_MISSING', field: 'image' },
  ]);
  const missing = [{ code: 'FIELD_MISSING', field: 'services' }];
  expect(reasonsOf({ kind: 'services', deny: ['evil*/**'] }, request)).toEqual(missing);
  expect(reasonsOf({ kind: 'services', docker_in_docker: false }, request)).toEqual(missing);
});

test.each<[string, readonly QuestionVariable[]]>([
  ['8', [set('A', '8'), set('KUBERNETES_CPU_REQUEST', '$A')]],
  ['8', [set('A', '8'), set('B', '$A', { raw: true }), set('KUBERNETES_CPU_REQUEST', '$B')]],
  ['$A', [set('A', '8'), set('KUBERNETES_CPU_REQUEST', '$A', { raw: true })]],
  ['[set]', [set('A', '8', { masked: true }), set('KUBERNETES_CPU_REQUEST', '$A')]],
])('a quantity is %s to the rules, as it is to the runner', (value, variables) => {
  expect(translated({ variables }).variables).toEqual({ KUBERNETES_CPU_REQUEST: value });
});

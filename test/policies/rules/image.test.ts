import { expect, test } from 'vitest';
import type { AdmissionRequest } from '../../../policies/request.ts';
import type { ImageRule } from '../../../policies/rule.ts';
import { image } from '../../../policies/rules/image.ts';
import { aPolicy } from '../documents.ts';

function reasons(rule: object, request: Partial<AdmissionRequest>): readonly object[] {
  const [parsed] = aPolicy({ rules: [{ id: 'i', kind: 'image', mode: 'enforce', ...rule }] }).rules;
  return image(parsed as ImageRule, { jobId: 1, ...request });
}

test.each<[object, Partial<AdmissionRequest>, number, string]>([
  [{ allow: ['good/**'] }, { image: 'good/a:1' }, 0, 'an allowed image passes'],
  [{ allow: ['good/**'] }, { image: 'evil' }, 1, 'any other does not'],
  [{ deny: ['evil*'] }, { image: 'good' }, 0, 'an empty allow list allows all'],
  [{ deny: ['evil*'] }, { image: 'evil:1' }, 1, 'but what is denied'],
  [{ allow: ['**'], deny: ['evil*'] }, { image: 'evil:1' }, 1, 'deny wins over allow'],
  [{ allow: ['good/**'] }, { image: 'good/a', services: [{ name: 'evil' }] }, 1, 'services are images, too'],
  [
    { allow: ['good/**'], check: ['image'] },
    { image: 'good/a', services: [{ name: 'evil' }] },
    0,
    'unless only the image is checked',
  ],
  [
    { allow: ['good/**'], check: ['services'] },
    { image: 'evil', services: [{ name: 'good/a' }] },
    0,
    'or only the services',
  ],
  [
    { allow: ['good/**'] },
    { image: 'evil', services: [{ name: 'evil' }, { name: 'evil' }] },
    1,
    'one image is told once',
  ],
  [
    { allow: ['good/**'] },
    { image: 'a', services: ['b', 'c', 'd', 'e', 'f', 'g'].map((name) => ({ name })) },
    5,
    'a list of reasons is bounded',
  ],
  [{ allow: ['good/**'] }, { image: '$CI_IMAGE' }, 1, 'a variable is compared as written'],
  [
    { allow: ['$CI_REGISTRY_IMAGE/**'] },
    { image: '$CI_REGISTRY_IMAGE/a:1' },
    0,
    'and may be allowed by name',
  ],
  [{ allow: ['good/**'], check: ['services'] }, { image: 'x' }, 0, 'absent services are none'],
])('%j on %j gives %i reasons: %s', (rule, request, count) => {
  expect(reasons(rule, request)).toHaveLength(count);
});

test('the reason has the image, the denied pattern and the closest allowed ones', () => {
  const allow = [
    'registry.acme.example/ruby:*',
    'postgres:*',
    'registry.acme.example/**',
    'docker:*',
    'registry.acme.example/node:*',
  ];
  expect(
    reasons(
      { allow, deny: ['*:latest'] },
      { image: 'registry.acme.exampel/ruby:3', services: [{ name: 'docker:latest' }] },
    ),
  ).toEqual([
    {
      code: 'IMAGE_NOT_ALLOWED',
      image: 'registry.acme.exampel/ruby:3',
      allowed: ['registry.acme.example/ruby:*', 'registry.acme.example/**', 'registry.acme.example/node:*'],
    },
    expect.objectContaining({ image: 'docker:latest', denied: '*:latest' }),
  ]);
});

test('an absent image is a missing field', () => {
  expect(reasons({ allow: ['good/**'] }, {})).toEqual([{ code: 'FIELD_MISSING', field: 'image' }]);
});

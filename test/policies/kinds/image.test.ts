import { expect, test } from 'vitest';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { reasonsOf } from './checking.ts';

const image = (rule: object): object => ({ kind: 'image', ...rule });
const DIGEST = `@sha256:${'0123456789abcdef'.repeat(4)}`;

test.each<[object, Partial<AdmissionRequest>, readonly string[], string]>([
  [{ allow: ['good/**'] }, { image: 'good/a:1' }, [], 'an allowed image passes'],
  [{ deny: ['evil*'] }, { image: 'evil:1' }, ['IMAGE_NOT_ALLOWED'], 'but what is denied'],
  [{ allow: ['**'], deny: ['evil*'] }, { image: 'evil:1' }, ['IMAGE_NOT_ALLOWED'], 'deny wins over allow'],
  [
    { allow: ['good/**'] },
    { image: 'good/a', services: [{ name: 'evil' }] },
    [],
    'services are the business of their own rule',
  ],
  [{ allow: ['**'] }, { image: '$CI_IMAGE' }, ['IMAGE_NOT_ALLOWED'], 'and no wildcard takes it'],
  [{ deny: ['evil*'] }, { image: '$CI_IMAGE' }, ['FIELD_MISSING'], 'nor can it be told not to be denied'],
  [{ tags: 'fixed' }, { image: 'ruby' }, ['TAG_NOT_ALLOWED'], 'no tag is latest'],
  [{ tags: 'fixed' }, { image: 'ruby:3.2' }, [], 'any other tag is'],
  [{ tags: 'digest' }, { image: `ruby:3.2${DIGEST}` }, [], 'a digest pins'],
  [{ tags: 'digest' }, { image: 'ruby@sha256:' }, ['TAG_NOT_ALLOWED'], 'half a digest does not'],
  [{ tags: 'fixed' }, { image: 'ruby:$TAG' }, ['TAG_NOT_ALLOWED'], 'what a tag will be must be certain'],
  [
    { allow: ['good/**'], tags: 'digest' },
    { image: 'evil:1' },
    ['IMAGE_NOT_ALLOWED', 'TAG_NOT_ALLOWED'],
    'all that is wrong is told together',
  ],
  [{ allow: ['good/**'] }, {}, ['FIELD_MISSING'], 'an absent image is a missing field'],
])('%j on %j gives %j: %s', (rule, request, codes) => {
  expect(reasonsOf(image(rule), request).map(({ code }) => code)).toEqual(codes);
});

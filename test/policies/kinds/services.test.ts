import { expect, test } from 'vitest';
import { reasonsOf } from './checking.ts';

const services = (rule: object): object => ({ kind: 'services', ...rule });
const named = (images: readonly string[]): { readonly services: readonly { readonly name: string }[] } => ({
  services: images.map((name) => ({ name })),
});
const DIGEST = `@sha256:${'0123456789abcdef'.repeat(4)}`;

test.each<[object, readonly string[], readonly string[]]>([
  // A pattern is compared with the whole text.
  [{ allow: ['postgres:*'] }, ['postgres'], ['IMAGE_NOT_ALLOWED']],
  // Without an allow list all pass but the denied.
  [{ deny: ['evil*'] }, ['good', 'evil'], ['IMAGE_NOT_ALLOWED']],
  // Deny wins over allow.
  [{ allow: ['**'], deny: ['evil*'] }, ['evil'], ['IMAGE_NOT_ALLOWED']],
  // One more does not.
  [{ max: 2 }, ['a', 'b', 'c'], ['SERVICE_LIMIT']],
  // All that is wrong is told together.
  [
    { docker_in_docker: false, allow: ['redis:*'], tags: 'fixed', max: 1 },
    ['docker', 'redis:7'],
    ['SERVICE_LIMIT', 'PRIVILEGED_DENIED', 'IMAGE_NOT_ALLOWED', 'TAG_NOT_ALLOWED'],
  ],
])('%j on %j gives %j', (rule, images, codes) => {
  expect(reasonsOf(services(rule), { image: 'evil', ...named(images) }).map(({ code }) => code)).toEqual(
    codes,
  );
});

test.each(['allow', 'max', 'docker_in_docker'])('absent services are none, whatever %s says', (key) => {
  const rule = { allow: ['a'], max: 0, docker_in_docker: false };
  expect(reasonsOf(services({ [key]: rule[key as keyof typeof rule] }), {})).toEqual([]);
});

test.each<[string, boolean, string]>([
  ['docker:dind', true, 'the daemon by its name'],
  ['docker:28.3.3-dind-alpine3.22', true, 'on a base'],
  ['docker.io/library/docker:dind', true, 'with its registry'],
  [`docker:\${DOCKER_VERSION}-dind`, true, 'of a version that is a variable'],
  ['docker:28', true, 'under a plain tag, which is the daemon since version 23'],
  [`docker${DIGEST}`, true, 'by digest, which says nothing of what it is'],
  ['docker:28-cli', false, 'the client needs no privilege'],
  ['example/dind', true, 'an image called so'],
  ['example/docker-dind:28', true, 'or with it in its name'],
  ['example/builder:dind', true, 'or in its tag'],
  ['dind/postgres:16', false, 'a folder called so is none'],
  ['example/ardind:1', false, 'nor one that ends the same'],
  ['postgres:16', false, 'other services pass'],
])('%s is Docker in Docker: %s: %s', (image, denied) => {
  expect(reasonsOf(services({ docker_in_docker: false }), named([image]))).toEqual(
    denied ? [{ code: 'PRIVILEGED_DENIED', image }] : [],
  );
});

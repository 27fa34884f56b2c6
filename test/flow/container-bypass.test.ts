import { expect, test } from 'vitest';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { reasonsOf } from '../policies/kinds/checking.ts';
import { type QuestionVariable, set, translated } from '../support/flow/translated.ts';

const codesOf = (rule: object, request: AdmissionRequest): readonly string[] =>
  reasonsOf(rule, request).map(({ code }) => code);

const DIGEST = `@sha256:${'0123456789abcdef'.repeat(4)}`;

const ENGINES: readonly (readonly [string, (readonly QuestionVariable[])?])[] = [
  ['docker:28-dind'],
  ['Docker.io/library/docker:dind'],
  [`docker:28-cli${DIGEST}`],
  ['registry.example.com:5000/tools/docker-in-docker:1'],
  ['example/dockerd:docker-in-docker'],
  ['cruizba/ubuntu-dind:podman'],
  ['quay.io/podman/stable:v5'],
  ['rancher/k3s:v1.34.1-k3s1'],
  ['kindest/node:v1.34.0'],
  ['gcr.io/k8s-minikube/kicbase:v0.0.48'],
  ['moby/buildkit:v0.25.0'],
  [
    '$REGISTRY/$NAME:$VERSION',
    [set('REGISTRY', 'quay.io/podman'), set('NAME', 'stable'), set('VERSION', '5')],
  ],
  ['$A', [set('A', 'kindest/$B'), set('B', 'node')]],
  ['docker:$VERSION', [set('VERSION', '28-cli', { masked: true })]],
];

test.each(ENGINES)(
  'a privileged engine is refused as the image of the job and of a service: %s',
  (name, variables = []) => {
    const request = translated({ image: { name }, services: [{ name }], variables });
    expect(codesOf({ kind: 'image', docker_in_docker: false }, request)).toEqual(['PRIVILEGED_DENIED']);
    expect(codesOf({ kind: 'services', docker_in_docker: false }, request)).toEqual(['PRIVILEGED_DENIED']);
  },
);

test.each([
  'docker:28-cli',
  'moby/buildkit:rootless',
  'bitnami/kubectl:1',
  'quay.io/buildah/stable',
  'example/kindly:1',
])('a client needs no privilege: %s', (name) => {
  const request = translated({ image: { name }, services: [{ name }] });
  expect(codesOf({ kind: 'image', docker_in_docker: false }, request)).toEqual([]);
  expect(codesOf({ kind: 'services', docker_in_docker: false }, request)).toEqual([]);
});

test('an engine behind a masked variable is a missing field, of the image as of a service', () => {
  const request = translated({
    image: { name: '$ENGINE' },
    services: [{ name: '$ENGINE' }],
    variables: [set('ENGINE', 'docker:dind', { masked: true })],
  });
  for (const [kind, field] of [
    ['image', 'image'],
    ['services', 'services'],
  ])
    expect(reasonsOf({ kind, docker_in_docker: false }, request)).toEqual([{ code: 'FIELD_MISSING', field }]);
});

const NGINX = [
  'nginx',
  'nginx:latest',
  'docker.io/library/nginx:latest',
  'Docker.IO/library/nginx',
  'index.docker.io/library/nginx:latest',
  'registry-1.docker.io/library/nginx',
  'docker.io:443/nginx:latest',
  `nginx${DIGEST}`,
  `index.docker.io/library/nginx${DIGEST}`,
];
const MINER = [
  'registry.example.com/evil/miner:1.2',
  'registry.example.com:443/evil/miner:1.2',
  `registry.example.com/evil/miner:1.2${DIGEST}`,
  `registry.example.com/evil/miner${DIGEST}`,
];

test.each([
  ...NGINX.map((image) => [image, ['nginx', 'nginx:*']] as const),
  ...NGINX.map((image) => [image, ['docker.io/library/nginx:*', 'docker.io/library/nginx']] as const),
  ...MINER.map((image) => [image, ['registry.example.com/evil/miner:*']] as const),
  ...MINER.map((image) => [image, ['registry.example.com:443/evil/**']] as const),
])('a deny list that is compared normalised refuses %s by %j', (name, deny) => {
  const request = translated({
    image: { name: '$I' },
    services: [{ name: '$I' }],
    variables: [set('I', name)],
  });
  for (const kind of ['image', 'services'])
    expect(codesOf({ kind, deny, compare: 'normalised' }, request)).toEqual(['IMAGE_NOT_ALLOWED']);
});

test.each<[AdmissionRequest['image'], readonly string[], boolean, string]>([
  ['docker.io/library/golang:1.26', ['golang:1.*'], true, 'another spelling of an allowed image is allowed'],
  ['golang:1.26', ['docker.io/library/golang:*'], true, 'whichever of both is written'],
  [`golang:1.26${DIGEST}`, [`golang${DIGEST}`], true, 'beside a digest the tag does not count'],
  [`golang:1.26${DIGEST}`, ['golang:1.26'], false, 'so a digest is not allowed by its tag'],
  [`golang${DIGEST}`, ['golang:*'], false, 'nor by any tag'],
  ['evil.example/golang:1.26', ['golang:*'], false, 'another registry is another image'],
  ['example/golang:1.26', ['golang:*'], false, 'and another folder'],
  ['golang:$V', ['golang:*'], false, 'what a variable will be is not known'],
])('normalised, %s is compared with %j, allowed %s: %s', (name, allow, allowed) => {
  const request = translated({ image: { name } });
  expect(codesOf({ kind: 'image', allow, compare: 'normalised' }, request)).toEqual(
    allowed ? [] : ['IMAGE_NOT_ALLOWED'],
  );
});

test('an image that is pinned is not denied for a tag that it does not name', () => {
  const request = translated({ image: { name: `golang${DIGEST}` } });
  expect(codesOf({ kind: 'image', deny: ['*:latest', '*:1.2'], compare: 'normalised' }, request)).toEqual([]);
});

const USERS = { executor_opts: { kubernetes: { user: '1000' }, docker: { user: '1000' } } };
const required = { kind: 'container-user', required: true };

test.each<[string, object, number]>([
  ['names none', { name: 'a' }, 2],
  ['names one for Docker alone', { name: 'a', executor_opts: { docker: { user: '1000' } } }, 1],
  [
    'names a group alone',
    { name: 'a', executor_opts: { kubernetes: { user: ':1000' }, docker: { user: ':1000' } } },
    2,
  ],
  [
    'names a variable that is empty',
    { name: 'a', executor_opts: { kubernetes: { user: '$E' }, docker: { user: '$E' } } },
    2,
  ],
  ['names one for each executor', { name: 'a', ...USERS }, 0],
])('where a user is required, a container that %s is refused', (_, container, reasons) => {
  const variables = [set('E', '')];
  const refused = Array(reasons).fill('CONTAINER_USER_NOT_ALLOWED');
  expect(codesOf(required, translated({ image: container, variables }))).toEqual(refused);
  expect(
    codesOf(required, translated({ image: { name: 'a', ...USERS }, services: [container], variables })),
  ).toEqual(refused);
});

test('where a pull policy is required, a container that names none is refused', () => {
  const rule = { kind: 'pull-policy', allow: ['always'], required: true };
  const named = { name: 'a', pull_policy: ['always'] };
  expect(codesOf(rule, translated({ image: named, services: [named] }))).toEqual([]);
  expect(codesOf(rule, translated({ image: named, services: [{ name: 'a' }] }))).toHaveLength(1);
  expect(codesOf(rule, translated({ image: { name: 'a' } }))).toEqual(['PULL_POLICY_NOT_ALLOWED']);
  expect(codesOf(rule, translated({}))).toEqual(['PULL_POLICY_NOT_ALLOWED']);
});

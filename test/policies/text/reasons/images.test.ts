import { expect, test } from 'vitest';
import type { Reason } from '../../../../policies/reason.ts';
import { discreetHeadline } from '../../../../policies/text/reason-texts.ts';
import { told, toldDiscreetly } from '../told.ts';

const first = discreetHeadline;

test('an image that matches no pattern, one that is denied, and a service', () => {
  const image: Reason = {
    code: 'IMAGE_NOT_ALLOWED',
    image: '$CI_IMAGE',
    allowed: ['registry.acme.example/**', 'alpine:*'],
  };
  expect(told([image])).toMatchInlineSnapshot(`
    "Container image "$CI_IMAGE" is not allowed here.

    [IMAGE_NOT_ALLOWED] job "e2e-large" was not started.
      image "$CI_IMAGE" matches no allowed pattern
    Retrying will fail again. Use an allowed image; closest: registry.acme.example/** , alpine:*
    What its variable holds cannot be told before the job runs (masked, a file, a secret, or not set): write the name out.
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly(image)).toMatchInlineSnapshot(`
    "Container image "$CI_IMAGE" is not allowed here.

    [IMAGE_NOT_ALLOWED] job "e2e-large" was not started.
    Retrying will fail again. Use another image.
    What its variable holds cannot be told before the job runs (masked, a file, a secret, or not set): write the name out.
    Decision: d-01JABC"
  `);
  expect(
    told([
      { code: 'IMAGE_NOT_ALLOWED', image: 'mysql:latest', allowed: [], denied: '*:latest', service: true },
    ]),
  ).toMatchInlineSnapshot(`
    "Service image "mysql:latest" is not allowed here.

    [IMAGE_NOT_ALLOWED] job "e2e-large" was not started.
      service image "mysql:latest" is denied by *:latest
    Retrying will fail again. Use another image.
    Decision: d-01JABC"
  `);
});

test('a floating tag', () => {
  const reason: Reason = { code: 'TAG_NOT_ALLOWED', image: 'alpine', wanted: 'fixed' };
  expect(told([reason])).toMatchInlineSnapshot(`
    "Container image "alpine" needs a tag other than "latest" here.

    [TAG_NOT_ALLOWED] job "e2e-large" was not started.
      image "alpine" has the tag "latest", or none, which means the same
    Retrying will fail again. Name the version to use as the tag, as in "ruby:3.4".
    Decision: d-01JABC"
  `);
  expect(first(reason)).toBe('Container image "alpine" needs a tag other than "latest" here.');
});

test('a tag where a digest is wanted', () => {
  expect(
    told([{ code: 'TAG_NOT_ALLOWED', image: 'postgres:16', wanted: 'digest', service: true }]),
  ).toMatchInlineSnapshot(`
    "Service image "postgres:16" must be pinned by its digest here.

    [TAG_NOT_ALLOWED] job "e2e-large" was not started.
      service image "postgres:16" has no digest
    Retrying will fail again. Write the image as name@sha256:…; "docker pull" and the registry show the digest.
    Decision: d-01JABC"
  `);
});

test('too many services', () => {
  const reason: Reason = { code: 'SERVICE_LIMIT', services: 6, servicesMax: 5 };
  expect(told([reason])).toMatchInlineSnapshot(`
    "This job has 6 services; at most 5 are allowed here.

    [SERVICE_LIMIT] job "e2e-large" was not started.
      6 services, at most 5
    Retrying will fail again. Remove services from the job; "default:" and "extends:" may bring some, too.
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly(reason)).toMatchInlineSnapshot(`
    "This job has more services than are allowed here.

    [SERVICE_LIMIT] job "e2e-large" was not started.
    Retrying will fail again. Remove services from the job; "default:" and "extends:" may bring some, too.
    Decision: d-01JABC"
  `);
});

test.each([
  [1, 0, 'This job has 1 service; none are allowed here.'],
  [2, 1, 'This job has 2 services; at most 1 is allowed here.'],
])('%i services where %i are allowed: %s', (services, servicesMax, text) => {
  expect(told([{ code: 'SERVICE_LIMIT', services, servicesMax }])).toContain(text);
});

test('Docker in Docker', () => {
  const reason: Reason = { code: 'PRIVILEGED_DENIED', image: 'docker:24-dind' };
  expect(told([reason])).toMatchInlineSnapshot(`
    "Docker in Docker (image "docker:24-dind") needs a privileged container: not allowed here.

    [PRIVILEGED_DENIED] job "e2e-large" was not started.
      image "docker:24-dind" runs Docker in a privileged container
    Retrying will fail again. Build images without Docker in Docker, e.g. with Buildah or rootless BuildKit.
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly(reason)).toMatchInlineSnapshot(`
    "Docker in Docker (image "docker:24-dind") needs a privileged container: not allowed here.

    [PRIVILEGED_DENIED] job "e2e-large" was not started.
    Retrying will fail again. Build images without Docker in Docker, e.g. with Buildah or rootless BuildKit.
    Decision: d-01JABC"
  `);
});

test('an engine that is not Docker', () => {
  const engines = ['podman', 'buildkit', 'kubernetes'] as const;
  const texts = engines.map((engine) => {
    const text = told([{ code: 'PRIVILEGED_DENIED', image: 'example/engine:1', engine }]);
    return text.split('\n').filter((line) => /engine:1|Retrying/.test(line));
  });
  expect(texts.flat()).toMatchInlineSnapshot(`
    [
      "Podman (image "example/engine:1") needs a privileged container: not allowed here.",
      "  image "example/engine:1" runs Podman in a privileged container",
      "Retrying will fail again. Build images without Docker in Docker, e.g. with Buildah or rootless BuildKit.",
      "BuildKit with root (image "example/engine:1") needs a privileged container: not allowed here.",
      "  image "example/engine:1" runs BuildKit in a privileged container",
      "Retrying will fail again. Use a rootless tag of BuildKit.",
      "A cluster in a container (image "example/engine:1") needs a privileged container: not allowed here.",
      "  image "example/engine:1" runs Kubernetes in a privileged container",
      "Retrying will fail again. Test against a cluster that runs outside of the job.",
    ]
  `);
});

test('the docker command needs no daemon', () => {
  expect(told([{ code: 'PRIVILEGED_DENIED', image: 'docker:28' }])).toContain(
    'For the docker command alone, a tag that says "cli" is enough.',
  );
});

test('a pull policy', () => {
  const reason: Reason = {
    code: 'PULL_POLICY_NOT_ALLOWED',
    asked: ['never'],
    allowed: ['always', 'if-not-present'],
  };
  expect(told([reason])).toMatchInlineSnapshot(`
    "Pull policy "never" of this job is not allowed here.

    [PULL_POLICY_NOT_ALLOWED] job "e2e-large" was not started.
      pull policy "never" of the image; allowed: always or if-not-present
    Retrying will fail again. Set "image:pull_policy" of the job to always or if-not-present.
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly(reason)).toMatchInlineSnapshot(`
    "Pull policy "never" of this job is not allowed here.

    [PULL_POLICY_NOT_ALLOWED] job "e2e-large" was not started.
    Retrying will fail again. Change "image:pull_policy" of the job.
    Decision: d-01JABC"
  `);
  expect(
    told([
      {
        ...reason,
        asked: ['if-not-present', 'never'],
        allowed: ['always'],
        service: 'postgres:16',
      } as Reason,
    ]),
  ).toMatchInlineSnapshot(`
    "Pull policies "if-not-present" and "never" of service "postgres:16" are not allowed here.

    [PULL_POLICY_NOT_ALLOWED] job "e2e-large" was not started.
      pull policy "if-not-present" and "never" of the service image "postgres:16"; allowed: always
    Retrying will fail again. Set "pull_policy" of the service to always.
    Decision: d-01JABC"
  `);
});

test('no pull policy where one is needed', () => {
  const reason: Reason = {
    code: 'PULL_POLICY_NOT_ALLOWED',
    asked: [],
    allowed: ['always'],
    service: 'redis:7',
  };
  expect(told([reason])).toMatchInlineSnapshot(`
    "A pull policy of service "redis:7" must be named here.

    [PULL_POLICY_NOT_ALLOWED] job "e2e-large" was not started.
      no pull policy of the service image "redis:7"; allowed: always
    Retrying will fail again. Set "pull_policy" of the service to always.
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly(reason)).toMatchInlineSnapshot(`
    "A pull policy of service "redis:7" must be named here.

    [PULL_POLICY_NOT_ALLOWED] job "e2e-large" was not started.
    Retrying will fail again. Set "pull_policy" of the service.
    Decision: d-01JABC"
  `);
});

test.each<[Reason, string]>([
  [
    { code: 'PULL_POLICY_NOT_ALLOWED', asked: [], allowed: [] },
    'A pull policy of this job must be named here.',
  ],
  [
    { code: 'IMAGE_NOT_ALLOWED', image: `r.example/${'deep/'.repeat(40)}app:1`, allowed: [] },
    'Container image "r.example/deep/deep/deep/deep/…eep/deep/deep/deep/deep/app:1" is not allowed here.',
  ],
])('%j is told as %s', (reason, text) => {
  expect(first(reason)).toBe(text);
});

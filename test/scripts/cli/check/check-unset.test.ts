import { expect, test } from 'vitest';
import { EXIT } from '../../../../scripts/terminal/command.ts';
import { repository } from './check-bench.ts';

const PROJECT = ['--project', 'acme/payments/checkout', '--ref', 'main', '--source', 'push'];

interface Answer {
  readonly jobs: readonly {
    readonly name: string;
    readonly verdict: string;
    readonly costMicros: number;
    readonly cannotTell: readonly { readonly rule: string; readonly needs: readonly string[] }[];
  }[];
}

async function answer(text: string, rules: readonly object[], ...args: string[]) {
  using house = repository({ files: { '.gitlab-ci.yml': text }, rules });
  const { code, out } = await house.check(...PROJECT, ...args, '--json');
  const { jobs }: Answer = JSON.parse(out);
  return { code, jobs, verdicts: Object.fromEntries(jobs.map(({ name, verdict }) => [name, verdict])) };
}

const IMAGES = [
  { id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*', 'registry.acme.io/**'] },
  { id: 'services', kind: 'services', mode: 'enforce', allow: ['redis:*'] },
  { id: 'root', kind: 'container-user', mode: 'enforce', users: ['1000'] },
];

test('what a variable of the settings may decide is not sure, until a flag says what it holds', async () => {
  const text = `
variables: { VIA: $BASE }
plain: { script: x, image: "$BASE:3" }
nested: { script: x, image: "$VIA:3" }
registry: { script: x, image: $CI_REGISTRY_IMAGE/tool }
service: { script: x, image: "alpine:3", services: [$DB] }
user: { script: x, image: { name: "alpine:3", docker: { user: $WHO } } }
wrong: { script: x, image: "debian:3", services: [$DB] }
sha: { script: x, image: registry.acme.io/app:$CI_COMMIT_SHA }
never: { script: x, image: "alpine:$CI_COMMIT_TAG" }
`;
  const { verdicts, jobs, code } = await answer(text, IMAGES);
  expect(verdicts).toEqual({
    plain: 'not sure',
    nested: 'not sure',
    registry: 'not sure',
    service: 'not sure',
    user: 'not sure',
    // Whatever its service turns out to be.
    wrong: 'rejected',
    // Every commit has one, and each looks the same to a pattern.
    sha: 'ok',
    // A branch has no tag, so nobody will tell what it holds.
    never: 'rejected',
  });
  expect(code).toBe(EXIT.wouldReject);
  expect(jobs[1]?.cannotTell).toMatchObject([{ rule: 'images', needs: ['variables.BASE'] }]);
  const told = await answer(
    text,
    IMAGES,
    ...['BASE=alpine', 'CI_REGISTRY=registry.acme.io', 'DB=mysql:9', 'WHO=1000'].flatMap((each) => [
      '--variable',
      each,
    ]),
  );
  expect(told.verdicts).toMatchObject({
    plain: 'ok',
    nested: 'ok',
    registry: 'ok',
    service: 'rejected',
    user: 'ok',
  });
  expect((await answer(text, IMAGES, '--variable', 'DB')).verdicts).toMatchObject({ service: 'rejected' });
});

test.each(['admit', 'reject', 'skip'])(
  'a deny list does not decide about an image nobody knows, with on_missing: %s neither',
  async (onMissing) => {
    const rules = [
      { id: 'images', kind: 'image', mode: 'enforce', deny: ['debian:*'], on_missing: onMissing },
    ];
    const { verdicts } = await answer('a: { script: x, image: $BASE }', rules);
    expect(verdicts).toEqual({ a: 'not sure' });
  },
);

test('a tag nobody knows may be that of any runner class: dear as the dearest, rejected only where all are', async () => {
  const rules = [
    { id: 'large', kind: 'runner-access', mode: 'enforce', runner_classes: ['large'], allow: [] },
  ];
  const text = `
open: { script: x, tags: [$SIZE] }
large: { script: x, tags: [large, $SIZE] }
small: { script: x, tags: [small] }
`;
  const { verdicts, jobs } = await answer(text, rules);
  expect(verdicts).toEqual({ open: 'not sure', large: 'rejected', small: 'ok' });
  expect(jobs[0]?.costMicros).toBe(jobs[1]?.costMicros);
  expect(jobs[0]?.cannotTell).toMatchObject([{ rule: 'large', needs: ['variables.SIZE'] }]);
  expect((await answer(text, rules, '--variable', 'SIZE=small')).verdicts.open).toBe('ok');
  using house = repository({ files: { '.gitlab-ci.yml': text }, rules });
  expect((await house.at(200, ...PROJECT)).out).toContain('depends on its tags: needs variable SIZE');
});

test('what a job asks of Kubernetes is not sure either, where the number is a variable of the settings', async () => {
  const rules = [
    { id: 'cores', kind: 'resources', mode: 'enforce', build: { cpu: '4' }, service: { cpu: '4' } },
  ];
  const text = `
build: { script: x, variables: { KUBERNETES_CPU_REQUEST: $CORES } }
nested: { script: x, variables: { KUBERNETES_CPU_REQUEST: $OURS, OURS: $CORES } }
service: { script: x, services: [{ name: redis, variables: { KUBERNETES_SERVICE_CPU_REQUEST: $CORES } }] }
raw: { script: x, variables: { KUBERNETES_CPU_REQUEST: { value: $OURS, expand: false }, OURS: "2" } }
words: { script: x, variables: { KUBERNETES_CPU_REQUEST: many } }
`;
  const open = await answer(text, rules);
  expect(open.verdicts).toEqual({
    build: 'not sure',
    nested: 'not sure',
    service: 'not sure',
    raw: 'rejected',
    words: 'rejected',
  });
  expect(open.jobs[1]?.cannotTell).toMatchObject([{ needs: ['variables.CORES'] }]);
  const told = await answer(text, rules, '--variable', 'CORES=2');
  expect(told.verdicts).toMatchObject({ build: 'ok', nested: 'ok', service: 'ok' });
  const many = await answer(text, rules, '--variable', 'CORES=8');
  expect(many.verdicts).toMatchObject({ build: 'rejected', nested: 'rejected', service: 'rejected' });
});

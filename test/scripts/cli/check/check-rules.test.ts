/** `tollgate check` of jobs whose rules, variables and tags leave open what they are. */
import { expect, test } from 'vitest';
import { EXIT } from '../../../../scripts/terminal/command.ts';
import { type CheckedJob, PROJECT, repository } from './check-bench.ts';

const ALPINE = [{ id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'] }];
const house = (files: string, rules: readonly object[] = ALPINE) => repository({ files, rules });
const variables = (...all: readonly string[]) => all.flatMap((each) => ['--variable', each]);

/** Thirty-five jobs whose image is what a rule sets: the shape in which every job came out wrong. */
const RULED = `variables: { IMAGE: "alpine:3" }
${Array.from(
  { length: 35 },
  (_, at) => `j${at}:
  script: x
  image: $IMAGE
  rules:
    - { if: '$CI_PIPELINE_SOURCE == "schedule"', variables: { IMAGE: "ubuntu:${at}" } }
    - { if: $CI_COMMIT_BRANCH }`,
).join('\n')}
`;

test.each([
  ['rejected in the run that sets a forbidden image', RULED, ['--source', 'schedule'], 'rejected'],
  ['ok in the other run', RULED, ['--source', 'push'], 'ok'],
  ['not sure where the flags leave the run open', RULED, [], 'not sure'],
  ['rejected where every form is', RULED.replace('alpine:3', 'debian:3'), [], 'rejected'],
])('jobs whose rules set their image are %s', async (_, file, flags, outcome) => {
  const { jobs, code } = await house(file).json(...PROJECT, '--ref', 'main', ...flags);
  expect(jobs.map((job: CheckedJob) => job.outcome)).toEqual(Array.from({ length: 35 }, () => outcome));
  expect(code).toBe(outcome === 'rejected' ? EXIT.wouldReject : EXIT.ok);
});

test('what a job depends on is named, with the flag that decides it', async () => {
  const { out } = await house(RULED).at(200, ...PROJECT, '--ref', 'main');
  expect(out).toContain('depends on rules: $CI_PIPELINE_SOURCE == "schedule" (--source)');
  expect(out).toMatch(/Depends on rules, which the files and flags do not decide \(35 jobs\)/);
  expect(out.trimEnd()).toMatch(/none would be rejected; 35 not sure; 35 depend on rules$/);
});

test('jobs that do not run are named, and a pipeline that is not created is said to be none', async () => {
  const file = 'a: { script: x, only: [tags] }\nb: { script: x, image: "alpine:3" }';
  const { out, code } = await house(file).check(...PROJECT, '--ref', 'main');
  expect(code).toBe(EXIT.ok);
  expect(out).toMatch(/Do not run: their rules leave them out \(1 job\)\n {2}a\n/);
  const tagged = await house(file).json(...PROJECT, '--ref', 'v1', '--ref-type', 'tag');
  expect(Object.keys(tagged.outcome)).toEqual(['a', 'b']);
  const none = house('workflow: { rules: [{ if: $CI_COMMIT_TAG }] }\na: { script: x }');
  const answered = await none.check(...PROJECT, '--ref', 'main');
  expect(answered.code).toBe(EXIT.ok);
  expect(answered.out).toContain('workflow:rules: GitLab creates no pipeline for this ref and source.');
});

test('variables and inputs of the run are told by flags', async () => {
  const variable = house('a: { script: x, image: "alpine:$V", rules: [{ if: $ON }] }');
  expect((await variable.json(...PROJECT, ...variables('ON=1', 'V=3'))).outcome).toEqual({ a: 'ok' });
  expect((await variable.json(...PROJECT, ...variables('ON'))).leftOut).toMatchObject([
    { name: 'a', line: 1 },
  ]);
  const input = house('spec: { inputs: { tag: } }\n---\na: { script: x, image: "alpine:$[[ inputs.tag ]]" }');
  expect((await input.json(...PROJECT, '--input', 'tag=3')).outcome).toEqual({ a: 'ok' });
});

const RUN = [...PROJECT, '--ref', 'main', '--source', 'push'];

test('what a variable of the settings may decide is not sure, until a flag says what it holds', async () => {
  const images = house(
    `
variables: { VIA: $BASE }
plain: { script: x, image: "$BASE:3" }
nested: { script: x, image: "$VIA:3" }
registry: { script: x, image: $CI_REGISTRY_IMAGE/tool }
service: { script: x, image: "alpine:3", services: [$DB] }
user: { script: x, image: { name: "alpine:3", docker: { user: $WHO } } }
wrong: { script: x, image: "debian:3", services: [$DB] }
sha: { script: x, image: registry.acme.io/app:$CI_COMMIT_SHA }
never: { script: x, image: "alpine:$CI_COMMIT_TAG" }
`,
    [
      { id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*', 'registry.acme.io/**'] },
      { id: 'services', kind: 'services', mode: 'enforce', allow: ['redis:*'] },
      { id: 'root', kind: 'container-user', mode: 'enforce', users: ['1000'] },
    ],
  );
  const { outcome, jobs, code } = await images.json(...RUN);
  expect(outcome).toEqual({
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
  const known = variables('BASE=alpine', 'CI_REGISTRY=registry.acme.io', 'DB=mysql:9', 'WHO=1000');
  expect((await images.json(...RUN, ...known)).outcome).toMatchObject({
    plain: 'ok',
    nested: 'ok',
    registry: 'ok',
    service: 'rejected',
    user: 'ok',
  });
  expect((await images.json(...RUN, ...variables('DB'))).outcome.service).toBe('rejected');
});

test.each(['admit', 'reject', 'skip'])(
  'a deny list does not decide about an image nobody knows, with on_missing: %s neither',
  async (on_missing) => {
    const rules = [{ id: 'images', kind: 'image', mode: 'enforce', deny: ['debian:*'], on_missing }];
    const { outcome } = await house('a: { script: x, image: $BASE }', rules).json(...RUN);
    expect(outcome).toEqual({ a: 'not sure' });
  },
);

test('a tag nobody knows may be that of any runner class: dear as the dearest, rejected only where all are', async () => {
  const rules = [
    { id: 'large', kind: 'runner-access', mode: 'enforce', runner_classes: ['large'], allow: [] },
  ];
  const tags = house(
    `
open: { script: x, tags: [$SIZE] }
large: { script: x, tags: [large, $SIZE] }
small: { script: x, tags: [small] }
`,
    rules,
  );
  const { outcome, jobs } = await tags.json(...RUN);
  expect(outcome).toEqual({ open: 'not sure', large: 'rejected', small: 'ok' });
  expect(jobs[0]?.costMicros).toBe(jobs[1]?.costMicros);
  expect(jobs[0]?.cannotTell).toMatchObject([{ rule: 'large', needs: ['variables.SIZE'] }]);
  expect((await tags.json(...RUN, ...variables('SIZE=small'))).outcome.open).toBe('ok');
  expect((await tags.at(200, ...RUN)).out).toContain('depends on its tags: needs variable SIZE');
});

test('what a job asks of Kubernetes is not sure either, where the number is a variable of the settings', async () => {
  const cores = house(
    `
build: { script: x, variables: { KUBERNETES_CPU_REQUEST: $CORES } }
nested: { script: x, variables: { KUBERNETES_CPU_REQUEST: $OURS, OURS: $CORES } }
service: { script: x, services: [{ name: redis, variables: { KUBERNETES_SERVICE_CPU_REQUEST: $CORES } }] }
raw: { script: x, variables: { KUBERNETES_CPU_REQUEST: { value: $OURS, expand: false }, OURS: "2" } }
words: { script: x, variables: { KUBERNETES_CPU_REQUEST: many } }
`,
    [{ id: 'cores', kind: 'resources', mode: 'enforce', build: { cpu: '4' }, service: { cpu: '4' } }],
  );
  const open = await cores.json(...RUN);
  const certain = { raw: 'rejected', words: 'rejected' };
  const of = (outcome: string) => ({ build: outcome, nested: outcome, service: outcome, ...certain });
  expect(open.outcome).toEqual(of('not sure'));
  expect(open.jobs[1]?.cannotTell).toMatchObject([{ needs: ['variables.CORES'] }]);
  expect((await cores.json(...RUN, ...variables('CORES=2'))).outcome).toEqual(of('ok'));
  expect((await cores.json(...RUN, ...variables('CORES=8'))).outcome).toEqual(of('rejected'));
});

const images = (more: object) => ({ ...ALPINE[0], ...more });

test.each<[string, object, object]>([
  ['not matched', images({ match: { groups: [102] } }), { detail: 'groups: acme/payments' }],
  [
    'not matched',
    images({ match: { groups: [100], not: { groups: [101] } } }),
    { detail: 'not.groups: acme/payments' },
  ],
  ['not matched', images({ match: { refs: ['release/*'], jobs: ['a'] } }), { detail: 'refs: main' }],
  ['matched', images({}), { violations: [{ reason: { code: 'IMAGE_NOT_ALLOWED' } }] }],
  ['missing', images({ match: { users: [5] }, on_missing: 'skip' }), { missing: ['userId'] }],
  ['matched', images({ match: { not: { users: [5] } } }), { missing: [], unproven: ['userId'] }],
  [
    'exempt',
    images({ exempt: [{ groups: [101], reason: 'moves to alpine', until: '2026-12-31' }] }),
    { detail: 'moves to alpine', violations: [{ mode: 'shadow', exempt: true }] },
  ],
  ['off', images({ mode: 'off' }), { violations: [] }],
])('a rule that is %s is told with what decides it', async (outcome, rule, more) => {
  const { jobs } = await house('a: { script: x, image: node }', [rule]).json(...RUN);
  expect(jobs[0]?.rules).toMatchObject([{ id: 'images', outcome, ...more }]);
});

import { describe, expect, test } from 'vitest';
import { expanded, jobNamed, names } from './folder.ts';

describe('jobs', () => {
  test('hidden entries and keywords are no jobs, and the stages decide the order', () => {
    const pipeline = expanded(`
stages: [first, second]
workflow: { rules: [{ when: always }] }
.hidden: { script: x }
late: { stage: .post, script: x }
two: { stage: second, script: x }
one: { stage: first, script: x }
early: { stage: .pre, script: x }
one more: { stage: first, script: x }
`);
    expect(names(pipeline)).toEqual(['early', 'one', 'one more', 'two', 'late']);
    expect(pipeline.problems).toEqual([]);
  });

  test('a job that its rules leave out is no job, and is named', () => {
    const pipeline = expanded('a: { script: x, rules: [{ when: never }] }\nb: { script: x }');
    expect(names(pipeline)).toEqual(['b']);
    expect(pipeline.leftOut).toEqual([
      { name: 'a', definedAs: 'a', place: { file: '.gitlab-ci.yml', line: 1 } },
    ]);
  });
});

describe('include', () => {
  test('local files are read in every spelling, a later one wins, the including file over all', () => {
    const pipeline = expanded({
      '.gitlab-ci.yml': `
include: [one.yml, { local: /ci/two.yml }, { local: 'jobs/*.yml' }, { local: 'deep/**/*.yml' }]
a: { tags: [top] }
`,
      'one.yml': 'a: { script: x, tags: [one], image: one }\nb: { script: x, image: one }',
      'ci/two.yml': 'include: /ci/nested.yml\nb: { image: two }',
      'ci/nested.yml': 'b: { image: nested, tags: [nested] }',
      'jobs/c.yml': 'c: { script: x }',
      'jobs/d.yml': 'd: { script: x }',
      'deep/er/e.yml': 'e: { script: x }',
    });
    expect(names(pipeline).sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(jobNamed(pipeline, 'a')).toMatchObject({ image: 'one', tags: ['top'] });
    expect(jobNamed(pipeline, 'b')).toMatchObject({ image: 'two', tags: ['nested'] });
    expect(pipeline.problems).toEqual([]);
  });
});

describe('extends', () => {
  test('mappings merge over several levels, lists are replaced, later parents win, null replaces', () => {
    const pipeline = expanded(`
.base: { script: x, tags: [base], parallel: 3, variables: { A: base, B: base, C: base } }
.middle: { extends: .base, tags: [middle, second], variables: { B: middle } }
.other: { image: other, variables: { C: other } }
job: { extends: [.middle, .other], parallel: null, variables: { A: job } }
`);
    expect(jobNamed(pipeline, 'job')).toMatchObject({
      image: 'other',
      tags: ['middle', 'second'],
      variables: { A: 'job', B: 'middle', C: 'other' },
    });
  });
});

describe('default and inherit', () => {
  const top = `
default: { image: top, tags: [top], timeout: 10m, services: [redis] }
variables: { A: a, B: b }
`;

  test('a job takes what it does not set itself', () => {
    const pipeline = expanded(`${top}\njob: { script: x, tags: [own] }`);
    expect(jobNamed(pipeline, 'job')).toEqual({
      name: 'job',
      definedAs: 'job',
      place: { file: '.gitlab-ci.yml', line: 5 },
      stage: 'test',
      image: 'top',
      tags: ['own'],
      services: [{ name: 'redis' }],
      timeoutSeconds: 600,
      variables: { A: 'a', B: 'b' },
    });
  });

  test('inherit leaves out all or some', () => {
    const pipeline = expanded(`${top}
none: { script: x, inherit: { default: false, variables: false } }
some: { script: x, inherit: { default: [image], variables: [B] } }
`);
    expect(jobNamed(pipeline, 'none')).toEqual({
      name: 'none',
      definedAs: 'none',
      place: { file: '.gitlab-ci.yml', line: 5 },
      stage: 'test',
      tags: [],
      services: [],
      variables: {},
    });
    expect(jobNamed(pipeline, 'some')).toMatchObject({ image: 'top', tags: [], variables: { B: 'b' } });
    expect(jobNamed(pipeline, 'some').variables).not.toHaveProperty('A');
  });

  test('an image and services at the top of the file are defaults as well', () => {
    expect(jobNamed(expanded('image: old\nservices: [redis]\njob: { script: x }'), 'job')).toMatchObject({
      image: 'old',
      services: [{ name: 'redis' }],
    });
  });
});

describe('!reference', () => {
  test('values and lists are put in its place, also through other references, and lists do not nest', () => {
    const pipeline = expanded(`
.tag: large
.tags: { all: [linux, !reference [.tag]] }
.vars: { variables: { A: a } }
job:
  script: x
  tags: [docker, !reference [.tags, all]]
  variables: !reference [.vars, variables]
`);
    expect(jobNamed(pipeline, 'job')).toMatchObject({
      tags: ['docker', 'linux', 'large'],
      variables: { A: 'a' },
    });
  });

  test('it sees what extends brought', () => {
    const pipeline = expanded(
      '.a: { image: a }\n.b: { extends: .a }\njob: { script: x, image: !reference [.b, image] }',
    );
    expect(jobNamed(pipeline, 'job').image).toBe('a');
  });
});

describe('variables', () => {
  test('they expand in images, services and tags, through each other, a job’s over the file’s; the runner knows no %NAME%', () => {
    const pipeline = expanded(`
variables:
  REGISTRY: { value: registry.example.com:5000, description: where }
  VERSION: 3.20
  NAME: \${REGISTRY}/base
  TAG: small
job:
  script: x
  image: $NAME:$VERSION
  services: ['\${REGISTRY}/db:%TAG%', { name: $NAME, alias: base }]
  tags: [$TAG, linux]
  variables: { TAG: large }
`);
    expect(jobNamed(pipeline, 'job')).toMatchObject({
      image: 'registry.example.com:5000/base:3.2',
      services: [
        { name: 'registry.example.com:5000/db:%TAG%' },
        { name: 'registry.example.com:5000/base', alias: 'base' },
      ],
      tags: ['large', 'linux'],
    });
  });

  test('an unknown one is named, in an image it stays and in a tag it is empty; a circle ends, $$ is a dollar', () => {
    const pipeline = expanded(`
variables: { A: $B, B: $A }
job: { script: x, image: 'i:$GONE', tags: ['t$$', $A] }
`);
    expect(jobNamed(pipeline, 'job')).toMatchObject({ image: 'i:$GONE', tags: ['t$'] });
    expect(pipeline.problems).toContain('job: image uses $GONE, which no file sets; its value is unknown');
  });

  test('with expand: false they are taken as they are, until something else sets them', () => {
    const pipeline = expanded(`
variables: { AT: eu, RAW: { value: 'x$AT', expand: false }, VIA: 'a-$RAW' }
raw: { script: x, tags: [$RAW, $VIA], services: ['i:$RAW'], environment: $RAW }
own: { script: x, tags: [$RAW], variables: { RAW: 'y$AT' } }
mine: { script: x, tags: [$MINE], variables: { MINE: { value: $AT, expand: false } } }
cell: { script: x, tags: [$RAW], parallel: { matrix: [{ RAW: 'z$AT' }] } }
`);
    expect(jobNamed(pipeline, 'raw')).toMatchObject({
      tags: ['x$AT', 'a-x$AT'],
      // The runner leaves the dollar, and no image has one.
      services: [{ name: 'i:$RAW' }],
      environment: 'x$AT',
      rawVariables: ['RAW'],
    });
    expect(jobNamed(pipeline, 'own').tags).toEqual(['yeu']);
    expect(jobNamed(pipeline, 'mine').tags).toEqual(['$AT']);
    expect(pipeline.jobs.find(({ definedAs }) => definedAs === 'cell')?.tags).toEqual(['zeu']);
  });

  test('GitLab’s own are known', () => {
    expect(
      jobNamed(expanded('job: { script: x, image: $CI_REGISTRY_IMAGE/$CI_JOB_NAME }'), 'job').image,
    ).toBe('registry.example.com/acme/project/job');
  });
});

describe('where a job stands', () => {
  const pipeline = expanded({
    '.gitlab-ci.yml': `include: [ci/jobs.yml, ci/more.yml]

.base:
  script: x

ours:
  extends: .base
both: { tags: [ours] }
`,
    'ci/jobs.yml': '# a comment\ntheirs: { script: x, parallel: 2 }\nboth: { script: x }\n',
    'ci/more.yml': 'spec:\n  inputs: {}\n---\n"quoted name":\n  script: x\n',
  });
  const placeOf = (name: string) => jobNamed(pipeline, name).place;

  test('is the file and line it is written at, in an included file as well', () => {
    expect(placeOf('ours')).toEqual({ file: '.gitlab-ci.yml', line: 6 });
    expect(placeOf('theirs 2/2')).toEqual({ file: 'ci/jobs.yml', line: 2 });
    expect(jobNamed(pipeline, 'theirs 2/2')).toMatchObject({
      definedAs: 'theirs',
      variables: { CI_NODE_INDEX: '2', CI_NODE_TOTAL: '2' },
    });
  });

  test('is counted from the top of a file that declares inputs first', () => {
    expect(placeOf('quoted name')).toEqual({ file: 'ci/more.yml', line: 4 });
  });

  test('is where the last word about it is said', () => {
    expect(placeOf('both')).toEqual({ file: '.gitlab-ci.yml', line: 8 });
  });
});

describe('environment', () => {
  const environmentIn = (text: string) =>
    jobNamed(expanded(`variables: { APP: shop }\n${text}`), 'job').environment;

  test.each([
    { says: 'production', is: 'production' },
    { says: '{ name: production, action: stop }', is: 'production' },
    { says: '$APP/$CI_COMMIT_REF_NAME', is: 'shop/main' },
    { says: 'review/$CI_MERGE_REQUEST_IID', is: 'review/$CI_MERGE_REQUEST_IID' },
    { says: '{ url: https://example.com }', is: undefined },
  ])('$says is $is', ({ says, is }) => {
    expect(
      environmentIn(`job: { script: x, environment: ${says.startsWith('{') ? says : `"${says}"`} }`),
    ).toBe(is);
  });
});

test('pull policies, users and a service’s own variables are read as written, from the default too', () => {
  const pipeline = expanded(`
default:
  image: { name: "alpine:3", pull_policy: never, docker: { user: root }, kubernetes: { user: 1000 } }
inherits: { script: x }
own:
  script: x
  image: { name: "ruby:3", pull_policy: [always, if-not-present], kubernetes: { user: "$UID:1001" } }
  services:
    - name: postgres:18
      pull_policy: always
      docker: { user: "" }
      variables: { KUBERNETES_SERVICE_CPU_LIMIT: 2 }
plain: { script: x, image: "alpine:3" }
`);
  expect(jobNamed(pipeline, 'inherits')).toMatchObject({
    pullPolicies: ['never'],
    dockerUser: 'root',
    kubernetesUser: '1000',
  });
  const own = jobNamed(pipeline, 'own');
  expect(own).toMatchObject({ pullPolicies: ['always', 'if-not-present'], kubernetesUser: '$UID:1001' });
  expect(own).not.toHaveProperty('dockerUser');
  expect(own.services).toEqual([
    { name: 'postgres:18', pullPolicies: ['always'], variables: { KUBERNETES_SERVICE_CPU_LIMIT: '2' } },
  ]);
  expect(jobNamed(pipeline, 'plain')).not.toHaveProperty('pullPolicies');
});

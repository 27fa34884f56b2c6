import { describe, expect, test } from 'vitest';
import type { KnownRun } from '../../../../scripts/cli/pipeline/known-run.ts';
import { expanded, jobNamed, names } from './folder.ts';

const PUSH: KnownRun = { ref: 'main', source: 'push', predefined: { CI_DEFAULT_BRANCH: 'main' } };
const MERGE_REQUEST: KnownRun = { ...PUSH, ref: 'feature/x', source: 'merge_request_event' };
const TAG: KnownRun = { ...PUSH, ref: 'v1.2.0', isTag: true };
const SCHEDULE: KnownRun = { ...PUSH, source: 'schedule' };

function fateOf(rules: string, run: KnownRun, above = ''): string {
  const pipeline = expanded(`${above}\nj: { script: x, variables: { OWN: o, EMPTY: '' }, ${rules} }`, run);
  const [job] = pipeline.jobs;
  if (job === undefined) return pipeline.leftOut.length === 1 ? 'left out' : 'lost';
  return job.dependsOn === undefined ? 'runs' : `depends on ${job.dependsOn.join('; ')}`;
}

describe('an expression is judged as GitLab does', () => {
  test.each([
    ['$CI_COMMIT_TAG', false],
    ['$CI_MERGE_REQUEST_IID', false],
    // Set in jobs, after the rules.
    ['$CI_JOB_ID', false],
    ['$OWN', true],
    ['$EMPTY', false],
    ['$EMPTY == null', false],
    ['$EMPTY == ""', true],
    // Ruby: an empty text is true on the left of && and of ||.
    ['$EMPTY && $OWN', true],
    ['$EMPTY || $OWN', false],
    ['$OWN =~ /^O$/', false],
    ['$CI_COMMIT_TAG =~ /^v/', false],
    ['$CI_COMMIT_REF_NAME =~ /^(main|feature\\/.+)$/', true],
    ['$PATTERN_OF_FILE =~ $OWN', false],
    ['$OWN == "x" || $OWN == "o" && $CI_COMMIT_BRANCH == "main"', true],
    ['($OWN == "o" || $OWN == "p") && $CI_COMMIT_BRANCH == "x"', false],
    ['!($OWN == "x")', true],
  ])('%s is %s on main', (expression, holds) => {
    const above = 'variables: { PATTERN_OF_FILE: o }';
    const rules = `rules: [{ if: '${expression.replaceAll("'", "''")}' }]`;
    expect(fateOf(rules, PUSH, above)).toBe(holds ? 'runs' : 'left out');
  });

  test.each(['$OWN ==', '== "a"', '$OWN = "a"', '$ {OWN}', '($OWN', ''])(
    '"%s" is no expression, which is said',
    (text) => {
      const pipeline = expanded(`j: { script: x, rules: [{ if: '${text}' }, { when: always }] }`);
      expect(jobNamed(pipeline, 'j').notRead).toEqual([
        `the condition "${text}" is not understood; taken as false`,
      ]);
      expect(names(pipeline)).toEqual(['j']);
    },
  );
});

describe('rules', () => {
  test('that are an empty list leave the job out', () => {
    expect(fateOf('rules: []', PUSH)).toBe('left out');
  });

  test('files exist by GitLab’s patterns', () => {
    const files = (path: string) => ({
      '.gitlab-ci.yml': `j: { script: x, rules: [{ exists: ['${path}'] }] }`,
      'src/deep/app.go': '',
      Dockerfile: '',
      'docs/a.md': '',
    });
    const exists = (path: string) => names(expanded(files(path))).length === 1;
    for (const path of [
      'Dockerfile',
      '**/*.go',
      'src/**/*',
      '*.yml',
      'docs/?.md',
      '{docs,ci}/*.md',
      '/Dockerfile',
      'docs/[ab].md',
    ])
      expect(exists(path), path).toBe(true);
    for (const path of ['*.go', 'docs/*.txt', 'src/*.go', 'dockerfile', '{src,ci}/*.md', 'docs/[!a].md'])
      expect(exists(path), path).toBe(false);
  });
});

describe('what nobody can tell makes a job depend on rules', () => {
  test.each([
    { rules: 'rules: [{ if: $DEPLOY }]', depends: 'depends on $DEPLOY' },
    { rules: `rules: [{ if: '$DEPLOY == "yes"' }]`, depends: 'depends on $DEPLOY == "yes"' },
    { rules: 'rules: [{ changes: [a.go] }]', depends: 'depends on changes in a.go' },
    { rules: 'rules: [{ if: $DEPLOY, when: never }, { when: always }]', depends: 'depends on $DEPLOY' },
    { rules: 'rules: [{ if: $DEPLOY }, { when: always }]', depends: 'runs' },
    { rules: `rules: [{ if: '$DEPLOY != "a" && $DEPLOY == "a"' }]`, depends: 'left out' },
    { rules: `rules: [{ if: '$DEPLOY == "a" && $DEPLOY == "b"' }]`, depends: 'left out' },
  ])('$rules: $depends', ({ rules, depends }) => {
    expect(fateOf(rules, PUSH)).toBe(depends);
  });

  test('without a ref and a source their conditions are open, with them they are not', () => {
    const rules = `rules: [{ if: '$CI_PIPELINE_SOURCE == "push" && $CI_COMMIT_BRANCH == "main"' }]`;
    expect(fateOf(rules, {})).toBe('depends on $CI_PIPELINE_SOURCE == "push"; $CI_COMMIT_BRANCH == "main"');
    expect(fateOf(rules, PUSH)).toBe('runs');
    expect(fateOf(rules, MERGE_REQUEST)).toBe('left out');
  });

  test('a variable that was given decides, also against the file, and one that is not set too', () => {
    const rules = 'rules: [{ if: $OWN == "given" }]'.replace('$OWN == "given"', `'$OWN == "given"'`);
    expect(fateOf(rules, { ...PUSH, given: { OWN: 'given' } })).toBe('runs');
    expect(fateOf('rules: [{ if: $DEPLOY }]', { ...PUSH, given: { DEPLOY: 'yes' } })).toBe('runs');
    expect(fateOf('rules: [{ if: $DEPLOY }]', { ...PUSH, given: { DEPLOY: null } })).toBe('left out');
    // Not set by GitLab's settings, and yet by the file.
    expect(fateOf('rules: [{ if: $OWN }]', { ...PUSH, given: { OWN: null } })).toBe('runs');
    expect(
      jobNamed(expanded('j: { script: x, image: "a:$V", variables: { V: "1" } }', { given: { V: '2' } }), 'j')
        .image,
    ).toBe('a:2');
  });

  test('it has a form for each way its rules may end, and none for a way that cannot be', () => {
    const pipeline = expanded(
      `j:
  script: x
  image: $IMAGE
  rules:
    - { if: '$KIND == "a"', variables: { IMAGE: a } }
    - { if: '$KIND == "b"', variables: { IMAGE: b } }
    - { if: '$KIND == "a"', variables: { IMAGE: never } }
    - { if: $CI_COMMIT_TAG, variables: { IMAGE: tag } }
`,
      PUSH,
    );
    const job = jobNamed(pipeline, 'j');
    expect([job, ...(job.otherForms ?? [])].map(({ image }) => image)).toEqual(['a', 'b']);
    expect(job.dependsOn).toEqual(['$KIND == "a"', '$KIND == "b"']);
  });

  test('of a list with more ways than can be looked at, no form is missed', () => {
    const rules = Array.from(
      { length: 30 },
      (_, at) => `    - { if: "$A${at} || $B${at}", variables: { IMAGE: i${at} } }`,
    );
    const pipeline = expanded(`j:\n  script: x\n  image: $IMAGE\n  rules:\n${rules.join('\n')}`);
    const job = jobNamed(pipeline, 'j');
    expect(1 + (job.otherForms?.length ?? 0)).toBe(30);
    expect(job.dependsOn).toHaveLength(60);
  });

  test.each([
    { run: TAG, runs: 'runs' },
    { run: SCHEDULE, runs: 'runs' },
    { run: PUSH, runs: 'depends on changes in a.go' },
  ])('where GitLab does not look which files changed, they all count as changed', ({ run, runs }) => {
    expect(fateOf('rules: [{ changes: { paths: [a.go] } }]', run)).toBe(runs);
  });
});

describe('only and except', () => {
  test.each([
    { says: '', push: 'runs', mergeRequest: 'left out', tag: 'runs' },
    { says: 'only: [main]', push: 'runs', mergeRequest: 'left out', tag: 'left out' },
    { says: 'only: [merge_requests, tags]', push: 'left out', mergeRequest: 'runs', tag: 'runs' },
    { says: 'only: ["/^v[0-9.]+$/"]', push: 'left out', mergeRequest: 'left out', tag: 'runs' },
    { says: 'except: [main]', push: 'left out', mergeRequest: 'left out', tag: 'runs' },
    {
      says: 'only: { refs: [branches], variables: [$CI_COMMIT_TAG] }',
      push: 'left out',
      mergeRequest: 'left out',
      tag: 'left out',
    },
    {
      says: 'only: { refs: [pushes], variables: [$OWN] }',
      push: 'runs',
      mergeRequest: 'left out',
      tag: 'runs',
    },
    { says: 'rules: [{ when: on_success }]', push: 'runs', mergeRequest: 'runs', tag: 'runs' },
  ])('$says', ({ says, push, mergeRequest, tag }) => {
    expect([fateOf(says, PUSH), fateOf(says, MERGE_REQUEST), fateOf(says, TAG)]).toEqual([
      push,
      mergeRequest,
      tag,
    ]);
  });

  test('a job without them runs in every pipeline that workflow:rules create', () => {
    expect(fateOf('', MERGE_REQUEST, 'workflow: { rules: [{ when: always }] }')).toBe('runs');
  });
});

describe('workflow:rules', () => {
  const files = `
variables: { SIZE: file }
workflow:
  rules:
    - { if: $CI_COMMIT_TAG, variables: { SIZE: workflow } }
    - { if: '$CI_PIPELINE_SOURCE == "push"' }
j: { script: x, tags: [$SIZE] }
own: { script: x, tags: [$SIZE], variables: { SIZE: own } }
`;

  test('that nobody can tell leave the pipeline open, and a job has the form of each', () => {
    const pipeline = expanded(files);
    expect(pipeline).toMatchObject({
      isCreated: 'depends',
      workflowDependsOn: ['$CI_COMMIT_TAG', '$CI_PIPELINE_SOURCE == "push"'],
    });
    const job = jobNamed(pipeline, 'j');
    expect([job, ...(job.otherForms ?? [])].map(({ tags }) => tags)).toEqual([['workflow'], ['file']]);
  });
});

describe('include:rules', () => {
  const files = {
    '.gitlab-ci.yml': `
include:
  - { local: ours.yml, rules: [{ if: '$CI_PROJECT_PATH == "acme/app"', when: always }] }
  - { local: forks.yml, rules: [{ if: '$CI_PROJECT_PATH == "acme/app"', when: never }, { if: $CI_PROJECT_PATH }] }
a: { script: x }
`,
    'ours.yml': 'a: { tags: [ours] }\nrelease: { script: x }',
    'forks.yml': 'a: { tags: [forks], image: forks }',
  };

  test('that nobody can tell give a job the form of each, and never a mixture', () => {
    const pipeline = expanded(files);
    const job = jobNamed(pipeline, 'a');
    expect([job, ...(job.otherForms ?? [])].map(({ tags, image }) => [tags, image])).toEqual([
      [['ours'], undefined],
      [['forks'], 'forks'],
    ]);
    expect(job.dependsOn).toEqual(['$CI_PROJECT_PATH == "acme/app"']);
    expect(jobNamed(pipeline, 'release').dependsOn).toEqual(['$CI_PROJECT_PATH == "acme/app"']);
  });

  test('do not see the variables of the files', () => {
    const own = {
      ...files,
      '.gitlab-ci.yml':
        'variables: { ON: "1" }\ninclude: [{ local: ours.yml, rules: [{ if: $ON }] }]\na: { script: x }',
    };
    expect(jobNamed(expanded(own), 'release').dependsOn).toEqual(['$ON']);
  });
});

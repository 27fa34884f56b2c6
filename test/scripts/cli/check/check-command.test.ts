import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXIT } from '../../../../scripts/terminal/command.ts';
import { type CheckedJob, PROJECT, repository } from './check-bench.ts';

const FILES = {
  '.gitlab-ci.yml': `include:
  - local: ci/jobs.yml
stages: [build, test]

build:
  extends: .node
  stage: build
  parallel: { matrix: [{ APP: [shop, admin] }] }

deploy:
  stage: test
  image: alpine:3.22
  environment: production
  tags: [large]
  script: deploy
`,
  'ci/jobs.yml': `.node:
  image: node:24
  script: x

unit:
  extends: .node
  image: alpine:3.22
`,
};
const RULES = [
  { id: 'budgets', kind: 'budget', mode: 'enforce' },
  { id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'], message: 'Ask @all in acme/images.' },
  { id: 'fixed', kind: 'image', mode: 'warn', deny: ['alpine:3.22'], match: { jobs: ['unit'] } },
  {
    id: 'humans',
    kind: 'image',
    mode: 'enforce',
    deny: ['*'],
    match: { environments: ['production'], users: [5] },
  },
];
const LIMITS = [{ on: { group: 101 }, money: 6.5, per: 'month' }];
const shop = (more: Partial<Parameters<typeof repository>[0]> = {}) =>
  repository({ files: FILES, rules: RULES, limits: LIMITS, ...more });
const BUDGETS = [{ id: 'budgets', kind: 'budget', mode: 'enforce' }];

test('each job of a matrix, of an include and of the file is judged, with what only GitLab tells asked for', async () => {
  const house = shop();
  const { code, outcome, total, jobs } = await house.json(...PROJECT);
  expect(outcome).toEqual({
    'build: [shop]': 'rejected',
    'build: [admin]': 'rejected',
    deploy: 'not sure',
    unit: 'ok',
  });
  expect(code).toBe(EXIT.wouldReject);
  expect(total).toEqual({ jobs: 4, costMicros: 9_000_000, rejected: 2, notSure: 1, ok: 1 });
  expect(jobs.find(({ name }: CheckedJob) => name === 'deploy')).toMatchObject({
    environment: 'production',
    runnerClass: 'large',
    cannotTell: [{ rule: 'humans', needs: ['userId'] }],
  });
  expect((await house.check(...PROJECT)).out).toContain('humans: needs userId (--user)');
  expect((await house.json(...PROJECT, '--user', '5')).outcome.deploy).toBe('rejected');
  expect((await house.json(...PROJECT, '--user', '6')).outcome.deploy).toBe('ok');
});

test('a rejection that an unknown user or group might escape is not certain', async () => {
  const rules = [
    { id: 'images', kind: 'image', mode: 'enforce', allow: ['x'], match: { not: { users: [5] } } },
  ];
  const house = shop({ rules });
  expect((await house.json(...PROJECT)).outcome.unit).toBe('not sure');
  expect((await house.json(...PROJECT, '--user', '6')).outcome.unit).toBe('rejected');
  expect((await house.json(...PROJECT, '--user', '5')).outcome.unit).toBe('ok');
  expect((await shop().json()).outcome.unit).toBe('not sure');
  expect((await shop().check()).out).toContain('no --project');
});

test.each([
  ['reject', 'rejected'],
  ['skip', 'ok'],
])('a job without an image has none in GitLab either: on_missing %s decides', async (on_missing, outcome) => {
  const rules = [{ id: 'images', kind: 'image', mode: 'enforce', allow: ['x'], on_missing }];
  expect((await shop({ files: 'unit: { script: x }', rules }).json(...PROJECT)).outcome).toEqual({
    unit: outcome,
  });
});

test('a job that never fits its limit would be rejected, a run that does not fit is told', async () => {
  const house = shop({ rules: BUDGETS });
  const fits = await house.check(...PROJECT);
  expect(fits.code).toBe(EXIT.ok);
  expect(fits.out).toMatch(
    /money-month of group acme\/payments: 9\.00 of 6\.50 EUR for November 2026\n +more than the whole limit/,
  );
  const never = shop({ rules: BUDGETS, limits: [{ on: { group: 101 }, money: 5.99, per: 'month' }] });
  const { code, jobs } = await never.json(...PROJECT);
  expect(code).toBe(EXIT.wouldReject);
  expect(jobs.find(({ name }: CheckedJob) => name === 'deploy')).toMatchObject({
    rejects: [{ reason: { code: 'EXCEEDS_LIMIT_ALONE' } }],
  });
});

test('no line is wider than 80 columns, and rows stay whole', async () => {
  const columns = 80;
  const { out } = await shop().at(columns, ...PROJECT);
  for (const line of out.split('\n')) expect([...line].length, line).toBeLessThanOrEqual(columns);
  expect(out).toMatch(/^build \(2 jobs\) +small +2\.00 EUR +rejected +images$/m);
  expect(out).toMatch(/^unit +small +1\.00 EUR +ok +fixed \(warn\)$/m);
});

test('findings name the rule, the reason, its message and where the job stands; --verbose has every rule', async () => {
  const { out } = await shop().check(...PROJECT, '--verbose');
  expect(out).toMatch(
    /images: \[IMAGE_NOT_ALLOWED\] image "node:24" matches no allowed pattern\n +Ask @all in acme\/images\.\n +build \(2 jobs\) +\.gitlab-ci\.yml:5\n/,
  );
  expect(out).toMatch(/fixed \(warn\): \[IMAGE_NOT_ALLOWED\].*\n +unit +ci\/jobs\.yml:5\n/);
  expect(out.trimEnd().split('\n').at(-1)).toBe(
    '4 jobs, about 9.00 EUR a run; 2 would be rejected; 1 not sure',
  );
  expect(out).toMatch(/humans +image +enforce +does not match: environments is none/);
  expect(out).toMatch(/fixed +image +warn +does not match: jobs is build: \[shop\]/);
});

const HOSTILE = `unit: { image: 'alpine:3.22', script: x }
big: { image: 'alpine:3.22', script: x, parallel: 2 }
"/merge | \`@all\`": { image: 'node:24', script: x }
"\\e[31mred": { script: x, image: "node\\e[2J" }
`;

test('costs now and before, as text and Markdown, in which no file is a quick action, a mention or an escape', async () => {
  const house = shop({
    files: {
      '.gitlab-ci.yml': HOSTILE,
      'before/.gitlab-ci.yml': HOSTILE.replace('big:', 'old:').replace(', parallel: 2', ''),
    },
  });
  const args = [...PROJECT, '--before', 'before', '--markdown', 'check.md'];
  const { out } = await house.check(...args, '--verbose');
  expect(out).toMatch(/about [\d.]+ EUR a run; before about [\d.]+ EUR; /);
  const { total, before } = await house.json(...args);
  expect([total.jobs, before.jobs]).toEqual([5, 4]);
  const text = readFileSync(join(house.folder, 'check.md'), 'utf8');
  expect(text).toMatch(/^### Tollgate: 5 jobs, about [\d.]+ EUR a run; before about [\d.]+ EUR; /);
  expect(text).toMatch(/^- `big: new, [\d.]+ EUR`$/m);
  expect(text).toMatch(/^- `old: gone, was [\d.]+ EUR`$/m);
  expect(text).toMatch(
    /^- `images: \[IMAGE_NOT_ALLOWED\] .*`\n {2}- `Ask @all in acme\/images\.`\n {2}- `\/merge \| '@all' \.gitlab-ci\.yml:3`$/m,
  );
  expect(text).not.toMatch(/^- `unit: /m);
  expect(text).not.toMatch(/^\s*\//m);
  // Whatever is left outside of code spans is ours.
  expect(text.replaceAll(/`[^`\n]*`/g, '')).not.toContain('@');
  expect(out + text).not.toContain('\u001b');
});

const report = async (house: ReturnType<typeof shop>) => {
  await house.check(...PROJECT, '--code-quality', 'report.json');
  return JSON.parse(readFileSync(join(house.folder, 'report.json'), 'utf8'));
};

test('the code quality report has each finding once, at its line, with a fingerprint that moves with it', async () => {
  const house = shop();
  const before = await report(house);
  expect(before).toEqual([
    {
      description:
        'Job "build" would be rejected by rule images: [IMAGE_NOT_ALLOWED] image "node:24" matches no allowed pattern',
      check_name: 'images',
      fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
      severity: 'blocker',
      location: { path: '.gitlab-ci.yml', lines: { begin: 5 } },
    },
    {
      description: expect.stringContaining('Job "unit" is watched (warn) by rule fixed'),
      check_name: 'fixed',
      fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
      severity: 'minor',
      location: { path: 'ci/jobs.yml', lines: { begin: 5 } },
    },
  ]);
  house.write('.gitlab-ci.yml', `# moved\n\n${FILES['.gitlab-ci.yml']}`);
  house.write('ci/jobs.yml', FILES['ci/jobs.yml'].replace('node:24', 'node:26'));
  const [changed, same] = await report(house);
  expect(changed.fingerprint).not.toBe(before[0].fingerprint);
  expect(same.fingerprint).toBe(before[1].fingerprint);
  expect(await report(shop({ rules: [] }))).toEqual([]);
});

test.each([
  [['nowhere'], 'nowhere: no such file or folder'],
  [['--variable', '=1'], '--variable "=1": expected a name and a value'],
  [['--input', 'tag'], '--input "tag": expected a name and a value'],
  [['--code-quality', '/dev/null/folder.json'], 'cannot be written'],
])('%j is wrong usage: %s', async (args, says) => {
  expect(await shop().check(...args)).toMatchObject({
    code: EXIT.invalid,
    err: expect.stringContaining(says),
  });
});

test('what a job asks of Kubernetes is judged: variables, those of services, pull policy and user', async () => {
  const files = `variables: { CORES: "8" }
cores: { script: x, variables: { KUBERNETES_CPU_REQUEST: $CORES } }
service: { script: x, services: [{ name: redis, variables: { KUBERNETES_SERVICE_CPU_REQUEST: "9" } }] }
pull: { script: x, image: { name: alpine, pull_policy: always } }
user: { script: x, image: { name: alpine, kubernetes: { user: "0" } } }
modest: { script: x, image: { name: alpine, pull_policy: if-not-present, kubernetes: { user: "1000" } } }
`;
  const rules = [
    { id: 'cores', kind: 'resources', mode: 'enforce', build: { cpu: '4' }, service: { cpu: '4' } },
    { id: 'pull', kind: 'pull-policy', mode: 'enforce', allow: ['if-not-present'] },
    { id: 'user', kind: 'container-user', mode: 'enforce' },
  ];
  const { jobs } = await shop({ files, rules }).json(...PROJECT);
  const rejects = jobs.map((job: CheckedJob) => [job.name, job.rejects.map(({ rule }) => rule).join()]);
  expect(Object.fromEntries(rejects)).toEqual({
    cores: 'cores',
    service: 'cores',
    pull: 'pull',
    user: 'user',
    modest: '',
  });
});

test('variables of the file are judged, and those that only settings may hold cannot be told', async () => {
  const files = `variables: { BASE: "47" }
good: { script: x, variables: { CENTER: $BASE } }
wrong: { script: x, variables: { CENTER: "08" } }
raw: { script: x, variables: { CENTER: { value: $BASE, expand: false } } }
unset: { script: x }
`;
  const needed = { on_missing: 'reject', require: ['CENTER'], allow: { CENTER: ['47'] } };
  const house = shop({ files, rules: [{ id: 'center', kind: 'variables', mode: 'enforce', ...needed }] });
  expect((await house.json(...PROJECT)).outcome).toEqual({
    good: 'ok',
    wrong: 'rejected',
    raw: 'rejected',
    unset: 'not sure',
  });
  expect((await house.check(...PROJECT)).out).toContain('needs variable CENTER');
});

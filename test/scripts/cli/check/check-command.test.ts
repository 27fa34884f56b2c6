import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXIT, UsageError } from '../../../../scripts/terminal/command.ts';
import { repository } from './check-bench.ts';

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
  { id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'], message: 'Ask in acme/images.' },
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
const PROJECT = ['--project', 'acme/payments/checkout'];
const shop = (more: Partial<Parameters<typeof repository>[0]> = {}) =>
  repository({ files: FILES, rules: RULES, limits: LIMITS, ...more });

interface CheckJson {
  readonly jobs: readonly { name: string; verdict: string; [key: string]: unknown }[];
  readonly total: Readonly<Record<string, number>>;
  readonly limits: readonly object[];
}

async function checked(house: ReturnType<typeof shop>, ...args: string[]) {
  const { code, out } = await house.check(...args, '--json');
  const json: CheckJson = JSON.parse(out);
  return { code, json, verdicts: Object.fromEntries(json.jobs.map(({ name, verdict }) => [name, verdict])) };
}

describe('verdicts', () => {
  test('each job of a matrix, of an include and of the file is judged', async () => {
    using house = shop();
    const { code, verdicts, json } = await checked(house, ...PROJECT);
    expect(verdicts).toEqual({
      'build: [shop]': 'rejected',
      'build: [admin]': 'rejected',
      deploy: 'not sure',
      unit: 'ok',
    });
    expect(code).toBe(EXIT.wouldReject);
    expect(json.total).toEqual({ jobs: 4, costMicros: 9_000_000, rejected: 2, notSure: 1, ok: 1 });
  });

  test('what only GitLab tells is asked for, and with it the answer is certain', async () => {
    using house = shop();
    const { json } = await checked(house, ...PROJECT);
    expect(json.jobs.find(({ name }) => name === 'deploy')).toMatchObject({
      environment: 'production',
      runnerClass: 'large',
      cannotTell: [{ rule: 'humans', needs: ['userId'] }],
    });
    expect((await house.check(...PROJECT)).out).toContain('humans: needs userId (--user)');
    expect((await checked(house, ...PROJECT, '--user', '5')).verdicts.deploy).toBe('rejected');
    expect((await checked(house, ...PROJECT, '--user', '6')).verdicts.deploy).toBe('ok');
  });

  test('a rejection that an unknown user might escape is not certain', async () => {
    const rules = [
      { id: 'images', kind: 'image', mode: 'enforce', allow: ['x'], match: { not: { users: [5] } } },
    ];
    using house = shop({ rules });
    expect((await checked(house, ...PROJECT)).verdicts.unit).toBe('not sure');
    expect((await checked(house, ...PROJECT, '--user', '6')).verdicts.unit).toBe('rejected');
    expect((await checked(house, ...PROJECT, '--user', '5')).verdicts.unit).toBe('ok');
  });

  test('a job without an image has none in GitLab either: on_missing decides', async () => {
    const rule = { id: 'images', kind: 'image', mode: 'enforce', allow: ['x'] };
    const files = { '.gitlab-ci.yml': 'unit: { script: x }' };
    using closed = shop({ files, rules: [{ ...rule, on_missing: 'reject' }] });
    using open = shop({ files, rules: [{ ...rule, on_missing: 'skip' }] });
    expect((await checked(closed, ...PROJECT)).verdicts.unit).toBe('rejected');
    expect((await checked(open, ...PROJECT)).verdicts.unit).toBe('ok');
  });

  test('without a project the limits and rules of groups cannot be told, and that rejects nobody', async () => {
    using house = shop();
    const { verdicts } = await checked(house);
    expect(verdicts.unit).toBe('not sure');
    expect((await house.check()).out).toContain('no --project');
  });

  test('a job that never fits its limit would be rejected, a run that does not fit is told', async () => {
    using house = shop({ rules: [{ id: 'budgets', kind: 'budget', mode: 'enforce' }] });
    const fits = await house.check(...PROJECT);
    expect(fits.code).toBe(EXIT.ok);
    expect(fits.out).toMatch(/money-month\s+group acme\/payments\s+9.00 of 6.50 EUR for November 2026/);
    expect(fits.out).toContain('more than the whole money-month of group acme/payments');
    const dear = await checked(house, ...PROJECT, '--class', 'large', '--timeout', '1h');
    expect(dear.verdicts.unit).toBe('ok');
    house.write(
      'limits.yaml',
      JSON.stringify({ limits: [{ on: { group: 101 }, money: 5.99, per: 'month' }] }),
    );
    const never = await checked(house, ...PROJECT, '--class', 'large');
    expect(never.code).toBe(EXIT.wouldReject);
    expect(never.json.jobs[0]).toMatchObject({ rejects: [{ reason: { code: 'EXCEEDS_LIMIT_ALONE' } }] });
  });
});

describe('what people read', () => {
  test.each([80, 160])(
    'no line of the table is wider than %i columns, and rows stay whole',
    async (columns) => {
      using house = shop();
      const { out } = await house.at(columns, ...PROJECT);
      for (const line of out.split('\n')) expect([...line].length, line).toBeLessThanOrEqual(columns);
      expect(out).toMatch(/^build \(2 jobs\) +small +2\.00 EUR +rejected +images$/m);
      expect(out).toMatch(/^unit +small +1\.00 EUR +ok +fixed \(warn\)$/m);
    },
  );

  test('findings name the rule, the reason, its message and where the job stands', async () => {
    using house = shop();
    const { out } = await house.check(...PROJECT);
    expect(out).toMatch(
      /images: \[IMAGE_NOT_ALLOWED\] image "node:24" matches no allowed pattern\n +Ask in acme\/images\.\n +build \(2 jobs\) +\.gitlab-ci\.yml:5\n/,
    );
    expect(out).toMatch(/fixed \(warn\): \[IMAGE_NOT_ALLOWED\].*\n +unit +ci\/jobs\.yml:5\n/);
    expect(out.trimEnd().split('\n').at(-1)).toBe(
      '4 jobs, about 9.00 EUR a run; 2 would be rejected; 1 not sure',
    );
  });

  test('with --verbose every rule of every job is there, matched or not', async () => {
    using house = shop();
    const { out } = await house.check(...PROJECT, '--verbose');
    expect(out).toMatch(/humans +image +enforce +not matched +environments \(this job: none\)/);
    expect(out).toMatch(/fixed +image +warn +not matched +jobs \(this job: build: \[shop\]\)/);
  });

  test('a name that a terminal would obey is made harmless', async () => {
    const files = { '.gitlab-ci.yml': '"\\e[31mred": { script: x, image: "node\\e[2J" }' };
    using house = shop({ files });
    expect((await house.check(...PROJECT, '--verbose')).out).not.toContain('\u001b');
  });
});

describe('the code quality report', () => {
  const report = async (house: ReturnType<typeof shop>) => {
    await house.check(...PROJECT, '--code-quality', 'report.json');
    return JSON.parse(readFileSync(join(house.folder, 'report.json'), 'utf8'));
  };

  test('has each finding once, at the line of its job in its own file', async () => {
    using house = shop();
    expect(await report(house)).toEqual([
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
  });

  test('keeps its fingerprints when lines move, and not when the finding changes', async () => {
    using house = shop();
    const prints = async (): Promise<readonly string[]> =>
      (await report(house)).map(({ fingerprint }: { fingerprint: string }) => fingerprint);
    const before = await prints();
    house.write('.gitlab-ci.yml', `# moved\n\n${FILES['.gitlab-ci.yml']}`);
    expect(await prints()).toEqual(before);
    house.write('ci/jobs.yml', FILES['ci/jobs.yml'].replace('node:24', 'node:26'));
    const [changed, same] = await prints();
    expect(changed).not.toBe(before[0]);
    expect(same).toBe(before[1]);
  });

  test('is an empty list where nothing was found', async () => {
    using house = shop({ rules: [] });
    expect(await report(house)).toEqual([]);
  });
});

test('images are judged with their variables put in, or as they are written on request', async () => {
  const files = { '.gitlab-ci.yml': 'variables: { TAG: "3.22" }\nunit: { script: x, image: "alpine:$TAG" }' };
  const rules = [{ id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:3.*'] }];
  using house = shop({ files, rules });
  expect((await house.check(...PROJECT)).code).toBe(EXIT.ok);
  expect((await house.check(...PROJECT, '--images', 'as-written')).code).toBe(EXIT.wouldReject);
});

test.each([
  { args: ['nowhere'], says: 'nowhere: no such file or folder' },
  { args: ['ci'], says: 'ci: has no .gitlab-ci.yml' },
  { args: ['.gitlab-ci.yml', 'ci'], says: '"ci": expected one folder' },
  { args: ['--class', 'huge'], says: 'is no runner class' },
  { args: ['--images', 'raw'], says: 'expected expanded, as-written' },
  { args: ['--code-quality', '/dev/null/folder.json'], says: 'cannot be written' },
])('$args is wrong usage: $says', async ({ args, says }) => {
  using house = shop();
  const run = house.check(...args);
  await expect(run).rejects.toThrow(UsageError);
  await expect(run).rejects.toThrow(says);
});

test('a file without jobs says why instead of passing', async () => {
  using house = shop({
    files: { '.gitlab-ci.yml': '.hidden: { script: x }' },
  });
  await expect(house.check(...PROJECT)).rejects.toThrow('.gitlab-ci.yml: has no job; GitLab creates no');
});

test('what a job asks of Kubernetes is judged: variables, those of services, pull policy and user', async () => {
  const files = {
    '.gitlab-ci.yml': `variables: { CORES: "8" }
cores: { script: x, variables: { KUBERNETES_CPU_REQUEST: $CORES } }
service: { script: x, services: [{ name: redis, variables: { KUBERNETES_SERVICE_CPU_REQUEST: "9" } }] }
pull: { script: x, image: { name: alpine, pull_policy: always } }
user: { script: x, image: { name: alpine, kubernetes: { user: "0" } } }
modest: { script: x, image: { name: alpine, pull_policy: if-not-present, kubernetes: { user: "1000" } } }
`,
  };
  const rules = [
    { id: 'cores', kind: 'resources', mode: 'enforce', build: { cpu: '4' }, service: { cpu: '4' } },
    { id: 'pull', kind: 'pull-policy', mode: 'enforce', allow: ['if-not-present'] },
    { id: 'user', kind: 'container-user', mode: 'enforce' },
  ];
  using house = shop({ files, rules });
  const { json } = await checked(house, ...PROJECT);
  const told = json.jobs.map(({ name, rejects }) => [
    name,
    (rejects as { rule: string }[]).map(({ rule }) => rule),
  ]);
  expect(Object.fromEntries(told)).toEqual({
    cores: ['cores'],
    service: ['cores'],
    pull: ['pull'],
    user: ['user'],
    modest: [],
  });
});

test('variables of the file are judged, and those that only settings may hold cannot be told', async () => {
  const files = {
    '.gitlab-ci.yml': `variables: { BASE: "47" }
good: { script: x, variables: { CENTER: $BASE } }
wrong: { script: x, variables: { CENTER: "08" } }
raw: { script: x, variables: { CENTER: { value: $BASE, expand: false } } }
unset: { script: x }
`,
  };
  const rules = [
    {
      id: 'center',
      kind: 'variables',
      mode: 'enforce',
      on_missing: 'reject',
      require: ['CENTER'],
      allow: { CENTER: ['47'] },
    },
  ];
  using house = shop({ files, rules });
  const { json } = await checked(house, ...PROJECT);
  expect(json.jobs.map(({ name, verdict }) => [name, verdict])).toEqual([
    ['good', 'ok'],
    ['wrong', 'rejected'],
    ['raw', 'rejected'],
    ['unset', 'not sure'],
  ]);
  expect((await house.check(...PROJECT)).out).toContain('needs variable CENTER');
});

import { describe, expect, test } from 'vitest';
import { printFailure } from '../../../../scripts/cli/run-tollgate.ts';
import { EXIT, UsageError } from '../../../../scripts/terminal/command.ts';
import { repository } from './check-bench.ts';

const RULES = [{ id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'] }];
const PROJECT = ['--project', 'acme/payments/checkout'];
const house = (text: string | Readonly<Record<string, string>>) =>
  repository({ files: typeof text === 'string' ? { '.gitlab-ci.yml': text } : text, rules: RULES });

interface Answer {
  readonly jobs: readonly { name: string; verdict: string; dependsOn?: readonly string[]; forms?: number }[];
  readonly leftOut: readonly { name: string; line: number }[];
  readonly warnings: readonly string[];
  readonly created: string;
}

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

async function answer(
  text: Parameters<typeof house>[0],
  ...args: string[]
): Promise<Answer & { code: number }> {
  using files = house(text);
  const { code, out } = await files.check(...PROJECT, ...args, '--json');
  return { code, ...JSON.parse(out) };
}

describe('jobs whose rules set their image', () => {
  test('are all rejected in the run that sets a forbidden one, and none in the other', async () => {
    const scheduled = await answer(RULED, '--source', 'schedule', '--ref', 'main');
    expect(scheduled.jobs.filter(({ verdict }) => verdict === 'rejected')).toHaveLength(35);
    expect(scheduled.code).toBe(EXIT.wouldReject);
    const pushed = await answer(RULED, '--source', 'push', '--ref', 'main');
    expect(pushed.jobs.filter(({ verdict }) => verdict === 'ok')).toHaveLength(35);
    expect(pushed.code).toBe(EXIT.ok);
  });

  test('are not sure where the flags leave the run open, and never falsely ok', async () => {
    const open = await answer(RULED, '--ref', 'main');
    expect(open.jobs.map(({ verdict }) => verdict)).toEqual(Array.from({ length: 35 }, () => 'not sure'));
    expect(open.jobs[0]).toMatchObject({ forms: 2, dependsOn: ['$CI_PIPELINE_SOURCE == "schedule"'] });
    using files = house(RULED);
    const { out } = await files.at(200, ...PROJECT, '--ref', 'main');
    expect(out).toContain('depends on rules: $CI_PIPELINE_SOURCE == "schedule" (--source)');
    expect(out).toMatch(/Depends on rules, which the files and flags do not decide \(35 jobs\)/);
    expect(out.trimEnd()).toMatch(/none would be rejected; 35 not sure; 35 depend on rules$/);
  });

  test('are rejected for certain where every form is', async () => {
    const text = RULED.replace('alpine:3', 'debian:3');
    const { jobs, code } = await answer(text, '--ref', 'main');
    expect(jobs.every(({ verdict }) => verdict === 'rejected')).toBe(true);
    expect(code).toBe(EXIT.wouldReject);
  });
});

test('a key that is written twice is a warning, and every job is found', async () => {
  const { jobs, warnings, code } = await answer(
    'a: { script: x, image: "b:1", image: "alpine:3" }\nb: { script: x }',
  );
  expect(jobs.map(({ name, verdict }) => [name, verdict])).toContainEqual(['a', 'ok']);
  expect(jobs).toHaveLength(2);
  expect(warnings).toEqual([expect.stringContaining('.gitlab-ci.yml:1: "image" is written twice')]);
  expect(code).toBe(EXIT.ok);
});

test('jobs that do not run are named, and a pipeline that is not created is said to be none', async () => {
  using files = house('a: { script: x, only: [tags] }\nb: { script: x, image: "alpine:3" }');
  const { out, code } = await files.check(...PROJECT, '--ref', 'main');
  expect(code).toBe(EXIT.ok);
  expect(out).toMatch(/Do not run: their rules leave them out \(1 job\)\n {2}a\n/);
  const tagged = await answer('a: { script: x, only: [tags] }', '--ref', 'v1', '--ref-type', 'tag');
  expect(tagged.jobs.map(({ name }) => name)).toEqual(['a']);
  using none = house('workflow: { rules: [{ if: $CI_COMMIT_TAG }] }\na: { script: x }');
  const answered = await none.check(...PROJECT, '--ref', 'main');
  expect(answered.code).toBe(EXIT.ok);
  expect(answered.out).toContain('workflow:rules: GitLab creates no pipeline for this ref and source.');
});

test('variables and inputs of the run are told by flags', async () => {
  const variable = 'a: { script: x, image: "alpine:$V", rules: [{ if: $ON }] }';
  expect((await answer(variable, '--variable', 'ON=1', '--variable', 'V=3')).jobs).toMatchObject([
    { verdict: 'ok' },
  ]);
  expect((await answer(variable, '--variable', 'ON')).leftOut).toMatchObject([{ name: 'a', line: 1 }]);
  const input = 'spec: { inputs: { tag: } }\n---\na: { script: x, image: "alpine:$[[ inputs.tag ]]" }';
  expect((await answer(input, '--input', 'tag=3')).jobs).toMatchObject([{ verdict: 'ok' }]);
});

test.each([
  { args: ['--variable', '=1'], says: '--variable "=1": expected a name and a value' },
  { args: ['--input', 'tag'], says: '--input "tag": expected a name and a value' },
  { args: ['--ref-type', 'commit'], says: 'expected branch, tag' },
])('$args is wrong usage', async ({ args, says }) => {
  using files = house('a: { script: x }');
  const run = files.check(...PROJECT, ...args);
  await expect(run).rejects.toThrow(UsageError);
  await expect(run).rejects.toThrow(says);
});

test.each([
  { text: 'a: { script: x, parallel: 201 }', says: '.gitlab-ci.yml:1: a: parallel comes to 201 jobs' },
  { text: 'a: { script: x }\nb: *gone', says: '.gitlab-ci.yml:2: *gone has no &gone above it' },
  { text: 'spec: { inputs: { at: } }\n---\na: { script: x }', says: 'say --input at=…' },
])('a pipeline that GitLab refuses ends with its place and exit 3: $says', async ({ text, says }) => {
  using files = house(text);
  const failure = await files.check(...PROJECT).then(
    () => undefined,
    (error: unknown) => error,
  );
  const told: string[] = [];
  const io = { out: () => {}, err: (line: string) => told.push(line), cwd: files.folder, env: {} };
  const code = printFailure(failure, 'check', false, io as unknown as Parameters<typeof printFailure>[3]);
  expect(code).toBe(EXIT.invalid);
  expect(told.join('')).toContain(says);
});

/** `tollgate check` about files that it did not read, and about files from which GitLab creates no pipeline. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expandPipeline } from '../../../../scripts/cli/pipeline/expand-pipeline.ts';
import { EXIT } from '../../../../scripts/terminal/command.ts';
import { ROOT, repository } from './check-bench.ts';

const IMAGES = { id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'] };
const PROJECT = ['--project', 'acme/payments/checkout'];
const FROM_ELSEWHERE = 'include: [{ project: acme/templates, file: x.yml }]\n';
const JOB = 'a: { script: x, image: "alpine:3" }\n';

const house = (files: Readonly<Record<string, string>> | string, rules: readonly object[] = [IMAGES]) =>
  repository({ files: typeof files === 'string' ? { '.gitlab-ci.yml': files } : files, rules });

interface CheckJson {
  readonly result: string;
  readonly notRead: readonly string[];
  readonly jobs: readonly { name: string; verdict: string; notRead: readonly string[] }[];
}

async function checked(files: Parameters<typeof house>[0], rules?: readonly object[]) {
  using at = house(files, rules);
  const { code, out } = await at.check(...PROJECT, '--json');
  const json: CheckJson = JSON.parse(out);
  return { code, json, verdicts: Object.fromEntries(json.jobs.map(({ name, verdict }) => [name, verdict])) };
}

describe('a job is never ok if it rests on something that was not read', () => {
  test.each([
    {
      what: 'an unread template',
      file: `${FROM_ELSEWHERE}a: { extends: .t, script: x }`,
      says: 'extends .t',
    },
    {
      what: 'an unread template of its template',
      file: `${FROM_ELSEWHERE}.own: { extends: .t }\na: { extends: .own, script: x }`,
      says: 'extends .t',
    },
    {
      what: 'a part of an unread template',
      file: `${FROM_ELSEWHERE}a: { script: x, image: !reference [.t, image] }`,
      says: '!reference [.t, image]',
    },
    {
      what: 'a part of its own template that is in an unread one',
      file: `${FROM_ELSEWHERE}.own: { tags: !reference [.t, tags] }\na: { script: x, tags: !reference [.own, tags] }`,
      says: '!reference [.t, tags]',
    },
    {
      what: 'a default of an unread template',
      file: `${FROM_ELSEWHERE}default: { image: !reference [.t, image] }\na: { script: x }`,
      says: '!reference [.t, image]',
    },
    { what: 'an unread stage', file: `${FROM_ELSEWHERE}a: { stage: late, script: x }`, says: 'stage "late"' },
    {
      what: 'an unread job that it needs',
      file: `${FROM_ELSEWHERE}a: { needs: [b], script: x }`,
      says: 'needs "b"',
    },
    { what: 'an include of another project', file: `${FROM_ELSEWHERE}${JOB}`, says: 'acme/templates x.yml' },
    {
      what: 'a template of GitLab',
      file: `include: { template: X.gitlab-ci.yml }\n${JOB}`,
      says: 'template: X',
    },
    {
      what: 'a component',
      file: `include: { component: g.example/a/b@1 }\n${JOB}`,
      says: 'component: g.example',
    },
    { what: 'a remote file', file: `include: https://e.example/x.yml\n${JOB}`, says: 'remote: https:' },
    { what: 'an unknown kind of include', file: `include: { newer: x }\n${JOB}`, says: 'is not understood' },
    { what: 'a path with an unknown variable', file: `include: ci/$KIND.yml\n${JOB}`, says: 'ci/$KIND.yml' },
    {
      what: 'a condition that is not understood',
      file: 'a: { script: x, rules: [{ if: "$A ??" }, { when: always }] }',
      says: '$A ??',
    },
    { what: 'a timeout that is not understood', file: 'a: { script: x, timeout: soon }', says: '"soon"' },
  ])('$what', async ({ file, says }) => {
    const { code, json, verdicts } = await checked(file);
    expect(verdicts).toEqual({ a: 'not sure' });
    expect([code, json.result]).toEqual([EXIT.ok, 'not sure']);
    expect(json.jobs[0]?.notRead.join()).toContain(says);
  });

  test('a file that only GitLab may be able to read is not read, and no job is ok', async () => {
    const { json, verdicts } = await checked({
      '.gitlab-ci.yml': `include: ci/flow.yml\n${JOB}`,
      'ci/flow.yml': '.x:\n  - list: [\n    a\n  ]\nb: { script: x }',
    });
    expect(verdicts).toEqual({ a: 'not sure' });
    expect(json.notRead).toEqual([expect.stringContaining('ci/flow.yml')]);
  });

  test('a value that an unread file may hold rejects nothing, and a value that was read does', async () => {
    const required = [{ ...IMAGES, on_missing: 'reject' }];
    expect((await checked(`${FROM_ELSEWHERE}a: { script: x }`, required)).verdicts.a).toBe('not sure');
    const bad = await checked(`${FROM_ELSEWHERE}a: { script: x, image: node }`, required);
    expect([bad.code, bad.verdicts.a, bad.json.result]).toEqual([EXIT.wouldReject, 'rejected', 'rejected']);
  });

  test('a job that rests on nothing unread is ok', async () => {
    const { json, verdicts } = await checked(`${JOB}.unused: { timeout: soon }`);
    expect([verdicts.a, json.result, json.notRead]).toEqual(['ok', 'ok', []]);
  });
});

describe('a pipeline with jobs that were not read is not sure', () => {
  test.each([
    {
      what: 'a child pipeline next to a job',
      file: `${JOB}c: { trigger: { include: ci/child.yml } }`,
      jobs: ['ok'],
    },
    {
      what: 'a child pipeline alone',
      file: 'c: { trigger: { include: [{ local: ci/child.yml }] } }',
      jobs: [],
    },
    { what: 'a template alone', file: 'include: { template: Auto-DevOps.gitlab-ci.yml }', jobs: [] },
    {
      what: 'a job that a condition leaves out which is not understood',
      file: `${JOB}b: { script: x, rules: [{ if: "$A ??" }] }`,
      jobs: ['ok'],
    },
  ])('$what', async ({ file, jobs }) => {
    const { code, json } = await checked(file);
    expect([code, json.result]).toEqual([EXIT.ok, 'not sure']);
    expect(json.jobs.map(({ verdict }) => verdict)).toEqual(jobs);
    expect(json.notRead.length).toBeGreaterThan(0);
  });

  test('jobs that start pipelines of other projects leave nothing unread', async () => {
    const { code, json } = await checked('c: { trigger: acme/other }');
    expect([code, json.result]).toEqual([EXIT.ok, 'ok']);
  });

  test('the text, the Markdown and the code quality report say what was not read, and why', async () => {
    using at = house(`${FROM_ELSEWHERE}${JOB}\nb: { extends: .t, script: x, image: "alpine:3" }`);
    const reports = ['--markdown', 'check.md', '--code-quality', 'report.json'];
    const { out } = await at.check(...PROJECT, ...reports);
    const include = 'project: acme/templates x.yml is not in this folder';
    expect(out).toMatch(/^a +\S+ +[\d.]+ EUR +not sure +not read$/m);
    expect(out).toContain(include);
    expect(out).toContain('b: extends .t, which is in none of the files read');
    expect(out.trimEnd().split('\n').at(-1)).toMatch(/none is rejected by what was read; 2 not sure$/);
    expect(out).not.toMatch(/\bok$/m);
    const markdown = readFileSync(join(at.folder, 'check.md'), 'utf8');
    expect(markdown).toContain('| Result | not sure |');
    expect(markdown).toContain(include);
    expect(markdown).toContain('- `b`: `extends .t,');
    const report = JSON.parse(readFileSync(join(at.folder, 'report.json'), 'utf8'));
    expect(
      report.map(({ check_name: name, description }: Record<string, string>) => [name, description]),
    ).toEqual([
      ['not-read', expect.stringContaining(include)],
      ['not-read', expect.stringContaining('Job "b" is not sure: extends .t')],
    ]);
  });
});

describe('a file from which GitLab creates no pipeline ends with the reason and the place', () => {
  const refusals: readonly { readonly files: Parameters<typeof house>[0]; readonly says: string }[] = [
    { files: 'a: { script: x, extends: a }', says: '.gitlab-ci.yml:1: a: extends itself' },
    { files: 'b: { extends: a }\na: { script: x, extends: b }', says: 'which extends it in turn' },
    { files: `${JOB}\nb: { script: x, extends: .no }`, says: '.gitlab-ci.yml:3: b: extends .no' },
    { files: `${JOB}.t: { extends: .no }`, says: '.gitlab-ci.yml:2: .t: extends .no' },
    { files: 'a: { script: x, tags: !reference [.no, tags] }', says: 'a: !reference [.no, tags]' },
    {
      files: 'stages: [build]\na: { stage: deploy, script: x }',
      says: '.gitlab-ci.yml:2: a: stage "deploy"',
    },
    { files: 'a: { needs: [gone], script: x }', says: 'a: needs "gone"' },
    { files: 'a: { needs: [{ job: gone, artifacts: true }], script: x }', says: 'a: needs "gone"' },
    { files: 'a: { dependencies: [gone], script: x }', says: 'a: needs "gone"' },
    { files: 'a: { script: x, imag: "alpine:3" }', says: 'a: "imag" is not a key of a job' },
    { files: 'a: { script: x, image: ["alpine:3"] }', says: 'a: image is the list ["alpine:3"]' },
    {
      files: 'a: { script: x, variables: { SINCE: 2026-01-01 } }',
      says: ':1: the date 2026-01-01 has no quotes',
    },
    { files: `${JOB}.b: { x: [2026-01-01 10:00:00 +01:00] }`, says: ':2: the date 2026-01-01 10:00:00' },
    { files: 'a: { tags: [x] }', says: 'a: has no script, run or trigger' },
    { files: '.t: { script: x }', says: '.gitlab-ci.yml: has no job' },
    { files: 'a: [', says: '.gitlab-ci.yml: ' },
    { files: '- a', says: '.gitlab-ci.yml: is not a mapping' },
    {
      files: `include: ci/no.yml\n${JOB}`,
      says: '.gitlab-ci.yml:1: includes ci/no.yml, which does not exist',
    },
    {
      files: { '.gitlab-ci.yml': `include: ci/b.yml\n${JOB}`, 'ci/b.yml': 'b: {script: [x]\nc: d' },
      says: 'ci/b.yml: ',
    },
    {
      files: { '.gitlab-ci.yml': `include: ci/b.yml\n${JOB}`, 'ci/b.yml': '\nb: { script: x, imag: y }' },
      says: 'ci/b.yml:2: b: "imag"',
    },
  ];

  test.each(refusals)('$says', async ({ files, says }) => {
    using at = house(files);
    const { code, failure } = await at.fails(...PROJECT);
    expect(code).toBe(EXIT.invalid);
    expect(failure.error.code).toBe('invalid');
    expect(failure.error.problems.join()).toContain(says);
    expect(failure.error.problems.join()).toContain('GitLab creates no pipeline');
  });

  test('in some runs only: the others are judged, and it is said', async () => {
    const files = {
      '.gitlab-ci.yml': `include: [{ local: t.yml, rules: [{ if: $ON }] }]\n${JOB}b: { extends: .t, script: x }`,
      't.yml': '.t: { image: "alpine:3" }',
    };
    using at = house(files);
    const { code, out } = await at.check(...PROJECT);
    expect(code).toBe(EXIT.ok);
    expect(out).toContain(
      'extends .t, which is in none of the files read; GitLab creates no pipeline, where $ON is',
    );
  });
});

describe('what GitLab accepts is not refused', () => {
  test.each([
    {
      what: 'optional, other and matrix needs',
      file: `m: { script: x, parallel: { matrix: [{ A: [b] }] } }
a: { script: x, needs: [{ job: gone, optional: true }, { pipeline: $P, job: gone }, { project: a/b, job: gone, ref: main, artifacts: true }, "m: [b]", m] }`,
    },
    {
      what: 'the stages .pre and .post',
      file: 'stages: [x]\na: { stage: .pre, script: x }\nb: { stage: .post, script: x }',
    },
    {
      what: 'quoted dates and versions',
      file: 'a: { script: x, variables: { A: "2026-01-01", B: 2026-1, C: 1.2.3, D: 2026-13-01 } }',
    },
    { what: 'unknown keys of templates that no job uses', file: `${JOB}.t: { imag: [x] }` },
    { what: 'a wildcard that matches no file', file: `include: ci/*.yml\n${JOB}` },
    {
      what: 'eleven levels of extends',
      file: `${Array.from({ length: 10 }, (_, at) => `.t${at}: { extends: .t${at + 1} }`).join('\n')}\n.t10: { script: x }\na: { extends: .t0 }`,
    },
    { what: 'extends of nothing', file: 'a: { extends: [], script: x }\nb: { extends: null, script: x }' },
  ])('$what', async ({ file }) => {
    using at = house(file);
    expect((await at.check(...PROJECT)).code).toBe(EXIT.ok);
  });

  test('an include from the repository’s root, of a file that is not there', async () => {
    using at = house({
      '.git/HEAD': '',
      'ci/main.yml': `include: ci/jobs.yml\n${JOB}`,
      'ci/jobs.yml': 'b: { script: x }',
    });
    const { out } = await at.check('ci/main.yml', ...PROJECT, '--json');
    expect(JSON.parse(out).jobs.map(({ name }: { name: string }) => name)).toEqual(['b', 'a']);
  });

  const real = ['../shared/data/pipelines/gitlab-runner', 'scripts/local/pipelines/web-shop']
    .map((path) => resolve(ROOT, path))
    .filter(existsSync);
  const sources = ['push', 'merge_request_event', 'schedule', 'web', 'api', 'trigger', 'pipeline', undefined];
  const runs = sources.flatMap((source) =>
    ['main', '17-1-stable', 'v17.1.0', undefined].flatMap((ref) =>
      ['gitlab-org/gitlab-runner', 'acme/fork', undefined].map((projectPath) => ({
        source,
        ref,
        projectPath,
      })),
    ),
  );
  test.each(real)('the real pipeline %s, in every run', (folder) => {
    for (const { source, ref, projectPath } of runs)
      for (const isTag of [false, true]) {
        const pipeline = expandPipeline(folder, {
          isTag,
          ...(source !== undefined && { source }),
          ...(ref !== undefined && { ref }),
          ...(projectPath !== undefined && { projectPath }),
        });
        expect(pipeline.problems).toEqual([]);
      }
  });
});

/** `tollgate check` about files that it did not read, and about files from which GitLab creates no pipeline. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { withoutAbsent } from '../../../../policies/without-absent.ts';
import { expandPipeline } from '../../../../scripts/cli/pipeline/expand-pipeline.ts';
import { EXIT } from '../../../../scripts/terminal/command.ts';
import { type CheckedJob, PROJECT, ROOT, repository } from './check-bench.ts';

const IMAGES = { id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'] };
const FROM_ELSEWHERE = 'include: [{ project: acme/templates, file: x.yml }]\n';
const JOB = 'a: { script: x, image: "alpine:3" }\n';

type Files = Parameters<typeof repository>[0]['files'];
const house = (files: Files, rules: readonly object[] = [IMAGES]) => repository({ files, rules });
const checked = (files: Files, rules?: readonly object[]) => house(files, rules).json(...PROJECT);

describe('a job is never ok if it rests on something that was not read', () => {
  test.each([
    ['an unread template', `${FROM_ELSEWHERE}a: { extends: .t, script: x }`, 'extends .t'],
    [
      'an unread template of its template',
      `${FROM_ELSEWHERE}.own: { extends: .t }\na: { extends: .own, script: x }`,
      'extends .t',
    ],
    [
      'a default of an unread template',
      `${FROM_ELSEWHERE}default: { image: !reference [.t, image] }\na: { script: x }`,
      '!reference [.t, image]',
    ],
    ['an unread stage', `${FROM_ELSEWHERE}a: { stage: late, script: x }`, 'stage "late"'],
    ['an unread job that it needs', `${FROM_ELSEWHERE}a: { needs: [b], script: x }`, 'needs "b"'],
    ['an include of another project', `${FROM_ELSEWHERE}${JOB}`, 'acme/templates x.yml'],
    ['a remote file', `include: https://e.example/x.yml\n${JOB}`, 'remote: https:'],
    ['an unknown kind of include', `include: { newer: x }\n${JOB}`, 'is not understood'],
    ['a path with an unknown variable', `include: ci/$KIND.yml\n${JOB}`, 'ci/$KIND.yml'],
    [
      'a condition that is not understood',
      'a: { script: x, rules: [{ if: "$A ??" }, { when: always }] }',
      '$A ??',
    ],
    ['a timeout that is not understood', 'a: { script: x, timeout: soon }', '"soon"'],
    ['a parallel that is not understood', 'a: { script: x, parallel: 1.5 }', 'parallel must be'],
    [
      'a reference to itself',
      '.loop: { tags: !reference [.loop, tags] }\na: { script: x, tags: !reference [.loop, tags] }',
      'references deep',
    ],
  ])('%s', async (_, file, says) => {
    const { code, result, jobs, outcome } = await checked(file);
    expect(outcome).toEqual({ a: 'not sure' });
    expect([code, result]).toEqual([EXIT.ok, 'not sure']);
    expect(jobs[0]?.notRead.join()).toContain(says);
  });

  test('a file that only GitLab may be able to read is not read, and no job is ok', async () => {
    const { notRead, outcome } = await checked({
      '.gitlab-ci.yml': `include: ci/flow.yml\n${JOB}`,
      'ci/flow.yml': '.x:\n  - list: [\n    a\n  ]\nb: { script: x }',
    });
    expect(outcome).toEqual({ a: 'not sure' });
    expect(notRead).toEqual([expect.stringContaining('ci/flow.yml')]);
  });

  test('a value that an unread file may hold rejects nothing, and a value that was read does', async () => {
    const required = [{ ...IMAGES, on_missing: 'reject' }];
    expect((await checked(`${FROM_ELSEWHERE}a: { script: x }`, required)).outcome.a).toBe('not sure');
    const bad = await checked(`${FROM_ELSEWHERE}a: { script: x, image: node }`, required);
    expect([bad.code, bad.outcome.a, bad.result]).toEqual([EXIT.wouldReject, 'rejected', 'rejected']);
    const { outcome, result, notRead } = await checked(`${JOB}.unused: { timeout: soon }`);
    expect([outcome.a, result, notRead]).toEqual(['ok', 'ok', []]);
  });
});

describe('a pipeline with jobs that were not read is not sure', () => {
  test.each([
    ['a child pipeline next to a job', `${JOB}c: { trigger: { include: ci/child.yml } }`, ['ok']],
    [
      'a job that a condition leaves out which is not understood',
      `${JOB}b: { script: x, rules: [{ if: "$A ??" }] }`,
      ['ok'],
    ],
  ])('%s', async (_, file, outcome) => {
    const { code, result, jobs, notRead } = await checked(file);
    expect([code, result]).toEqual([EXIT.ok, 'not sure']);
    expect(jobs.map(({ outcome }: CheckedJob) => outcome)).toEqual(outcome);
    expect(notRead.length).toBeGreaterThan(0);
  });

  test('jobs that start pipelines of other projects leave nothing unread', async () => {
    expect(await checked('c: { trigger: acme/other }')).toMatchObject({ code: EXIT.ok, result: 'ok' });
  });

  test('the text, the Markdown and the code quality report say what was not read, and why', async () => {
    const at = house(`${FROM_ELSEWHERE}${JOB}\nb: { extends: .t, script: x, image: "alpine:3" }`);
    const reports = ['--markdown', 'check.md', '--code-quality', 'report.json'];
    const { out } = await at.check(...PROJECT, ...reports);
    const include = 'project: acme/templates x.yml is not in this folder';
    expect(out).toMatch(/^a +\S+ +[\d.]+ EUR +not sure +not read$/m);
    expect(out).toContain(include);
    expect(out).toContain('b: extends .t, which is in none of the files read');
    expect(out.trimEnd().split('\n').at(-1)).toMatch(/none is rejected by what was read; 2 not sure$/);
    expect(out).not.toMatch(/\bok$/m);
    const markdown = readFileSync(join(at.folder, 'check.md'), 'utf8');
    expect(markdown).toMatch(/^### Tollgate: .*; 2 not sure$/m);
    expect(markdown).toContain(include);
    expect(markdown).toContain('- `b: extends .t,');
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
  test.each<[says: string, files: Files]>([
    ['.gitlab-ci.yml:1: a: extends itself', 'a: { script: x, extends: a }'],
    ['which extends it in turn', 'b: { extends: a }\na: { script: x, extends: b }'],
    ['.gitlab-ci.yml:3: b: extends .no', `${JOB}\nb: { script: x, extends: .no }`],
    ['a: !reference [.no, tags]', 'a: { script: x, tags: !reference [.no, tags] }'],
    ['.gitlab-ci.yml:2: a: stage "deploy"', 'stages: [build]\na: { stage: deploy, script: x }'],
    ['a: needs "gone"', 'a: { needs: [{ job: gone, artifacts: true }], script: x }'],
    ['a: "imag" is not a key of a job', 'a: { script: x, imag: "alpine:3" }'],
    ['a: image is the list ["alpine:3"]', 'a: { script: x, image: ["alpine:3"] }'],
    [':1: the date 2026-01-01 has no quotes', 'a: { script: x, variables: { SINCE: 2026-01-01 } }'],
    ['a: has no script, run or trigger', 'a: { tags: [x] }'],
    ['a: parallel comes to 201 jobs', 'a: { script: x, parallel: 201 }'],
    ['.gitlab-ci.yml:2: *gone has no &gone above it', 'a: { script: x }\nb: *gone'],
    ['say --input at=…', 'spec: { inputs: { at: } }\n---\na: { script: x }'],
    ['.gitlab-ci.yml: has no job', '.t: { script: x }'],
    ['.gitlab-ci.yml: ', 'a: ['],
    ['.gitlab-ci.yml: is not a mapping', '- a'],
    ['.gitlab-ci.yml:1: includes ci/no.yml, which does not exist', `include: ci/no.yml\n${JOB}`],
    ['ci/b.yml: ', { '.gitlab-ci.yml': `include: ci/b.yml\n${JOB}`, 'ci/b.yml': 'b: {script: [x]\nc: d' }],
    [
      'ci/b.yml:2: b: "imag"',
      { '.gitlab-ci.yml': `include: ci/b.yml\n${JOB}`, 'ci/b.yml': '\nb: { script: x, imag: y }' },
    ],
  ])('%s', async (says, files) => {
    const { code, error } = await checked(files);
    expect([code, error.code]).toEqual([EXIT.invalid, 'invalid']);
    expect(error.problems.join()).toContain(says);
  });

  test('in some runs only: the others are judged, and it is said', async () => {
    const files = {
      '.gitlab-ci.yml': `include: [{ local: t.yml, rules: [{ if: $ON }] }]\n${JOB}b: { extends: .t, script: x }`,
      't.yml': '.t: { image: "alpine:3" }',
    };
    const { code, out } = await house(files).check(...PROJECT);
    expect(code).toBe(EXIT.ok);
    expect(out).toContain(
      'extends .t, which is in none of the files read; GitLab creates no pipeline, where $ON is',
    );
  });
});

describe('what GitLab accepts is not refused', () => {
  test.each([
    [
      'optional, other and matrix needs',
      `m: { script: x, parallel: { matrix: [{ A: [b] }] } }
a: { script: x, needs: [{ job: gone, optional: true }, { pipeline: $P, job: gone }, { project: a/b, job: gone, ref: main, artifacts: true }, "m: [b]", m] }`,
    ],
    ['stages .pre and .post', 'stages: [x]\na: { stage: .pre, script: x }\nb: { stage: .post, script: x }'],
    [
      'quoted dates and versions',
      'a: { script: x, variables: { A: "2026-01-01", B: 2026-1, C: 1.2.3, D: 2026-13-01 } }',
    ],
    ['unknown keys of templates that no job uses', `${JOB}.t: { imag: [x] }`],
    ['a wildcard that matches no file', `include: ci/*.yml\n${JOB}`],
    [
      'eleven levels of extends',
      `${Array.from({ length: 10 }, (_, at) => `.t${at}: { extends: .t${at + 1} }`).join('\n')}\n.t10: { script: x }\na: { extends: .t0 }`,
    ],
    ['extends of nothing', 'a: { extends: [], script: x }\nb: { extends: null, script: x }'],
  ])('%s', async (_, file) => {
    expect((await checked(file)).code).toBe(EXIT.ok);
  });

  test('an include from the repository’s root, of a file that is not there', async () => {
    const at = house({
      '.git/HEAD': '',
      'ci/main.yml': `include: ci/jobs.yml\n${JOB}`,
      'ci/jobs.yml': 'b: { script: x }',
    });
    expect(Object.keys((await at.json('ci/main.yml', ...PROJECT)).outcome)).toEqual(['b', 'a']);
  });

  const sources = ['push', 'merge_request_event', 'schedule', undefined];
  const runs = sources.flatMap((source, at) =>
    ['main', 'v17.1.0', undefined].map((ref) => ({
      isTag: ref === 'v17.1.0',
      ...withoutAbsent({ source, ref, projectPath: at % 2 === 0 ? 'gitlab-org/gitlab-runner' : undefined }),
    })),
  );
  test('the bundled pipeline, in every run', () => {
    const folder = resolve(ROOT, 'scripts/local/pipelines/web-shop');
    for (const run of runs) expect(expandPipeline(folder, run).problems).toEqual([]);
  });
});

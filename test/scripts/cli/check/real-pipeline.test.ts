import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXIT } from '../../../../scripts/terminal/command.ts';
import { ROOT, runCheck } from './check-bench.ts';

const SHARED = resolve(ROOT, '../shared/data/pipelines/gitlab-runner');
const PROJECT = ['--project', 'acme/payments/checkout'];

test('the bundled pipeline is checked by the policy of this repository without a question left', async () => {
  const { out } = await runCheck(ROOT, ['scripts/local/pipelines/web-shop', ...PROJECT, '--json']);
  const { jobs, result, notRead, problems } = JSON.parse(out);
  expect(jobs).toHaveLength(25);
  expect({ notRead, problems }).toEqual({ notRead: [], problems: [] });
  expect(result).toBe('rejected');
});

// Only where the shared data is, which a clone of the project alone does not have.
describe.runIf(existsSync(SHARED))('GitLab Runner’s own pipeline, by the policy of this repository', () => {
  test('has every job judged, with its place, and names what could not be fetched', async () => {
    const { code, out } = await runCheck(ROOT, [SHARED, ...PROJECT, '--json']);
    const { jobs, leftOut, notRead, total } = JSON.parse(out);
    expect(code).toBe(EXIT.wouldReject);
    // A fork's pipelines have the jobs of merge requests only; those of the canonical project are left out by their rules.
    expect(jobs).toHaveLength(24);
    expect(leftOut).toHaveLength(95);
    expect(jobs.every(({ line }: { line: number }) => line > 0)).toBe(true);
    expect(jobs.find(({ name }: { name: string }) => name === 'clone test repo')).toMatchObject({
      file: '.gitlab/ci/build.gitlab-ci.yml',
      line: 148,
      runnerClass: 'small',
      verdict: 'rejected',
      dependsOn: expect.arrayContaining(['$CI_PIPELINE_SOURCE == "merge_request_event"']),
    });
    expect(notRead.map((each: string) => each.split(':')[0])).toEqual(
      expect.arrayContaining(['component', 'project', 'template']),
    );
    expect(total.rejected + total.notSure).toBe(24);
    expect(total.costMicros).toBeGreaterThan(0);
  });

  test.each([80, 160])('no row of its table is wider than %i columns', async (columns) => {
    const { out } = await runCheck(ROOT, [SHARED, ...PROJECT], columns);
    const table = out.slice(out.indexOf('\njob '), out.indexOf('\n\n', out.indexOf('\njob ')));
    expect(table.split('\n').length).toBeGreaterThan(20);
    for (const line of table.split('\n')) expect([...line].length, line).toBeLessThanOrEqual(columns);
  });
});

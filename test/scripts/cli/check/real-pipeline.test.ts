import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXIT } from '../../../../scripts/terminal/command.ts';
import { runDesk } from '../desk-run.ts';
import { PROJECT, ROOT } from './check-bench.ts';

const SHARED = resolve(ROOT, '../shared/data/pipelines/gitlab-runner');
const runCheck = (folder: string, columns = 120, ...flags: readonly string[]) =>
  runDesk(['check', folder, ...PROJECT, ...flags], ROOT, { columns });

test('the bundled pipeline is checked without a question left, and has jobs of every runner class', async () => {
  const { out } = await runCheck('scripts/local/pipelines/web-shop', 120, '--json');
  const { jobs, result, notRead, problems } = JSON.parse(out);
  expect(jobs).toHaveLength(25);
  expect({ notRead, problems }).toEqual({ notRead: [], problems: [] });
  expect(result).toBe('rejected');
  const classes = new Set(jobs.map(({ runnerClass }: { runnerClass: string }) => runnerClass));
  expect([...classes].sort()).toEqual(['gpu', 'large', 'linux', 'medium', 'small']);
});

// Only where the shared data is, which a clone of the project alone does not have.
describe.runIf(existsSync(SHARED))('GitLab Runner’s own pipeline, by the policy of this repository', () => {
  test('has every job judged, with its place, and names what could not be fetched', async () => {
    const { code, out } = await runCheck(SHARED, 120, '--json');
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
      outcome: 'rejected',
      dependsOn: expect.arrayContaining(['$CI_PIPELINE_SOURCE == "merge_request_event"']),
    });
    expect(notRead.map((each: string) => each.split(':')[0])).toEqual(
      expect.arrayContaining(['component', 'project', 'template']),
    );
    expect(total.rejected + total.notSure).toBe(24);
    expect(total.costMicros).toBeGreaterThan(0);
  });

  test('no row of its table is wider than 80 columns', async () => {
    const columns = 80;
    const { out } = await runCheck(SHARED, columns);
    const table = out.slice(out.indexOf('\njob '), out.indexOf('\n\n', out.indexOf('\njob ')));
    expect(table.split('\n').length).toBeGreaterThan(20);
    for (const line of table.split('\n')) expect([...line].length, line).toBeLessThanOrEqual(columns);
  });
});

import { expect, test } from 'vitest';
import { CALLS_MAX } from '../../../../functions/core/directory/listings.ts';
import { largeGitLab } from '../../../support/large-gitlab.ts';
import { syncBench } from '../../../support/sync-bench.ts';

test('10 000 groups are live after one run and 100 000 projects after four, at 400 calls a run', async () => {
  const { gitlab, calls } = largeGitLab({ roots: 100, groups: 10_000, projects: 100_000 });
  const bench = syncBench();
  const reports = [];
  for (let runs = 0; runs < 4; runs += 1) reports.push(await bench.run({ gitlab }));
  expect(reports[0]).toMatchObject({ live: true, groups: 10_000, projectsGoing: true });
  for (const { calls: used } of reports) expect(used).toBeLessThanOrEqual(CALLS_MAX);
  expect(reports.at(-1)).toMatchObject({ projectsGoing: false });
  expect(reports.reduce((sum, { projectsListed }) => sum + projectsListed, 0)).toBe(100_000);
  // 100 a run for the groups; 1 000 for the projects, and at most a chunk's pages again where a run began anew.
  expect(calls.groups).toBe(400);
  expect(calls.projects).toBeGreaterThanOrEqual(1_000);
  expect(calls.projects).toBeLessThanOrEqual(1_000 + 3 * 12 + 3);
  // Until the next day a run is the groups and one question about projects.
  expect(await bench.run({ gitlab })).toMatchObject({ calls: 101 });
  const directory = await bench.reader().directoryFor([{ projectId: 99_999 }]);
  expect(directory?.projectById.get(99_999)?.path).toBe('group-100/team-10000/service-99999');
});

test('where groups alone are more than a run can ask for, projects still get their turn', async () => {
  const { gitlab } = largeGitLab({ roots: 10, groups: 100_000, projects: 30_000 });
  const bench = syncBench();
  const reports = [];
  for (let runs = 0; runs < 4; runs += 1) reports.push(await bench.run({ gitlab }));
  expect(reports.map(({ groupsListing }) => groupsListing)).toEqual(['going', 'going', 'going', 'listed']);
  expect(reports.at(-1)).toMatchObject({ live: true, groups: 100_000, projectsGoing: false });
});

import { expect, test } from 'vitest';
import { gitlabAt, type OpenDirectory, openDirectory } from '../../../../scripts/cli/tables/directory.ts';
import { EXIT } from '../../../../scripts/terminal/command.ts';
import { fillPlaces } from '../../../support/fill-places.ts';
import { syncBench } from '../../../support/sync-bench.ts';
import { aProject, runDesk } from '../desk-run.ts';

const SYNC = ['directory', 'sync', '--gitlab', 'https://gitlab.example.com', '--token-file', 'token'];

function desk() {
  const bench = syncBench();
  const closed = { times: 0 };
  const open: OpenDirectory = async () => ({
    table: bench.table,
    description: 'a table in memory',
    instance: 'gitlab.example.com',
    close: async () => {
      closed.times += 1;
    },
  });
  const standIns = new Map<unknown, unknown>([
    [openDirectory, open],
    [gitlabAt, () => ({ gitlab: bench.gitlab, clock: bench.clock })],
  ]);
  const root = aProject({ token: 'glpat-secret\n' });
  return { bench, closed, tell: (...args: string[]) => runDesk(args, root, { standIns }) };
}

test('a sync goes on until what it began is through, and show tells what is known then', async () => {
  const { bench, closed, tell } = desk();
  fillPlaces(bench.places, { roots: 2, groups: 130, projects: 450 });
  bench.places.users.set(900, 'jane');
  bench.places.projects.set(500, { id: 500, namespaceId: 900, path: 'dotfiles' });
  expect((await tell('directory', 'show')).code).toBe(EXIT.failed);
  const synced = await tell(...SYNC);
  expect(synced).toMatchObject({ code: EXIT.ok, err: '' });
  expect(synced.out).toContain('Groups: 130');
  const shown = await tell('directory', 'show', '--json');
  expect(JSON.parse(shown.out)).toMatchObject({
    groups: 130,
    personalNamespaces: 1,
    projects: 451,
    groupsWithoutChain: 0,
  });
  expect(closed.times).toBe(3);
});

test('an id may be a group and a project, a path is found whatever its case, and both show the groups above', async () => {
  const { bench, tell } = desk();
  fillPlaces(bench.places, { roots: 2, groups: 4, projects: 4 });
  await tell(...SYNC);
  const { out } = await tell('directory', 'show', '3');
  expect(out).toMatch(/above +1 +g1\ngroup +3 +private +g1\/g3\n/);
  expect(out).toMatch(/project +3 +private +g2\/g4\/p3\n/);
  expect(JSON.parse((await tell('directory', 'show', 'G1/g3', '--json')).out)).toEqual({
    found: [{ kind: 'group', id: 3, path: 'g1/g3', visibility: 'private', above: [{ id: 1, path: 'g1' }] }],
  });
  const unknown = await tell('directory', 'show', 'nowhere');
  expect(unknown).toMatchObject({ code: EXIT.invalid, out: '' });
  expect(unknown.err).toContain('nowhere');
});

test('a short answer drops nothing and says what to do, and --force believes it', async () => {
  const { bench, tell } = desk();
  fillPlaces(bench.places, { roots: 2, groups: 20, projects: 0 });
  await tell(...SYNC);
  for (let id = 11; id <= 20; id += 1) bench.places.groups.delete(id);
  const refused = await tell(...SYNC);
  expect(refused.code).toBe(EXIT.wouldReject);
  expect(refused.out).toContain('10 groups fewer than before');
  expect(refused.out).toContain('--force');
  expect((await tell(...SYNC, '--force')).out).toContain('Groups: 10');
});

test('a GitLab that does not answer ends with 1, and the token is told nowhere', async () => {
  const { bench, tell } = desk();
  fillPlaces(bench.places, { roots: 1, groups: 3, projects: 0 });
  bench.local.faults.answerRest({ status: 401 });
  const failed = await tell(...SYNC);
  expect(failed.code).toBe(EXIT.failed);
  expect(failed.out).toContain('gitlab_refused');
  expect(failed.out + failed.err).not.toContain('glpat');
  expect((await tell('directory', 'sync')).code).toBe(EXIT.invalid);
});

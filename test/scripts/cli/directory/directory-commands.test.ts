import { expect, test } from 'vitest';
import { openToEdit } from '../../../../scripts/cli/open-ledger.ts';
import { gitlabAt } from '../../../../scripts/cli/tables/instances.ts';
import { EXIT } from '../../../../scripts/terminal/command.ts';
import { fillPlaces } from '../../../support/fill-places.ts';
import { syncBench } from '../../../support/sync-bench.ts';
import { aProject, runDesk } from '../desk-run.ts';

const SYNC = ['directory', 'sync', '--gitlab', 'https://gitlab.example.com', '--token-file', 'token'];

function limitEdits() {
  const bench = syncBench();
  const closed = { times: 0 };
  const open = async () => ({
    directory: bench.table,
    description: 'a table in memory',
    close: async () => {
      closed.times += 1;
    },
  });
  const standIns = new Map<unknown, unknown>([
    [openToEdit, open],
    [gitlabAt, () => ({ gitlab: bench.gitlab, clock: bench.clock })],
  ]);
  const root = aProject({ token: 'glpat-secret\n' });
  return { bench, closed, tell: (...args: string[]) => runDesk(args, root, { standIns }) };
}

test('a sync goes on until what it began is through, and show tells what is known then', async () => {
  const { bench, closed, tell } = limitEdits();
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

test('a short answer drops nothing and says what to do, and --force believes it', async () => {
  const { bench, tell } = limitEdits();
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
  const { bench, tell } = limitEdits();
  fillPlaces(bench.places, { roots: 1, groups: 3, projects: 0 });
  bench.local.faults.answerRest({ status: 401 });
  const failed = await tell(...SYNC);
  expect(failed.code).toBe(EXIT.failed);
  expect(failed.out).toContain('gitlab_refused');
  expect(failed.out + failed.err).not.toContain('glpat');
  expect((await tell('directory', 'sync')).code).toBe(EXIT.invalid);
});

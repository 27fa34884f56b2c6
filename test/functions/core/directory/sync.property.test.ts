import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DirectoryError } from '../../../../functions/core/directory/directory-table.ts';
import type { DirectorySyncReport } from '../../../../functions/core/directory/sync.ts';
import type { Directory } from '../../../../policies/directory.ts';
import type { PlaceBook } from '../../../../scripts/local/gitlab/places.ts';
import { MINUTE_MS, type SyncBench, syncBench } from '../../../support/sync-bench.ts';
import type { DirectoryFault } from '../../../support/tables/memory-directory-table.ts';

/** One thing that happens in GitLab. */
type Change =
  | {
      readonly kind: 'group';
      readonly id: number;
      readonly parent: number | undefined;
      readonly slug: string;
    }
  | { readonly kind: 'delete-group'; readonly id: number }
  | { readonly kind: 'project'; readonly id: number; readonly namespace: number; readonly slug: string };

const groupId = fc.integer({ min: 1, max: 12 });
const slug = fc.constantFrom('a', 'b', 'c', 'd');
const change = fc.oneof(
  fc.record({
    kind: fc.constant('group' as const),
    id: groupId,
    parent: fc.option(groupId, { nil: undefined }),
    slug,
  }),
  fc.record({ kind: fc.constant('delete-group' as const), id: groupId }),
  fc.record({
    kind: fc.constant('project' as const),
    // In six chunks.
    id: fc.integer({ min: 1, max: 3_000 }),
    namespace: groupId,
    slug,
  }),
) satisfies fc.Arbitrary<Change>;

function apply(what: Change, { groups, projects }: PlaceBook, nowMs: number): void {
  if (what.kind === 'project') {
    if (groups.has(what.namespace))
      projects.set(what.id, {
        id: what.id,
        namespaceId: what.namespace,
        path: `${what.slug}${what.id}`,
        updatedAtMs: nowMs,
      });
    return;
  }
  if (what.kind === 'delete-group') {
    const isAbove = [...groups.values()].some(({ parentId }) => parentId === what.id);
    const isUsed = [...projects.values()].some(({ namespaceId }) => namespaceId === what.id);
    if (!isAbove && !isUsed && groups.size > 5) groups.delete(what.id);
    return;
  }
  const { id, slug: name } = what;
  let parentId = what.parent !== undefined && groups.has(what.parent) ? what.parent : undefined;
  // No ring, and no two of one path.
  for (let above = parentId; above !== undefined; above = groups.get(above)?.parentId) {
    if (above === id) parentId = undefined;
  }
  groups.set(id, { id, path: `${name}${id}`, ...(parentId !== undefined && { parentId }) });
}

/** What a function that is started now knows of everything. */
async function known(bench: SyncBench): Promise<unknown> {
  const { groups, projects } = bench.places;
  const directory = await bench
    .reader()
    .directoryFor([
      ...[...groups.keys()].map((namespaceId) => ({ namespaceId })),
      ...[...projects.keys()].map((projectId) => ({ projectId })),
    ]);
  return seen(directory, [...groups.keys()], [...projects.keys()]);
}

const seen = (directory: Directory | undefined, groups: readonly number[], projects: readonly number[]) => ({
  groups: groups.map((id) => [id, directory?.chainById.get(id)?.map(({ path }) => path)]),
  projects: projects.map((id) => {
    const project = directory?.projectById.get(id);
    return [id, project?.groupId, project?.path];
  }),
});

function gitlabJob(places: PlaceBook): unknown {
  const { groups, projects } = places;
  const chain = (id: number): string[] => {
    const parentId = groups.get(id)?.parentId;
    return [...(parentId === undefined ? [] : chain(parentId)), places.pathOf(id)];
  };
  return {
    groups: [...groups.keys()].map((id) => [id, chain(id)]),
    projects: [...projects.values()].map(({ id, namespaceId, path }) => [
      id,
      namespaceId,
      `${places.pathOf(namespaceId)}/${path}`,
    ]),
  };
}

/** A run that may die; a lost answer of the table ends it like a crash. */
const tryRun = (
  bench: SyncBench,
  changes: Parameters<SyncBench['run']>[0],
): Promise<DirectorySyncReport | undefined> =>
  bench.run(changes).catch((error: unknown) => {
    bench.clock.advance(5 * MINUTE_MS);
    if (error instanceof DirectoryError) return undefined;
    throw error;
  });

test('wherever runs die, and however few calls they have, the directory is what GitLab is once they get through', async () => {
  const step = fc.record({
    changes: fc.array(change, { maxLength: 6 }),
    callsMax: fc.integer({ min: 4, max: 30 }),
    /** The operation on the table that fails, of this run. */
    dies: fc.option(
      fc.record({ at: fc.nat({ max: 120 }), how: fc.constantFrom('lost-before', 'lost-after') }),
    ),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: 10, maxLength: 30 }),
      fc.array(step, { maxLength: 8 }),
      async (first, steps) => {
        let operations = 0;
        let dies: { readonly at: number; readonly how: DirectoryFault } | undefined;
        const bench = syncBench({
          fault: () => {
            operations += 1;
            return operations - 1 === dies?.at ? dies.how : undefined;
          },
        });
        for (let id = 1; id <= 6; id += 1) bench.places.groups.set(id, { id, path: `r${id}` });
        for (const each of first) apply(each, bench.places, bench.clock.nowMs());
        for (const { changes, callsMax, dies: death } of steps) {
          for (const each of changes) apply(each, bench.places, bench.clock.nowMs());
          operations = 0;
          dies = death === null ? undefined : { at: death.at, how: death.how as DirectoryFault };
          await tryRun(bench, { callsMax });
          dies = undefined;
          bench.memory.collectGarbage(bench.clock.nowMs());
          // Whatever is live is whole: a reader finds every chunk of it.
          await bench.reader().directoryFor([{ projectId: 1 }]);
        }
        // One day later everything was listed anew, twice for what is missing.
        for (const hours of [0, 25, 25]) {
          bench.clock.advance(hours * 60 * MINUTE_MS);
          for (let runs = 0; runs < 3; runs += 1) await bench.run({ force: true });
          bench.memory.collectGarbage(bench.clock.nowMs());
        }
        expect(await known(bench)).toEqual(gitlabJob(bench.places));
      },
    ),
    { numRuns: 60 },
  );
});

test('runs at the same time end with a whole directory, the same as one after the other', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: 10, maxLength: 30 }),
      fc.array(fc.tuple(fc.array(change, { maxLength: 4 }), fc.integer({ min: 4, max: 20 })), {
        maxLength: 5,
      }),
      async (first, rounds) => {
        const bench = syncBench();
        for (let id = 1; id <= 6; id += 1) bench.places.groups.set(id, { id, path: `r${id}` });
        for (const each of first) apply(each, bench.places, bench.clock.nowMs());
        for (const [changes, callsMax] of rounds) {
          const both = await Promise.all([
            bench.run({ callsMax }),
            (async () => {
              for (const each of changes) apply(each, bench.places, bench.clock.nowMs());
              return bench.run({ callsMax: callsMax + 3 });
            })(),
          ]);
          expect(both.filter(({ outcome }) => outcome === 'flipped').length).toBeGreaterThan(0);
          bench.memory.collectGarbage(bench.clock.nowMs());
        }
        bench.clock.advance(25 * 60 * MINUTE_MS);
        for (let runs = 0; runs < 3; runs += 1) await bench.run({ force: true });
        expect(await known(bench)).toEqual(gitlabJob(bench.places));
      },
    ),
    { numRuns: 40 },
  );
});

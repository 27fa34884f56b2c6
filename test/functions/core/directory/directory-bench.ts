/**
 * What a sync and a reader cost: `node test/functions/core/directory/directory-bench.ts [groups] [projects]`. Figures go to
 * stdout; with `--expose-gc` the memory is what is left after a collection.
 */
import type { DirectoryTable } from '../../../../functions/core/directory/directory-table.ts';
import { largeGitLab } from '../../../support/large-gitlab.ts';
import { syncBench } from '../../../support/sync-bench.ts';
import { memoryDirectoryTable } from '../../../support/tables/memory-directory-table.ts';

const groups = Number(process.argv[2] ?? 10_000);
const projects = Number(process.argv[3] ?? 100_000);
const ROOTS = 100;
const BATCHES = 20_000;
const JOBS_A_BATCH = 20;

const heapMb = (): number => {
  globalThis.gc?.();
  return Math.round(process.memoryUsage().heapUsed / 1e6);
};
const say = (what: string, figure: string): void => {
  process.stdout.write(`${what.padEnd(52)} ${figure}\n`);
};

const memory = memoryDirectoryTable();
const counts = { writes: 0, bytes: 0 };
const putChunk = memory.putChunk.bind(memory);
const table: DirectoryTable = Object.assign(memory, {
  putChunk: (...[at, bytes, options]: Parameters<DirectoryTable['putChunk']>) => {
    counts.writes += 1;
    counts.bytes += bytes.length;
    return putChunk(at, bytes, options);
  },
});
const { gitlab } = largeGitLab({ roots: ROOTS, groups, projects });
const bench = syncBench({ table });
say('groups, projects', `${groups}, ${projects}`);
for (let runs = 1; runs <= 5; runs += 1) {
  Object.assign(counts, { writes: 0, bytes: 0 });
  const startMs = performance.now();
  const { calls, projectsListed } = await bench.run({ gitlab });
  const ms = Math.round(performance.now() - startMs);
  const kb = Math.round(counts.bytes / 1024);
  say(
    `run ${runs}: calls, projects listed, chunks, KB, ms, heap MB`,
    [calls, projectsListed, counts.writes, kb, ms, heapMb()].join(', '),
  );
}

const reader = bench.reader();
const before = heapMb();
const asks = Array.from({ length: JOBS_A_BATCH }, (_, at) => ({
  projectId: 1 + at * 5_000,
  namespaceId: ROOTS + 1 + at * ROOTS,
  rootNamespaceId: 1,
}));
const coldMs = performance.now();
await reader.directoryFor(asks);
say('first batch of a reader, 20 jobs of one root, ms', (performance.now() - coldMs).toFixed(1));
const warmMs = performance.now();
for (let batches = 0; batches < BATCHES; batches += 1) await reader.directoryFor(asks);
const perJob = ((performance.now() - warmMs) / BATCHES / JOBS_A_BATCH) * 1000;
say('each further job, µs', perJob.toFixed(2));
const all = Array.from({ length: ROOTS }, (_, at) => ({ rootNamespaceId: at + 1 }));
const allMs = performance.now();
await reader.directoryFor(all);
say('all groups into memory, ms', (performance.now() - allMs).toFixed(1));
say('heap of a reader that knows all groups, MB', String(heapMb() - before));

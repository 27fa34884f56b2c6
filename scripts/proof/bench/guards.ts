/**
 * Work of this code against that of the commit that landed last, in steps of JavaScript. CPU time of equal code differs by up to 7 %
 * between processes of a busy machine, steps by up to 3 %. Both versions have processes of their own, which take turns.
 * Work in native code and the function behind a relay under load are not guarded.
 */
import { join } from 'node:path';
import { countFigure, type Figure, inTurns } from './figure.ts';
import { landedCommit, OWN_CODE, withCodeOf } from './landed.ts';
import { startPath, withTable } from './path.ts';
import { ENV_AGAINST, ENV_STEPS, type RoleProcess, type StartRole } from './processes.ts';

/** Equal code differs by up to 3 %, since sizes of batches depend on time; a guard must see ten per cent. */
const MORE_MAX = 1.06;
const ROUNDS = 5;
const STREAMS_WAITED_FOR = 8;
/** The last column is the bound in a clone without the landed commit: steps of a job with a quarter of room. */
export const ROWS = [
  ['relay', { inFlight: 1, roots: 50, jobs: 50 }, 1_000_000],
  ['relay', { inFlight: 8, roots: 50, jobs: 200 }, 880_000],
  ['relay', { inFlight: 64, roots: 50, jobs: 400 }, 760_000],
  ['tunnel', { inFlight: 8, roots: 50, jobs: 200 }, 1_100_000],
  ['admit-alone', { inFlight: 1, roots: 1, jobs: 100 }, 350_000],
  ['policy-rules', { inFlight: 1, roots: 1, jobs: 50 }, 830_000],
  ['policy-images', { inFlight: 1, roots: 1, jobs: 1_000 }, 22_000],
] as const;

interface Worker {
  readonly counted: RoleProcess;
  /** Has the jobs done. */
  readonly giver: RoleProcess;
  readonly controller: number;
}

/** @param against - a revision. Default: the landed commit, or fixed bounds if it is missing or this bench cannot run it. */
export async function guardFigures(against = process.env[ENV_AGAINST]): Promise<readonly Figure[]> {
  const revision = against ?? landedCommit();
  try {
    if (revision !== undefined)
      return await withCodeOf(revision, (landed) => compareCode({ own: OWN_CODE, landed }));
  } catch (error) {
    if (against !== undefined) throw error;
    console.error(error);
  }
  console.error('not compared with the landed commit: steps have fixed bounds');
  return compareCode({ own: OWN_CODE });
}

/** @param folders - of the versions, `own` and `landed`. */
export const compareCode = (
  folders: Readonly<Record<string, string>>,
  rows: readonly (typeof ROWS)[number][] = ROWS,
): Promise<readonly Figure[]> =>
  withTable(async (router, start, table) => {
    // Cached code was compiled without counters.
    const env = { ...table, [ENV_STEPS]: '1', NODE_DISABLE_COMPILE_CACHE: '1' };
    const sides: Record<string, ReadonlyMap<string, Worker>> = {};
    let controller = 0;
    for (const [side, folder] of Object.entries(folders)) {
      const file = join(folder, 'scripts/proof/bench/roles.ts');
      const startOf: StartRole = (role, more) => start(role, { ...env, ...more }, file);
      const workers = new Map<string, Worker>();
      for (const [row, url] of [
        ['relay', router.grpcUrl],
        ['tunnel', router.wsUrl],
      ] as const) {
        controller += 1;
        const [counted] = await startPath(url, startOf, env, controller);
        workers.set(row, { counted, giver: router, controller });
      }
      for (const role of ['admit-alone', 'policy-rules', 'policy-images'] as const) {
        const counted = await startOf(role);
        workers.set(role, { counted, giver: counted, controller });
      }
      sides[side] = workers;
    }
    const figures: Figure[] = [];
    let firstJobId = 1;
    for (const [row, load, stepsMax] of rows) {
      const rounds = await inTurns(ROUNDS + 1, sides, async (workers) => {
        const worker = workers.get(row);
        await worker?.counted.steps();
        const streams = Math.min(load.inFlight, STREAMS_WAITED_FOR);
        await worker?.giver.admitJobs({ ...load, streams, firstJobId, controller: worker.controller });
        firstJobId += load.jobs;
        return ((await worker?.counted.steps()) ?? Number.NaN) / load.jobs;
      });
      // The first round fills caches.
      const [own = Number.NaN, landed = Number.NaN] = ['own', 'landed'].map((side) =>
        mean(rounds.slice(1).map((each) => each[side] ?? Number.NaN)),
      );
      const name = `steps of ${row}, ${load.inFlight} in flight`;
      const note = `${own.toFixed(0)} against ${landed.toFixed(0)} a job`;
      figures.push(
        folders.landed === undefined
          ? countFigure(name, own, { atMost: stepsMax }, 'per job')
          : countFigure(`${name} ÷ landed`, own / landed, { atMost: MORE_MAX }, '×', note),
      );
    }
    return figures;
  });

const mean = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0) / values.length;

import { GitLabError } from '../../../functions/core/gitlab/gitlab.ts';
import { patiently } from '../../../functions/core/gitlab/rest-call.ts';
import {
  createFleet,
  type FleetGitLab,
  type FleetRunner,
  type RunnerManager,
} from '../../../functions/core/gitlab/runners.ts';
import { callsTo, type GitLabPlace } from '../truth/gitlab-flags.ts';
import type { Progress } from '../truth/progress.ts';

/** A runner with the processes that work under its token. */
export interface MannedRunner {
  readonly runner: FleetRunner;
  readonly managers: readonly RunnerManager[];
}

export interface FleetListing {
  /** Ascending by id. */
  readonly runners: readonly MannedRunner[];
  /** Runners and managers that could not be read. */
  readonly unreadable: number;
  /** There are more runners than are looked at. */
  readonly cut: boolean;
}

export type OpenFleet = (place: GitLabPlace) => FleetGitLab;

export const openFleet: OpenFleet = (place) => createFleet(callsTo(place));

/** Two calls a runner: more would take a quarter of an hour. */
const RUNNERS_MAX = 2_000;
const PAGES_MAX = 200;
/** More parallel calls burden a small GitLab. */
const AT_ONCE = 4;

/** Lists all runners with their managers. @throws {GitLabError} when GitLab does not answer to the end. */
export async function readFleet(place: GitLabPlace, progress: Progress): Promise<FleetListing> {
  const fleet = openFleet(place);
  const ask = <Answer>(call: () => Promise<Answer>): Promise<Answer> =>
    patiently(() => {
      progress.step();
      return call();
    }, place.clock.sleep);
  const ids = new Set<number>();
  let unreadable = 0;
  let page: string | undefined;
  for (let pages = 0; pages < PAGES_MAX && ids.size < RUNNERS_MAX; pages += 1) {
    const from = page;
    const found = await ask(() => fleet.listed(from === undefined ? {} : { page: from }));
    for (const { id } of found.runners) ids.add(id);
    unreadable += found.unreadable ?? 0;
    page = found.next;
    if (page === undefined) break;
  }
  const wanted = [...ids].sort((a, b) => a - b).slice(0, RUNNERS_MAX);
  const runners: MannedRunner[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let id = wanted[next++]; id !== undefined; id = wanted[next++]) {
      const runnerId = id;
      const read = await ask(() => orUnreadable(() => fleet.runner(runnerId)));
      // One that was deleted meanwhile is no runner any more.
      if (read === undefined) continue;
      if (read === 'unreadable') {
        unreadable += 1;
        continue;
      }
      const { managers, unreadable: odd = 0 } = await ask(() => fleet.managers(runnerId));
      unreadable += odd;
      runners.push({ runner: read, managers });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  progress.done();
  return {
    runners: runners.sort((a, b) => a.runner.id - b.runner.id),
    unreadable,
    cut: page !== undefined || ids.size > RUNNERS_MAX,
  };
}

/** One odd runner must not hide the other ones. */
const orUnreadable = async <Answer>(call: () => Promise<Answer>): Promise<Answer | 'unreadable'> =>
  call().catch((error: unknown) => {
    if (error instanceof GitLabError && error.code === 'gitlab_unreadable') return 'unreadable' as const;
    throw error;
  });

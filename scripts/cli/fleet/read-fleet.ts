import { atOnce } from '../../../functions/core/environment/environment.ts';
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

export interface MannedRunner {
  readonly runner: FleetRunner;
  readonly managers: readonly RunnerManager[];
}

/** Registered with a registration token, which GitLab will remove, or created by a user (`glrt-…`). */
export function registrationOf({
  runner: { createdBy },
}: MannedRunner): 'registration_token' | 'authentication_token' | 'not_told' {
  if (createdBy === undefined) return 'not_told';
  return createdBy === 'user' ? 'authentication_token' : 'registration_token';
}

export const openFleet = (place: GitLabPlace): FleetGitLab => createFleet(callsTo(place));

/** Two calls a runner: more would take a quarter of an hour. */
const RUNNERS_MAX = 2_000;
const AT_ONCE = 4;

/** Ascending by id. `unreadable` counts runners and managers; `cut`: there are more than are looked at. @throws {GitLabError} */
export async function readFleet(place: GitLabPlace, progress: Progress) {
  const fleet = openFleet(place);
  const ask = <Answer>(call: () => Promise<Answer>): Promise<Answer> => {
    progress.step();
    return patiently(call, place.clock.sleep);
  };
  const ids = new Set<number>();
  let unreadable = 0;
  let page: string | undefined;
  do {
    const from = page;
    const found = await ask(() => fleet.listed(from === undefined ? {} : { page: from }));
    for (const { id } of found.runners) ids.add(id);
    unreadable += found.unreadable ?? 0;
    page = found.next;
  } while (page !== undefined && ids.size < RUNNERS_MAX);
  const wanted = [...ids].sort((a, b) => a - b).slice(0, RUNNERS_MAX);
  const runners: MannedRunner[] = [];
  await atOnce(wanted, AT_ONCE, async (id) => {
    try {
      const runner = await ask(() => fleet.runner(id));
      if (runner === undefined) return;
      const { managers, unreadable: odd = 0 } = await ask(() => fleet.managers(id));
      unreadable += odd;
      runners.push({ runner, managers });
    } catch (error) {
      if (!(error instanceof GitLabError && error.code === 'gitlab_unreadable')) throw error;
      unreadable += 1;
    }
  });
  progress.done();
  runners.sort((a, b) => a.runner.id - b.runner.id);
  return { runners, unreadable, cut: page !== undefined || ids.size > RUNNERS_MAX };
}

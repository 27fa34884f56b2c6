import type { Log } from '../../environment/index.ts';
import { keptAnswers } from '../kept-answers.ts';
import type { FleetGitLab, RunnerManager } from './fleet.ts';
import { byVersion } from './router-access.ts';

/** Details of a runner for people. */
export interface RunnerDetail {
  readonly description?: string;
  /** The version of GitLab Runner, as the oldest of the managers that still work reports it: `18.10.2`. */
  readonly version?: string;
}

export type RunnerDetails = (runnerIds: readonly number[]) => Promise<ReadonlyMap<number, RunnerDetail>>;

interface DetailsOptions {
  /** Two calls each. */
  readonly fleet: Pick<FleetGitLab, 'runner' | 'managers'>;
  readonly clock: { nowMs(): number; monotonicMs(): number };
  readonly log: Pick<Log, 'warn'>;
  readonly askMs?: number;
  readonly askedMax?: number;
}

/**
 * Descriptions and versions of runners. They are upgraded now and then, and GitLab writes down a version every 40 to 55
 * minutes.
 */
export const runnerDetails = ({ fleet, ...options }: DetailsOptions): RunnerDetails =>
  keptAnswers<RunnerDetail>({
    ...options,
    ask: (id) => detailOf(id, fleet),
    unreadable: {},
    what: 'runners',
  });

async function detailOf(id: number, fleet: DetailsOptions['fleet']): Promise<RunnerDetail> {
  const runner = await fleet.runner(id);
  if (runner === undefined) return {};
  const version = oldestVersion((await fleet.managers(id)).managers);
  return {
    ...(runner.description !== '' && { description: runner.description }),
    ...(version !== undefined && { version }),
  };
}

/** Ignores machines that stopped weeks ago, unless all did: then the last version is shown. */
function oldestVersion(managers: readonly RunnerManager[]): string | undefined {
  const working = managers.filter(({ status }) => status !== 'stale');
  return (working.length === 0 ? managers : working)
    .flatMap(({ version }) => version ?? [])
    .sort(byVersion)[0];
}

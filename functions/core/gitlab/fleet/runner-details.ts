import { keepLatest } from '../../../../policies/keep-latest.ts';
import { atOnce, type Log } from '../../environment/index.ts';
import { GitLabError } from '../gitlab.ts';
import type { FleetGitLab, RunnerManager } from './fleet.ts';
import { byVersion } from './router-access.ts';

/** What people want to know of a runner beside its jobs. */
export interface RunnerDetail {
  readonly description?: string;
  /** Of GitLab Runner, as it reports it: `18.10.2`. The oldest of the managers that still work. */
  readonly version?: string;
}

export type RunnerDetails = (runnerIds: readonly number[]) => Promise<ReadonlyMap<number, RunnerDetail>>;

interface DetailsOptions {
  /** Whose calls have a short deadline: those under way at the end are waited for. */
  readonly fleet: Pick<FleetGitLab, 'runner' | 'managers'>;
  readonly clock: { nowMs(): number; monotonicMs(): number };
  readonly log: Pick<Log, 'warn'>;
  /** Nobody waits longer for one answer; what is not told by then is the next one's. @default 1500 */
  readonly askMs?: number;
  /** Two calls each; a larger fleet is learned answer by answer. @default 100 */
  readonly askedMax?: number;
}

/** A runner is upgraded now and then, and GitLab writes down its version every 40 to 55 minutes. */
const FRESH_MS = 10 * 60_000;
/** Somebody looks at an empty page meanwhile. */
const ASK_MS = 1_500;
/** A GitLab that failed is left alone so long: no page waits for it again and again. */
const QUIET_MS = 60_000;
const ASKED_MAX = 100;
const CALLS_AT_ONCE = 8;
/** Some hundred bytes each. */
const KEPT_MAX = 5_000;

/**
 * Descriptions and versions of runners, kept for some minutes by this process. It never fails: a runner that GitLab does not
 * tell of, or not in time, is left out.
 */
export function runnerDetails({
  fleet,
  clock,
  log,
  askMs = ASK_MS,
  askedMax = ASKED_MAX,
}: DetailsOptions): RunnerDetails {
  const known = new Map<number, { readonly detail: RunnerDetail; readonly atMs: number }>();
  let quietUntilMs = Number.NEGATIVE_INFINITY;
  return async (runnerIds) => {
    const nowMs = clock.nowMs();
    const untilMs = clock.monotonicMs() + askMs;
    const isFresh = (id: number): boolean =>
      nowMs - (known.get(id)?.atMs ?? Number.NEGATIVE_INFINITY) < FRESH_MS;
    const toAsk = nowMs < quietUntilMs ? [] : runnerIds.filter((id) => !isFresh(id)).slice(0, askedMax);
    await atOnce(toAsk, CALLS_AT_ONCE, async (id) => {
      if (clock.monotonicMs() >= untilMs || nowMs < quietUntilMs) return;
      const keep = (detail: RunnerDetail): void => keepLatest(known, id, { detail, atMs: nowMs }, KEPT_MAX);
      try {
        keep(await detailOf(id, fleet));
      } catch (error) {
        if (!(error instanceof GitLabError)) throw error;
        // One odd answer says nothing of the other runners.
        if (error.code === 'gitlab_unreadable') return keep({});
        if (nowMs >= quietUntilMs) log.warn('GitLab does not tell of runners', { error: error.code });
        quietUntilMs = nowMs + QUIET_MS;
      }
    });
    return new Map(
      runnerIds.flatMap((id) => {
        const detail = known.get(id)?.detail;
        return detail === undefined ? [] : [[id, detail] as const];
      }),
    );
  };
}

async function detailOf(id: number, fleet: DetailsOptions['fleet']): Promise<RunnerDetail> {
  const runner = await fleet.runner(id);
  if (runner === undefined) return {};
  const version = oldestVersion((await fleet.managers(id)).managers);
  return {
    ...(runner.description !== '' && { description: runner.description }),
    ...(version !== undefined && { version }),
  };
}

/** What stopped weeks ago asks for no job; where nothing works any more, its last version is all there is. */
function oldestVersion(managers: readonly RunnerManager[]): string | undefined {
  const working = managers.filter(({ status }) => status !== 'stale');
  return (working.length === 0 ? managers : working)
    .flatMap(({ version }) => version ?? [])
    .sort(byVersion)[0];
}

import { z } from 'zod';
import { keepLatest } from '../../../policies/keep-latest.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { atOnce, type LedgerClock, type Log } from '../environment/environment.ts';
import { GitLabError } from './gitlab.ts';
import { type RestCallDeps, readOne } from './rest-call.ts';
import { byVersion, type FleetGitLab } from './runners.ts';

interface CacheOptions {
  readonly clock: Pick<LedgerClock, 'nowMs' | 'monotonicMs'>;
  readonly log: Pick<Log, 'warn'>;
}

/** A user waits for the page. Later answers serve the next call. */
const WAIT_MS = 1_500;
/** Per call; the rest is learned later. */
const IDS_MAX = 100;
const FRESH_MS = 10 * 60_000;
const QUIET_MS = 60_000;
const CALLS_AT_ONCE = 8;
const CACHED_MAX = 5_000;

/**
 * Caches GitLab's answers about ids for some minutes. Missing or late answers are left out.
 * @param unreadable - in place of an answer that cannot be read: one odd answer says nothing of the others
 */
function cachedAnswers<Answer>(
  what: string,
  ask: (id: number) => Promise<Answer>,
  unreadable: Answer,
  { clock, log }: CacheOptions,
): (ids: readonly number[]) => Promise<ReadonlyMap<number, Answer>> {
  const known = new Map<number, { readonly answer: Answer; readonly atMs: number }>();
  let quietUntilMs = Number.NEGATIVE_INFINITY;
  return async (ids) => {
    const nowMs = clock.nowMs();
    const untilMs = clock.monotonicMs() + WAIT_MS;
    const isFresh = (id: number): boolean =>
      nowMs - (known.get(id)?.atMs ?? Number.NEGATIVE_INFINITY) < FRESH_MS;
    const missing = nowMs < quietUntilMs ? [] : ids.filter((id) => !isFresh(id)).slice(0, IDS_MAX);
    await atOnce(missing, CALLS_AT_ONCE, async (id) => {
      if (clock.monotonicMs() >= untilMs || nowMs < quietUntilMs) return;
      const keep = (answer: Answer): void => keepLatest(known, id, { answer, atMs: nowMs }, CACHED_MAX);
      try {
        keep(await ask(id));
      } catch (error) {
        if (!(error instanceof GitLabError)) throw error;
        if (error.code === 'gitlab_unreadable') return keep(unreadable);
        if (nowMs >= quietUntilMs) log.warn(`GitLab does not send ${what}`, { error: error.code });
        quietUntilMs = nowMs + QUIET_MS;
      }
    });
    const cached = ids.map((id) => [id, known.get(id)?.answer] as const);
    return new Map(cached.filter((each): each is readonly [number, Answer] => each[1] !== undefined));
  };
}

/** `anna`; empty: GitLab has no such user any more. Missing: not answered. */
export type UserNames = (userIds: readonly number[]) => Promise<ReadonlyMap<number, string>>;

const UserAnswer = z.object({ username: z.string().min(1).max(255) });

/** Cached for minutes only, so that renamed and deleted users disappear here too. @see https://docs.gitlab.com/api/users/#retrieve-a-user */
export const userNames = ({
  gitlab,
  ...options
}: CacheOptions & { readonly gitlab: RestCallDeps }): UserNames =>
  cachedAnswers(
    'users',
    async (id) => (await readOne(`/users/${id}`, UserAnswer, gitlab))?.username ?? '',
    '',
    options,
  );

export interface RunnerDetail {
  readonly description?: string;
  readonly version?: string;
}

export type RunnerDetails = (runnerIds: readonly number[]) => Promise<ReadonlyMap<number, RunnerDetail>>;

/** Two calls each. GitLab writes down a version every 40 to 55 minutes. */
export const runnerDetails = ({
  fleet,
  ...options
}: CacheOptions & { readonly fleet: Pick<FleetGitLab, 'runner' | 'managers'> }): RunnerDetails =>
  cachedAnswers<RunnerDetail>(
    'runners',
    async (id) => {
      const runner = await fleet.runner(id);
      if (runner === undefined) return {};
      const { managers } = await fleet.managers(id);
      // Machines that stopped weeks ago do not count, unless all did.
      const working = managers.filter(({ status }) => status !== 'stale');
      const versions = (working.length === 0 ? managers : working).flatMap(({ version }) => version ?? []);
      return withoutAbsent({
        description: runner.description || undefined,
        version: versions.sort(byVersion)[0],
      });
    },
    {},
    options,
  );

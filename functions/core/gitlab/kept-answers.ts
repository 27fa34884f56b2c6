import { z } from 'zod';
import { keepLatest } from '../../../policies/keep-latest.ts';
import { atOnce, type Log } from '../environment/environment.ts';
import { GitLabError } from './gitlab.ts';
import { type RestCallDeps, readFound, restCall } from './rest-call.ts';
import { byVersion, type FleetGitLab, type RunnerManager } from './runners.ts';

interface KeptOptions<Answer> {
  /** Its calls have a short deadline: those under way at the end are waited for. @throws {GitLabError} */
  readonly ask: (id: number) => Promise<Answer>;
  /** In place of an answer that cannot be read: one odd answer says nothing of the others. */
  readonly unreadable: Answer;
  readonly what: string;
  readonly clock: { nowMs(): number; monotonicMs(): number };
  readonly log: Pick<Log, 'warn'>;
  /** Longest wait per answer, ms; later results serve the next call. @default 1500 */
  readonly askMs?: number;
  /** Most ids asked per call; the rest is learned later. @default 100 */
  readonly askedMax?: number;
}

const FRESH_MS = 10 * 60_000;
/** A user waits for the page. */
const ASK_MS = 1_500;
/** A GitLab that failed is left alone so long: no page waits for it again and again. */
const QUIET_MS = 60_000;
const ASKED_MAX = 100;
const CALLS_AT_ONCE = 8;
const KEPT_MAX = 5_000;

/**
 * Caches GitLab's answers about ids for some minutes. It never throws: missing or late answers are left out.
 */
function keptAnswers<Answer>({
  ask,
  unreadable,
  what,
  clock,
  log,
  askMs = ASK_MS,
  askedMax = ASKED_MAX,
}: KeptOptions<Answer>): (ids: readonly number[]) => Promise<ReadonlyMap<number, Answer>> {
  const known = new Map<number, { readonly answer: Answer; readonly atMs: number }>();
  let quietUntilMs = Number.NEGATIVE_INFINITY;
  return async (ids) => {
    const nowMs = clock.nowMs();
    const untilMs = clock.monotonicMs() + askMs;
    const isFresh = (id: number): boolean =>
      nowMs - (known.get(id)?.atMs ?? Number.NEGATIVE_INFINITY) < FRESH_MS;
    const toAsk = nowMs < quietUntilMs ? [] : ids.filter((id) => !isFresh(id)).slice(0, askedMax);
    await atOnce(toAsk, CALLS_AT_ONCE, async (id) => {
      if (clock.monotonicMs() >= untilMs || nowMs < quietUntilMs) return;
      const keep = (answer: Answer): void => keepLatest(known, id, { answer, atMs: nowMs }, KEPT_MAX);
      try {
        keep(await ask(id));
      } catch (error) {
        if (!(error instanceof GitLabError)) throw error;
        if (error.code === 'gitlab_unreadable') return keep(unreadable);
        if (nowMs >= quietUntilMs) log.warn(`GitLab does not tell of ${what}`, { error: error.code });
        quietUntilMs = nowMs + QUIET_MS;
      }
    });
    return new Map(
      ids.flatMap((id) => {
        const kept = known.get(id);
        return kept === undefined ? [] : [[id, kept.answer] as const];
      }),
    );
  };
}

/** `anna`; empty: GitLab has no such user any more. Missing: not answered. */
export type UserNames = (userIds: readonly number[]) => Promise<ReadonlyMap<number, string>>;

type AskingOptions = Pick<KeptOptions<unknown>, 'clock' | 'log' | 'askMs' | 'askedMax'>;

/** As GitLab bounds them. */
const Answer = z.object({ username: z.string().min(1).max(255) });

/**
 * Reads current user names from GitLab. They are cached in memory for minutes only, so renamed and deleted
 * users disappear here too.
 *
 * @param gitlab - its token may read users.
 * @see https://docs.gitlab.com/api/users/#retrieve-a-user
 */
export const userNames = ({
  gitlab,
  ...options
}: AskingOptions & { readonly gitlab: RestCallDeps }): UserNames =>
  keptAnswers<string>({
    ...options,
    ask: async (id) => {
      const answer = await restCall(`/users/${id}`, new URLSearchParams(), gitlab);
      if (answer.status === 404) return '';
      return Answer.safeParse(readFound(`/users/${id}`, answer)).data?.username ?? '';
    },
    unreadable: '',
    what: 'users',
  });

export interface RunnerDetail {
  readonly description?: string;
  /** The version of GitLab Runner, as the oldest of the managers that still work reports it: `18.10.2`. */
  readonly version?: string;
}

export type RunnerDetails = (runnerIds: readonly number[]) => Promise<ReadonlyMap<number, RunnerDetail>>;

type Fleet = Pick<FleetGitLab, 'runner' | 'managers'>;

/**
 * Descriptions and versions of runners, two calls each. They are upgraded now and then, and GitLab writes down a version every
 * 40 to 55 minutes.
 */
export const runnerDetails = ({
  fleet,
  ...options
}: AskingOptions & { readonly fleet: Fleet }): RunnerDetails =>
  keptAnswers<RunnerDetail>({
    ...options,
    ask: (id) => detailOf(id, fleet),
    unreadable: {},
    what: 'runners',
  });

async function detailOf(id: number, fleet: Fleet): Promise<RunnerDetail> {
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

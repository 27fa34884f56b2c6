import { keepLatest } from '../../../policies/keep-latest.ts';
import { atOnce, type Log } from '../environment/index.ts';
import { GitLabError } from './gitlab.ts';

interface KeptOptions<Answer> {
  /** Its calls have a short deadline: those under way at the end are waited for. @throws {GitLabError} */
  readonly ask: (id: number) => Promise<Answer>;
  /** In place of an answer that cannot be read: one odd answer says nothing of the others. */
  readonly unreadable: Answer;
  /** `runners`, for the log. */
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
/** Some hundred bytes each. */
const KEPT_MAX = 5_000;

/**
 * Caches GitLab's answers about ids for some minutes. It never throws: missing or late answers are left out.
 */
export function keptAnswers<Answer>({
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

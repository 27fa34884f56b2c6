import { ADMISSIONS_PATH, UNMETERED_PATH, type UnmeteredResult } from '../functions/core/contract/index.ts';
import { type AdmitCallDeps, type CallFailure, callAdmit, malformed } from './admit-call.ts';
import type { Breaker, Permit } from './breaker.ts';
import type { BatchJob } from './commit/batch-job.ts';
import { SEND_MS_MIN } from './commit/fair-queue.ts';
import type { SendBatch } from './commit/group-commit.ts';
import type { Lanes } from './commit/lanes.ts';
import type { RelayObserver } from './events.ts';
import { contendedIn, matchDecisions, matchResults, parseRooms, parseVerdicts } from './match-answers.ts';
import type { RelayRoom } from './room.ts';
import { type FallbackCause, type LedgerVerdict, undecided } from './verdict.ts';
import type { WaitingQueue } from './waiting/waiting-queue.ts';

/**
 * The pauses between so many tries fill a deadline of two seconds. Each lane has one call under way, so that all tries
 * together are at most a few calls a second and lane; what lasts longer opens the breaker. No hedging: a second copy of a
 * slow batch doubles the load just when the service is slow, and the commonest slowness, a cold start, meets the copy too.
 */
export const TRIES_MAX = 8;

interface ForwarderDeps extends AdmitCallDeps {
  readonly breaker: Breaker;
  /** Told of what the jobs of a batch fought for. @default nobody is */
  readonly lanes?: Pick<Lanes, 'noteContended'>;
  /** Who waits for room: those come first, the function hears of them, and they of what is left. @default it keeps no job waiting */
  readonly waiting?: Pick<WaitingQueue, 'inTurn' | 'terms' | 'roomTold'>;
  readonly random: () => number;
  readonly observe: RelayObserver;
  /** Told what is left of limits, and who was admitted in the same answer. @default nobody is */
  readonly roomTold?: RelayRoom['tell'];
}

/** A fallback answer on its way to the ledger. */
export interface UnmeteredPost {
  readonly jobId: number;
  /** `UnmeteredAnswer` */
  readonly json: string;
}

/** What came of telling some of them. */
export type UnmeteredOutcome =
  /** Keyed by job id. A job that is missing is to be told again. */
  | {
      readonly kind: 'told';
      readonly outcomes: ReadonlyMap<number, UnmeteredResult['outcome']>;
    }
  /** The service will not take this batch; `content`: for what is in it, so that another batch may pass. */
  | { readonly kind: 'refused'; readonly content: boolean }
  | { readonly kind: 'unreachable' };

/** The way to the service that decides. */
export interface Forwarder {
  readonly send: SendBatch;
  /** Posts answers about different jobs. Never rejects. */
  readonly postUnmetered: (
    answers: readonly UnmeteredPost[],
    options: {
      readonly timeoutMs: number;
      /** Posts though the breaker says that nobody should be asked: it is now or never. */
      readonly now?: boolean;
    },
  ) => Promise<UnmeteredOutcome>;
}

/** Bad request, too large, cannot be processed: statuses that are about what was sent. All others are about the way or us. */
const ABOUT_CONTENT: ReadonlySet<number> = new Set([400, 413, 422]);

export function createForwarder(deps: ForwarderDeps): Forwarder {
  const { clock, breaker, observe } = deps;

  async function send(
    jobs: readonly BatchJob[],
    remainingMs: number,
    batch?: string,
  ): Promise<readonly LedgerVerdict[]> {
    const all = (cause: FallbackCause): readonly LedgerVerdict[] => jobs.map(() => undecided(cause));
    const deadlineMs = clock.monotonicMs() + remainingMs;
    const { waiting } = deps;
    const requests = (waiting?.inTurn(jobs) ?? jobs).map((job) => job.json).join(',');
    const named = batch === undefined ? '' : `"batch":${JSON.stringify(batch)},`;
    const jobIds = jobs.map(({ request }) => request.jobId);
    for (let attempt = 1; ; attempt += 1) {
      const leftMs = Math.floor(deadlineMs - clock.monotonicMs());
      const permit = breaker.allow();
      if (permit === undefined) return all('circuit_open');
      const terms = waiting && `,"waiting":${JSON.stringify(waiting.terms(jobIds))}`;
      const body = `{${named}"requests":[${requests}],"remainingMs":${leftMs}${terms ?? ''}}`;
      const askedAtMs = clock.monotonicMs();
      const answer = await call(permit, ADMISSIONS_PATH, body, leftMs, (parsed) =>
        verdictsIn(parsed, batch, jobs, jobIds, askedAtMs),
      );
      if (answer.kind === 'parsed') return answer.value;
      const cause = causeOf(answer);
      if (attempt === TRIES_MAX || cause !== 'unreachable') return all(cause);
      const pauseMs = tryPauseMs({
        attempt,
        random: deps.random(),
        retryAfterMs: answer.kind === 'throttled' ? answer.retryAfterMs : undefined,
        leftMs: deadlineMs - clock.monotonicMs() - SEND_MS_MIN,
      });
      if (pauseMs === undefined) return all(cause);
      await new Promise<void>((resume) => clock.after(pauseMs, resume));
    }
  }

  function verdictsIn(
    body: unknown,
    batch: string | undefined,
    jobs: readonly BatchJob[],
    jobIds: readonly number[],
    askedAtMs: number,
  ): readonly LedgerVerdict[] | undefined {
    const matched = matchDecisions(body, { batch, jobIds });
    if (matched === undefined) return undefined;
    for (const { counter, jobIds: fighting } of contendedIn(body, jobIds)) {
      const roots = jobs.flatMap(({ request, root }) => (fighting.includes(request.jobId) ? [root] : []));
      deps.lanes?.noteContended(counter, [...new Set(roots)]);
    }
    const { decisions, unmatched } = matched;
    if (unmatched > 0) {
      observe({
        type: 'admit_failed',
        code: 'admit_unreachable',
        details: `${ADMISSIONS_PATH} answered without a decision of its own for ${unmatched} of ${jobIds.length} jobs`,
      });
    }
    const verdicts = parseVerdicts({ decisions }, jobIds.length);
    const admitted = jobs.filter((_, index) => verdicts?.[index]?.outcome === 'admitted');
    const rooms = parseRooms(body);
    deps.waiting?.roomTold(rooms);
    deps.roomTold?.({
      rooms,
      admitted: admitted.map(({ request }) => request),
      askedAtMs,
    });
    return verdicts;
  }

  const postUnmetered: Forwarder['postUnmetered'] = async (answers, { timeoutMs, now = false }) => {
    const permit = now ? (breaker.allow() ?? UNASKED) : breaker.allow();
    if (permit === undefined) return { kind: 'unreachable' };
    const body = `{"answers":[${answers.map(({ json }) => json).join(',')}]}`;
    const jobIds = answers.map(({ jobId }) => jobId);
    const answer = await call(permit, UNMETERED_PATH, body, timeoutMs, (parsed) =>
      matchResults(parsed, jobIds),
    );
    switch (answer.kind) {
      case 'parsed':
        return { kind: 'told', outcomes: answer.value };
      case 'refused':
        return { kind: 'refused', content: ABOUT_CONTENT.has(answer.status) };
      default:
        return { kind: 'unreachable' };
    }
  };

  /** One call, reported to the breaker and to whoever watches. */
  async function call<T>(
    permit: Permit,
    path: string,
    body: string,
    timeoutMs: number,
    parse: (body: unknown) => T | undefined,
  ): Promise<{ readonly kind: 'parsed'; readonly value: T } | CallFailure> {
    const answer = await callAdmit(deps, path, body, timeoutMs);
    const value = answer.kind === 'answered' ? parse(answer.body) : undefined;
    if (value !== undefined) {
      permit.succeeded();
      return { kind: 'parsed', value };
    }
    const failure =
      answer.kind === 'answered' ? malformed(`${path} answered with what is not of its contract`) : answer;
    // Refusing is an answer too: the service is there.
    if (failure.kind === 'refused') permit.succeeded();
    else if (failure.kind === 'throttled') permit.throttled();
    else permit.failed();
    observe({ type: 'admit_failed', code: CODES[failure.kind], details: failure.error.message });
    return failure;
  }

  return { send, postUnmetered };
}

const CODES = {
  unreachable: 'admit_unreachable',
  throttled: 'admit_throttled',
  refused: 'admit_refused',
} as const satisfies Record<CallFailure['kind'], string>;

/** For a call that the breaker did not let through: what comes of it says nothing about the pause. */
const UNASKED: Permit = { succeeded: () => {}, failed: () => {}, throttled: () => {} };

const causeOf = (failure: CallFailure): FallbackCause => {
  switch (failure.kind) {
    case 'unreachable':
      return failure.cause;
    case 'throttled':
      return 'unreachable';
    case 'refused':
      return 'refused';
  }
};

/** First pauses are short, because most trouble is: a throttled burst, a connection that was closed, a container that went. */
const PAUSE_MS_MIN = 50;
const PAUSE_MS_MAX = 400;

interface TryPause {
  /** 1 after the first try. */
  readonly attempt: number;
  /** [0, 1) */
  readonly random: number;
  /** What the service asked for. */
  readonly retryAfterMs: number | undefined;
  /** After so long another try has no time left to be answered. */
  readonly leftMs: number;
}

/**
 * How long to wait before the next try, ms; undefined: there is no time for one. The pause doubles from 50 to 400 and is half
 * to all of that, so that lanes which failed together do not come back together. What the service asks for is honoured as far
 * as the time reaches: the last try is the one that a job with a deadline can wait for.
 */
function tryPauseMs({ attempt, random, retryAfterMs = 0, leftMs }: TryPause): number | undefined {
  const fullMs = Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** (attempt - 1));
  const pauseMs = fullMs * (0.5 + random / 2);
  if (pauseMs > leftMs) return undefined;
  return Math.min(leftMs, retryAfterMs > 0 ? retryAfterMs + pauseMs : pauseMs);
}

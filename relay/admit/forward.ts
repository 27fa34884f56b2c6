/**
 * Sends batches and unmetered decisions to the admit function.
 *
 * 1. Ask the breaker for a permit. Without one the fallback decides.
 * 2. Post, and match each decision to the job that it names.
 * 3. If the function cannot be reached or throttles, retry with pauses until the deadline of the batch.
 *
 * No hedging: a second copy of a slow batch doubles the load just when the service is slow, and a cold start meets the copy too.
 */
import {
  ADMISSIONS_PATH,
  type LimitRoom,
  UNMETERED_PATH,
  type UnmeteredResult,
} from '../../functions/core/contract/admissions.ts';
import { isRecord } from '../../policies/document/reading.ts';
import { type BatchJob, SEND_MS_MIN } from '../commit/fair-queue.ts';
import type { Lanes } from '../commit/lanes.ts';
import type { RelayObserver } from '../events.ts';
import { type FallbackCause, type LedgerDecision, pauseMs, undecided } from '../exchange.ts';
import type { WaitQueue } from '../wait-queue.ts';
import { type AdmitService, type CallFailure, callAdmit, malformed } from './admit-call.ts';
import type { Breaker, Permit } from './breaker.ts';
import { readContended, readDecisions, readHeadroom, readResults, readTransactions } from './response.ts';

/** The pauses between this many tries fill a deadline of two seconds. A longer outage opens the breaker. */
export const TRIES_MAX = 8;

interface ForwarderOptions extends AdmitService {
  readonly breaker: Breaker;
  readonly lanes?: Pick<Lanes, 'noteContended' | 'notePacked'>;
  readonly waiting?: Pick<WaitQueue, 'inOrder' | 'terms' | 'onHeadroom'>;
  readonly random: () => number;
  readonly observe: RelayObserver;
  readonly onHeadroom?: (headroom: readonly LimitRoom[]) => void;
  /** Gets the version that an answer names, if any. */
  readonly onPolicy?: (version: unknown) => void;
}

export interface UnmeteredPost {
  readonly jobId: number;
  readonly json: string;
}

export type UnmeteredOutcome =
  | { readonly kind: 'reported'; readonly outcomes: ReadonlyMap<number, UnmeteredResult['outcome']> }
  /** The service refused the batch. `content`: because of its content, so another batch may pass. */
  | { readonly kind: 'refused'; readonly content: boolean }
  | { readonly kind: 'unreachable' };

export type Forwarder = ReturnType<typeof createForwarder>;

/** Bad request, too large, unprocessable: these concern the content. Any other status concerns the route or the relay. */
const ABOUT_CONTENT: ReadonlySet<number> = new Set([400, 413, 422]);

export function createForwarder(options: ForwarderOptions) {
  const { clock, breaker, observe, waiting } = options;

  async function send(
    jobs: readonly BatchJob[],
    remainingMs: number,
    batch?: string,
  ): Promise<readonly LedgerDecision[]> {
    const all = (cause: FallbackCause): readonly LedgerDecision[] => jobs.map(() => undecided(cause));
    const deadlineMs = clock.monotonicMs() + remainingMs;
    const requests = (waiting?.inOrder(jobs) ?? jobs).map((job) => job.json).join(',');
    const named = batch === undefined ? '' : `"batch":${JSON.stringify(batch)},`;
    const jobIds = jobs.map(({ request }) => request.jobId);
    for (let attempt = 1; ; attempt += 1) {
      const leftMs = Math.floor(deadlineMs - clock.monotonicMs());
      const permit = breaker.allow();
      if (permit === undefined) return all('circuit_open');
      const terms = waiting && `,"waiting":${JSON.stringify(waiting.terms(jobIds))}`;
      const body = `{${named}"requests":[${requests}],"remainingMs":${leftMs}${terms ?? ''}}`;
      const answer = await call(permit, ADMISSIONS_PATH, body, leftMs, (parsed) =>
        decisionsIn(parsed, batch, jobs, jobIds),
      );
      if (answer.kind === 'parsed') return answer.value;
      const cause = answer.kind === 'unreachable' ? answer.cause : CAUSES[answer.kind];
      const delayMs = pauseMs(attempt - 1, PAUSE_MS_MIN, PAUSE_MS_MAX, options.random());
      const isLate = delayMs > deadlineMs - clock.monotonicMs() - SEND_MS_MIN;
      if (attempt === TRIES_MAX || cause !== 'unreachable' || isLate) return all(cause);
      await new Promise<void>((resume) => clock.after(delayMs, resume));
    }
  }

  function decisionsIn(
    body: unknown,
    batch: string | undefined,
    jobs: readonly BatchJob[],
    jobIds: readonly number[],
  ): readonly LedgerDecision[] | undefined {
    const read = readDecisions(body, { batch, jobIds });
    if (read === undefined) return undefined;
    const { decisions, unmatched } = read;
    for (const { counter, jobIds: contending } of readContended(body, jobIds)) {
      const roots = jobs.flatMap(({ request, root }) => (contending.includes(request.jobId) ? [root] : []));
      options.lanes?.noteContended(counter, [...new Set(roots)]);
    }
    options.lanes?.notePacked(
      jobs.map(({ root }) => root),
      readTransactions(body),
    );
    if (unmatched > 0) {
      observe({
        type: 'admit_failed',
        code: 'admit_unreachable',
        details: `${ADMISSIONS_PATH} answered without a decision of its own for ${unmatched} of ${jobIds.length} jobs`,
      });
    }
    const headroom = readHeadroom(body);
    waiting?.onHeadroom(headroom);
    options.onHeadroom?.(headroom);
    options.onPolicy?.(isRecord(body) ? body.policy : undefined);
    return decisions;
  }

  /** Posts decisions about different jobs. Never throws. @param now - posts even if the breaker is open. */
  const postUnmetered = async (
    answers: readonly UnmeteredPost[],
    { timeoutMs, now = false }: { readonly timeoutMs: number; readonly now?: boolean },
  ): Promise<UnmeteredOutcome> => {
    const permit = now ? (breaker.allow() ?? UNCOUNTED) : breaker.allow();
    if (permit === undefined) return { kind: 'unreachable' };
    const body = `{"answers":[${answers.map(({ json }) => json).join(',')}]}`;
    const jobIds = answers.map(({ jobId }) => jobId);
    const answer = await call(permit, UNMETERED_PATH, body, timeoutMs, (parsed) =>
      readResults(parsed, jobIds),
    );
    switch (answer.kind) {
      case 'parsed':
        return { kind: 'reported', outcomes: answer.value };
      case 'refused':
        return { kind: 'refused', content: ABOUT_CONTENT.has(answer.status) };
      default:
        return { kind: 'unreachable' };
    }
  };

  async function call<T>(
    permit: Permit,
    path: string,
    body: string,
    timeoutMs: number,
    parse: (body: unknown) => T | undefined,
  ): Promise<{ readonly kind: 'parsed'; readonly value: T } | CallFailure> {
    const answer = await callAdmit(options, path, body, timeoutMs);
    const value = answer.kind === 'answered' ? parse(answer.body) : undefined;
    if (value !== undefined) {
      permit.succeeded();
      return { kind: 'parsed', value };
    }
    const failure =
      answer.kind === 'answered'
        ? malformed(`${path} answered with a body that breaks the contract`)
        : answer;
    // A refusal shows that the service works.
    if (failure.kind === 'refused') permit.succeeded();
    else if (failure.kind === 'throttled') permit.throttled();
    else permit.failed();
    observe({ type: 'admit_failed', code: `admit_${failure.kind}`, details: failure.error.message });
    return failure;
  }

  return { send, postUnmetered };
}

/** For a call against an open breaker: its outcome must not change the pause. */
const UNCOUNTED: Permit = { succeeded: () => {}, failed: () => {}, throttled: () => {} };

const CAUSES = { throttled: 'unreachable', refused: 'refused' } as const;

/** The first pauses are short: most faults are a throttled burst, a closed connection or an ended container. */
const PAUSE_MS_MIN = 50;
const PAUSE_MS_MAX = 400;

import type { RelayClock, RouterAnswer } from '../../../relay/exchange.ts';
import { createStreamPool } from '../../../relay/pool.ts';
import type { Router } from '../../../relay/router/router.ts';
import { compileReader } from '../../../relay/translate/question-reader.ts';
import { encodeAdmitted, encodeRejected, type WireSchema } from '../../../relay/wire/schema.ts';

/** The response for a job, and whether the router received it. */
export interface SentAnswer {
  readonly outcome: RouterAnswer['outcome'];
  /** The router let go of the question before it was answered: after so long. */
  gaveUpAfterMs?: number;
  heard: boolean;
}

/** Response for a canary job, and the delay before it. */
interface CanaryAnswer {
  readonly answer: RouterAnswer;
  readonly afterMs: number;
}

/** The canary's own streams: opened, read and answered by what the relays use. */
export interface CanaryStreams {
  /** Undefined: the router has taken a stream and kept it. Else why none within `timeoutMs`. */
  opened(timeoutMs: number): Promise<string | undefined>;
  /** Jobs are about to start: questions wait a moment until it is known which. */
  expect(): void;
  /** From now on these jobs are known. */
  know(answers: ReadonlyMap<number, CanaryAnswer>): void;
  /** By job. */
  readonly sent: ReadonlyMap<number, SentAnswer>;
  /** Questions about jobs that are not the canary's, and those that could not be read: all admitted. */
  readonly others: { foreign: number; unreadable: number };
  close(): Promise<void>;
}

interface StreamDeps {
  readonly router: Router;
  readonly schema: WireSchema;
  readonly clock: RelayClock;
  readonly random: () => number;
}

/** One runner, two jobs: two streams wait, and a third replaces the one that was asked. */
const SIZES = { start: 2, max: 4, openMax: 8 };
/** A runner may be faster than the list of the jobs it takes. */
const KNOW_MS_MAX = 5_000;
/**
 * A router behind a slow proxy may refuse a stream that the relay took for accepted. A relay recovers; a
 * canary that trusted it would enable a controller without a connection, which fails the job of its own
 * runner.
 */
const KEPT_MS = 5_000;
const ADMITTED: RouterAnswer = { outcome: 'admitted' };

export function openCanaryStreams({ router, schema, clock, random }: StreamDeps): CanaryStreams {
  const read = compileReader(schema, { variables: { names: [], prefixes: [] }, trustVariables: false });
  let known = Promise.withResolvers<ReadonlyMap<number, CanaryAnswer>>();
  const taken = Promise.withResolvers<undefined>();
  let forgetTaken: (() => void) | undefined;
  const sent = new Map<number, SentAnswer>();
  /** Keeps the router waiting; one job at most does. */
  let kept:
    | { readonly given: SentAnswer; readonly sinceMs: number; readonly release: () => void }
    | undefined;
  const others = { foreign: 0, unreadable: 0 };
  let trouble = 'the router does not answer';
  const admitted = encodeAdmitted(schema);

  const pool = createStreamPool({
    ...{ router, clock, random, sizes: SIZES, leaveWaitingMs: 0 },
    encode: { admitted: () => admitted, rejected: (reason) => encodeRejected(schema, reason) },
    async answer({ bytes }) {
      const question = read(bytes);
      if (!question.ok) {
        others.unreadable += 1;
        return { answer: ADMITTED, delivered: () => {} };
      }
      const answer = await answerFor(question.request.jobId);
      if (answer === undefined) {
        others.foreign += 1;
        return { answer: ADMITTED, delivered: () => {} };
      }
      const given: SentAnswer = { outcome: answer.answer.outcome, heard: false };
      sent.set(question.request.jobId, given);
      if (answer.afterMs > 0) await keepOpen(given, answer.afterMs);
      return {
        answer: answer.answer,
        delivered: (heard) => {
          given.heard = heard;
        },
      };
    },
    observe(event) {
      if (event.type === 'connected') forgetTaken = clock.after(KEPT_MS, () => taken.resolve(undefined));
      if (event.type === 'stream_ended' && event.code !== 0) {
        trouble = `status ${event.code}: ${event.details}`;
        forgetTaken?.();
      }
      if (
        event.type === 'stream_ended' &&
        event.asked &&
        event.answered === undefined &&
        kept !== undefined
      ) {
        kept.given.gaveUpAfterMs = clock.monotonicMs() - kept.sinceMs;
        kept.release();
      }
    },
  });
  pool.start();

  /** Until it is time, or the router has let go. */
  async function keepOpen(given: SentAnswer, afterMs: number): Promise<void> {
    const over = Promise.withResolvers<void>();
    kept = { given, sinceMs: clock.monotonicMs(), release: over.resolve };
    const cancel = clock.after(afterMs, over.resolve);
    await over.promise;
    cancel();
    kept = undefined;
  }

  async function answerFor(jobId: number): Promise<CanaryAnswer | undefined> {
    const late = Promise.withResolvers<undefined>();
    const cancel = clock.after(KNOW_MS_MAX, () => late.resolve(undefined));
    const answers = await Promise.race([known.promise, late.promise]);
    cancel();
    return answers?.get(jobId);
  }

  return {
    sent,
    others,
    expect() {
      known = Promise.withResolvers();
    },
    know: (answers) => known.resolve(answers),
    async opened(timeoutMs) {
      const late = Promise.withResolvers<string>();
      const cancel = clock.after(timeoutMs, () => late.resolve(trouble));
      const outcome = await Promise.race([taken.promise, late.promise]);
      cancel();
      return outcome;
    },
    async close() {
      forgetTaken?.();
      await pool.drain();
      router.close();
    },
  };
}

import type { RouterPatience } from '../../../functions/core/ledger/controller.ts';
import type { RelayClock, RouterAnswer } from '../../../relay/exchange.ts';
import { createStreamPool } from '../../../relay/pool.ts';
import type { Router } from '../../../relay/router/router.ts';
import { compileReader } from '../../../relay/translate/question-reader.ts';
import { encodeAdmitted, encodeRejected, type WireSchema } from '../../../relay/wire/schema.ts';

/** The response for a job, and whether the router received it. */
export interface SentAnswer {
  readonly outcome: RouterAnswer['outcome'];
  heard: boolean;
}

/** Response for a canary job, and the delay before it. At most one is delayed. */
interface CanaryAnswer {
  readonly answer: RouterAnswer;
  readonly afterMs: number;
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

export type CanaryStreams = ReturnType<typeof openCanaryStreams>;

/** The canary's own streams: opened, read and answered by what the relays use. */
export function openCanaryStreams({
  router,
  schema,
  clock,
  random,
}: {
  readonly router: Router;
  readonly schema: WireSchema;
  readonly clock: RelayClock;
  readonly random: () => number;
}) {
  const read = compileReader(schema, { variables: { names: [], prefixes: [] }, trustVariables: false });
  let known = Promise.withResolvers<ReadonlyMap<number, CanaryAnswer>>();
  const taken = Promise.withResolvers<undefined>();
  let forgetTaken: (() => void) | undefined;
  const sent = new Map<number, SentAnswer>();
  /** The request that is kept open. */
  let kept: { readonly sinceMs: number; readonly release: () => void } | undefined;
  let patience: RouterPatience | undefined;
  const others = { foreign: 0, unreadable: 0 };
  let failure = 'the router does not answer';
  const admitted = encodeAdmitted(schema);

  const pool = createStreamPool({
    ...{ router, clock, random, sizes: SIZES, leaveWaitingMs: 0 },
    encode: { admitted: () => admitted, rejected: (reason) => encodeRejected(schema, reason) },
    async answer({ bytes }) {
      const question = read(bytes);
      const jobId = question.ok ? question.request.jobId : undefined;
      const answers = await within(KNOW_MS_MAX, known.promise, undefined);
      const planned = jobId === undefined ? undefined : answers?.get(jobId);
      if (jobId === undefined || planned === undefined) {
        others[jobId === undefined ? 'unreadable' : 'foreign'] += 1;
        return { answer: ADMITTED, delivered: () => {} };
      }
      const { answer, afterMs } = planned;
      const given: SentAnswer = { outcome: answer.outcome, heard: false };
      sent.set(jobId, given);
      if (afterMs > 0) await keepOpen(afterMs);
      return {
        answer,
        delivered: (heard) => {
          given.heard = heard;
          if (afterMs > 0 && heard) patience ??= { waitedMs: afterMs, gaveUp: false };
        },
      };
    },
    observe(event) {
      if (event.type === 'connected') forgetTaken = clock.after(KEPT_MS, () => taken.resolve(undefined));
      if (event.type !== 'stream_ended') return;
      if (event.code !== 0) {
        failure = `status ${event.code}: ${event.details}`;
        forgetTaken?.();
      }
      if (event.asked && event.answered === undefined && kept !== undefined) {
        patience = { waitedMs: Math.floor(clock.monotonicMs() - kept.sinceMs), gaveUp: true };
        kept.release();
      }
    },
  });
  pool.start();

  /** Until it is time, or the router has let go. */
  async function keepOpen(afterMs: number): Promise<void> {
    const over = Promise.withResolvers<void>();
    kept = { sinceMs: clock.monotonicMs(), release: over.resolve };
    const cancel = clock.after(afterMs, over.resolve);
    await over.promise;
    cancel();
    kept = undefined;
  }

  /** What the promise gives, or `late` after that time. */
  async function within<T, Late>(ms: number, promise: Promise<T>, late: Late): Promise<T | Late> {
    const time = Promise.withResolvers<Late>();
    const cancel = clock.after(ms, () => time.resolve(late));
    const first = await Promise.race([promise, time.promise]);
    cancel();
    return first;
  }

  return {
    /** By job. */
    sent: sent as ReadonlyMap<number, SentAnswer>,
    /** Questions about jobs that are not the canary's, and those that could not be read: all admitted. */
    others,
    /** How long the router waited for the delayed response. Undefined: not measured, or delivery is unknown. */
    patience: () => patience,
    /** Jobs are about to start: questions wait a moment until it is known which. */
    expect(): void {
      known = Promise.withResolvers();
    },
    /** From now on these jobs are known. */
    know: (answers: ReadonlyMap<number, CanaryAnswer>): void => known.resolve(answers),
    /** Undefined: the router has taken a stream and kept it. Else why none within `timeoutMs`. */
    async opened(timeoutMs: number): Promise<string | undefined> {
      const isLate = await within(timeoutMs, taken.promise, true);
      return isLate === true ? failure : undefined;
    },
    async close(): Promise<void> {
      forgetTaken?.();
      await pool.drain();
      router.close();
    },
  };
}

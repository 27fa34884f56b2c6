import type { RelayClock, RouterAnswer } from '../../../relay/exchange.ts';
import { createStreamPool } from '../../../relay/pool.ts';
import type { Router } from '../../../relay/router/router.ts';
import { compileReader } from '../../../relay/translate/question-reader.ts';
import { encodeAnswer, type WireSchema } from '../../../relay/wire/schema.ts';

/** One runner, two jobs: two streams wait, and a third replaces the one that was asked. */
const SIZES = { start: 2, max: 4, openMax: 8 };
/** A runner may be faster than the list of the jobs it takes. */
const KNOW_MS_MAX = 5_000;
/** Opens the canary's streams, with the code that relays use. */
export function openCanaryStreams(router: Router, schema: WireSchema, clock: RelayClock) {
  const read = compileReader(schema, { variables: { names: [], prefixes: [] }, trustVariables: false });
  const known = Promise.withResolvers<ReadonlyMap<number, RouterAnswer>>();
  const taken = Promise.withResolvers<true>();
  const asked = new Set<number>();
  const received = new Set<number>();
  let unreadable = 0;
  let failure = 'the router does not answer';

  const pool = createStreamPool({
    ...{ router, clock, random: Math.random, sizes: SIZES, leaveWaitingMs: 0 },
    encode: (given) => encodeAnswer(schema, given),
    async answer({ bytes }) {
      const question = read(bytes);
      const jobId = question.ok ? question.request.jobId : undefined;
      const answers = await within(KNOW_MS_MAX, known.promise);
      const answer = jobId === undefined ? undefined : answers?.get(jobId);
      if (jobId === undefined || answer === undefined) {
        if (jobId === undefined) unreadable += 1;
        return { answer: { outcome: 'admitted' }, delivered: () => {} };
      }
      asked.add(jobId);
      return {
        answer,
        delivered: (isReceived) => {
          if (isReceived) received.add(jobId);
        },
      };
    },
    observe(event) {
      if (event.type === 'connected') taken.resolve(true);
      if (event.type === 'stream_ended' && event.code !== 0)
        failure = `status ${event.code}: ${event.details}`;
    },
  });
  pool.start();

  async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
    const late = Promise.withResolvers<undefined>();
    const cancel = clock.after(ms, () => late.resolve(undefined));
    const first = await Promise.race([promise, late.promise]);
    cancel();
    return first;
  }

  return {
    asked: asked as ReadonlySet<number>,
    received: received as ReadonlySet<number>,
    /** Requests that could not be read: admitted. */
    unreadable: () => unreadable,
    /** Sets the responses; earlier requests wait a moment for them. */
    expect: (answers: ReadonlyMap<number, RouterAnswer>): void => known.resolve(answers),
    /** Undefined: the router has taken a stream. Else why none within `timeoutMs`. */
    opened: async (timeoutMs: number): Promise<string | undefined> =>
      (await within(timeoutMs, taken.promise)) === true ? undefined : failure,
    async close(): Promise<void> {
      await pool.drain();
      router.close();
    },
  };
}

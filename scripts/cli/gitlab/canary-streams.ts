/** The canary's streams to the job router, with the code that relays use. */
import { isLoopback } from '../../../relay/config.ts';
import type { RelayClock, RouterResponse } from '../../../relay/exchange.ts';
import { createStreamPool } from '../../../relay/pool.ts';
import { RelayError } from '../../../relay/relay-error.ts';
import type { Router } from '../../../relay/router/router.ts';
import { createRouter } from '../../../relay/router/router-client.ts';
import { parseTarget } from '../../../relay/router/target.ts';
import { literalToken } from '../../../relay/token.ts';
import { compileReader } from '../../../relay/translate/request-reader.ts';
import { VERSION } from '../../../relay/version.ts';
import { encodeResponse, type WireSchema } from '../../../relay/wire/schema.ts';

/** @throws {RelayError} for an address that is wrong or unencrypted. */
export function canaryRouter(
  url: string,
  token: string,
  schema: WireSchema,
  authority: string | undefined,
): Router {
  const target = parseTarget(url);
  if (!target.secure && !isLoopback(target.host))
    throw new RelayError(
      'config_invalid',
      `${target.url} would send the token unencrypted; use grpcs:// or wss://`,
    );
  return createRouter({
    ...{ target, schema, token: literalToken(token), version: VERSION },
    userAgent: `tollgate-canary/${VERSION}`,
    ...(authority !== undefined && { tls: { caPem: authority } }),
  });
}

/** One runner, two jobs: two streams wait, and a third replaces the one that was asked. */
const SIZES = { start: 2, max: 4, openMax: 8 };
/** A runner may be faster than the list of the jobs it takes. */
const KNOW_MS_MAX = 5_000;

export function openCanaryStreams(router: Router, schema: WireSchema, clock: RelayClock) {
  const read = compileReader(schema, { variables: { names: [], prefixes: [] }, trustVariables: false });
  const known = Promise.withResolvers<ReadonlyMap<number, RouterResponse>>();
  const taken = Promise.withResolvers<true>();
  const [asked, received] = [new Set<number>(), new Set<number>()];
  let unreadable = 0;
  let failure = 'the router does not answer';
  const within = async <T>(ms: number, promise: Promise<T>): Promise<T | undefined> => {
    const late = Promise.withResolvers<undefined>();
    const cancel = clock.after(ms, () => late.resolve(undefined));
    return Promise.race([promise, late.promise]).finally(cancel);
  };
  const pool = createStreamPool({
    ...{ router, clock, random: Math.random, sizes: SIZES, leaveWaitingMs: 0 },
    encode: (given) => encodeResponse(schema, given),
    async answer({ bytes }) {
      const reading = read(bytes);
      if (!reading.ok) unreadable += 1;
      const jobId = reading.ok ? reading.request.jobId : 0;
      const answer = reading.ok && (await within(KNOW_MS_MAX, known.promise))?.get(jobId);
      if (!answer) return { answer: { outcome: 'admitted' }, delivered: () => {} };
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
  return {
    asked,
    received,
    unreadable: () => unreadable,
    expect: known.resolve,
    /** Undefined: the router has taken a stream. Else why none within `timeoutMs`. */
    opened: async (timeoutMs: number): Promise<string | undefined> =>
      (await within(timeoutMs, taken.promise)) === true ? undefined : failure,
    close: async (): Promise<void> => {
      await pool.drain();
      router.close();
    },
  };
}

import { bodyLimit } from 'hono/body-limit';
import { Hono } from 'hono/tiny';
import { isRecord } from '../../policies/document/reading.ts';
import {
  type DecideDeps,
  decide,
  parseAdmissionsEnvelope,
  parseUnmeteredEnvelope,
  recordUnmetered,
} from '../core/admission/index.ts';
import {
  ADMISSIONS_PATH,
  type AdmissionsResponse,
  BODY_BYTES_MAX,
  DIRECTORY_NAMES_MAX,
  DIRECTORY_PATH,
  type DirectoryRequest,
  type DirectoryResponse,
  HEALTH_PATH,
  type ProblemsResponse,
  UNMETERED_PATH,
  type UnmeteredResponse,
} from '../core/contract/index.ts';
import { logWith } from '../core/environment/index.ts';

/**
 * The admit function's routes. One app for Lambda, for a local server and for the relay's own process; tests call
 * `app.request()`. Of Hono's routers the smallest: there are four routes, and every cold start reads it.
 */
export function createAdmitApp(deps: DecideDeps): Hono {
  const app = new Hono();
  const batches = new WeakMap<Request, string>();

  app.onError((error, c) => {
    // The name says what kind of failure it was; the message could quote what a caller sent, so it stays here.
    const batch = batches.get(c.req.raw);
    deps.log.error('request failed', {
      path: c.req.path,
      error: error.name,
      ...(batch !== undefined && { batch }),
    });
    return c.json({ problems: ['internal error'] } satisfies ProblemsResponse, 500);
  });

  app.use(async (_, next) => {
    await next();
    deps.metrics?.flush();
  });

  app.use(
    bodyLimit({
      maxSize: BODY_BYTES_MAX,
      onError: (c) =>
        c.json(
          {
            problems: [`body is larger than ${BODY_BYTES_MAX} bytes`],
          } satisfies ProblemsResponse,
          413,
        ),
    }),
  );

  app.get(HEALTH_PATH, (c) => c.json({ status: 'ok' }));

  app.post(ADMISSIONS_PATH, async (c) => {
    const envelope = parseAdmissionsEnvelope(parseJson(await c.req.text()));
    if (!envelope.ok) return c.json({ problems: envelope.problems } satisfies ProblemsResponse, 400);
    const { entries, remainingMs, batch } = envelope.value;
    if (batch !== undefined) batches.set(c.req.raw, batch);
    const log = batch === undefined ? deps.log : logWith({ batch }, deps.log);
    const decisions = await decide(entries, deps.clock.monotonicMs() + remainingMs, { ...deps, log });
    return c.json({ ...(batch !== undefined && { batch }), decisions } satisfies AdmissionsResponse);
  });

  app.post(UNMETERED_PATH, async (c) => {
    const envelope = parseUnmeteredEnvelope(parseJson(await c.req.text()));
    if (!envelope.ok) return c.json({ problems: envelope.problems } satisfies ProblemsResponse, 400);
    return c.json({
      results: await recordUnmetered(envelope.value, deps),
    } satisfies UnmeteredResponse);
  });

  app.post(DIRECTORY_PATH, async (c) => {
    if (deps.handOutDirectory === undefined)
      return c.json({ problems: ['no directory is kept here'] } satisfies ProblemsResponse, 404);
    const have = parseHave(parseJson(await c.req.text()));
    if (have === undefined) return c.json({ problems: [HAVE_EXPECTED] } satisfies ProblemsResponse, 400);
    return c.json((await deps.handOutDirectory(have)) satisfies DirectoryResponse);
  });

  return app;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const HAVE_EXPECTED = `expected {"have": {"<part>": "<hash>"}} with at most ${DIRECTORY_NAMES_MAX} parts`;

/** Reads `{have: {name: hash}}`; undefined if it is not that. */
export function parseHave(body: unknown): DirectoryRequest['have'] | undefined {
  const have = isRecord(body) ? body.have : undefined;
  if (!isRecord(have)) return undefined;
  const entries = Object.entries(have);
  if (entries.length > DIRECTORY_NAMES_MAX) return undefined;
  const hashes = entries.flatMap(([name, hash]) => (typeof hash === 'string' ? [[name, hash] as const] : []));
  return hashes.length === entries.length ? Object.fromEntries(hashes) : undefined;
}

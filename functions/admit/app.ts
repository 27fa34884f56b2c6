import { bodyLimit } from 'hono/body-limit';
import { Hono } from 'hono/tiny';
import { isRecord } from '../../policies/document/reading.ts';
import { type DecideDeps, decide, LimitRooms, recordUnmetered } from '../core/admission/index.ts';
import {
  ADMISSIONS_PATH,
  type AdmissionsResponse,
  BODY_BYTES_MAX,
  CONTENDED_MAX,
  type ContendedCounter,
  DIRECTORY_NAMES_MAX,
  DIRECTORY_PATH,
  type DirectoryRequest,
  type DirectoryResponse,
  HEALTH_PATH,
  type ProblemsResponse,
  REQUESTS_MAX,
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
  const limitRooms = new LimitRooms(deps);

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
    const contended: ContendedCounter[] = [];
    const onContended = (counter: string, jobIds: readonly number[]): void => {
      if (contended.length < CONTENDED_MAX) contended.push({ counter, jobIds });
    };
    const rooms = limitRooms.batch();
    const decisions = await decide(entries, deps.clock.monotonicMs() + remainingMs, {
      ...deps,
      ...{ log, rooms, onContended },
    });
    const room = rooms.told();
    return c.json({
      ...(batch !== undefined && { batch }),
      decisions,
      ...(contended.length > 0 && { contended }),
      ...(room.length > 0 && { room }),
    } satisfies AdmissionsResponse);
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

/** A batch before its entries are looked at: each entry is judged on its own later. */
interface Envelope {
  readonly entries: readonly unknown[];
  readonly remainingMs: number;
  /** Absent also where it is no name: a batch is not refused for that. */
  readonly batch?: string;
}

type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly string[] };

/** A local run on a crowded machine waits long. A deployed relay waits 10 s at most, and Lambda ends its function earlier. */
const REMAINING_MS_MAX = 300_000;

const BATCH = /^[\w-]{1,40}$/;

/** Reads `{requests: [1..96], remainingMs, batch?}`; only a broken envelope is refused here. */
export function parseAdmissionsEnvelope(body: unknown): Parsed<Envelope> {
  if (!isRecord(body))
    return refuse(['body is not a JSON object; expected {"requests": [...], "remainingMs": …}']);
  const problems: string[] = entryProblems('requests', body.requests);
  const remainingMs = body.remainingMs;
  if (typeof remainingMs !== 'number' || !(remainingMs >= 0 && remainingMs <= REMAINING_MS_MAX)) {
    problems.push(`remainingMs is ${show(remainingMs)}; expected a number from 0 to ${REMAINING_MS_MAX}`);
  }
  if (problems.length > 0) return refuse(problems);
  return {
    ok: true,
    value: {
      entries: body.requests as unknown[],
      remainingMs: remainingMs as number,
      ...(typeof body.batch === 'string' && BATCH.test(body.batch) && { batch: body.batch }),
    },
  };
}

/** Reads `{answers: [1..96]}`. */
export function parseUnmeteredEnvelope(body: unknown): Parsed<readonly unknown[]> {
  if (!isRecord(body)) return refuse(['body is not a JSON object; expected {"answers": [...]}']);
  const problems = entryProblems('answers', body.answers);
  return problems.length > 0 ? refuse(problems) : { ok: true, value: body.answers as unknown[] };
}

function entryProblems(name: string, value: unknown): string[] {
  if (!Array.isArray(value)) return [`${name} is ${show(value)}; expected an array of 1 to ${REQUESTS_MAX}`];
  if (value.length === 0) return [`${name} is empty; expected 1 to ${REQUESTS_MAX}`];
  if (value.length > REQUESTS_MAX)
    return [`${name} has ${value.length} entries; expected at most ${REQUESTS_MAX}`];
  return [];
}

const refuse = (problems: readonly string[]): { ok: false; problems: readonly string[] } => ({
  ok: false,
  problems,
});

/** A value as it may appear in a problem: its kind, and itself only where it is a number. Never its text. */
const show = (value: unknown): string =>
  value === undefined
    ? 'missing'
    : typeof value === 'number'
      ? String(value)
      : `a value of type ${kindOf(value)}`;

const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

import { isRecord } from '../../policies/document/reading.ts';
import { decide, recordUnmetered } from '../core/admission/decide.ts';
import { type DecideDeps, waitsOf } from '../core/admission/judge.ts';
import { LimitRooms } from '../core/admission/limit-rooms.ts';
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
  LINES_MAX,
  type ProblemsResponse,
  REQUESTS_MAX,
  UNMETERED_PATH,
  type UnmeteredResponse,
  type WaitingTerms,
} from '../core/contract/admissions.ts';
import { logWith } from '../core/environment/environment.ts';

export interface RouteCall {
  readonly method: string;
  readonly path: string;
  readonly text: string;
}

export interface AdmitResponse {
  readonly status: 200 | 400 | 404 | 413 | 500;
  readonly body:
    | AdmissionsResponse
    | UnmeteredResponse
    | DirectoryResponse
    | ProblemsResponse
    | HealthResponse;
}

interface HealthResponse {
  readonly status: 'ok';
}

const refused = <Status extends AdmitResponse['status']>(status: Status, problems: readonly string[]) =>
  ({ status, body: { problems } }) as const;

/** Most bytes that a UTF-16 unit takes as UTF-8. */
const UTF8_BYTES_MAX = 3;

export const TOO_LARGE = refused(413, [`body is larger than ${BODY_BYTES_MAX} bytes`]);

/** Without a web framework: making the first `Request` loads all of `fetch`, a fifth of a cold start. */
export function admitRoutes(deps: DecideDeps): (call: RouteCall) => Promise<AdmitResponse> {
  const limitRooms = new LimitRooms(deps);
  async function admissions({ entries, remainingMs, batch, waiting }: Envelope): Promise<AdmissionsResponse> {
    const log = batch === undefined ? deps.log : logWith({ batch }, deps.log);
    const contended: ContendedCounter[] = [];
    const onContended = (counter: string, jobIds: readonly number[]): void => {
      if (contended.length < CONTENDED_MAX) contended.push({ counter, jobIds });
    };
    const rooms = limitRooms.batch();
    const decisions = await decide(
      entries,
      deps.clock.monotonicMs() + remainingMs,
      { ...deps, ...{ log, rooms, onContended } },
      waiting && waitsOf(waiting),
    );
    const room = rooms.told();
    return {
      ...(batch !== undefined && { batch }),
      decisions,
      ...(contended.length > 0 && { contended }),
      ...(room.length > 0 && { room }),
    };
  }

  async function answered({ method, path, text }: RouteCall, named: BatchName): Promise<AdmitResponse> {
    if (text.length * UTF8_BYTES_MAX > BODY_BYTES_MAX && Buffer.byteLength(text) > BODY_BYTES_MAX)
      return TOO_LARGE;
    switch (`${method} ${path}`) {
      case `GET ${HEALTH_PATH}`:
        return { status: 200, body: { status: 'ok' } };
      case `POST ${ADMISSIONS_PATH}`: {
        const envelope = parseAdmissionsEnvelope(parseJson(text));
        if (!envelope.ok) return refused(400, envelope.problems);
        named.batch = envelope.value.batch;
        return { status: 200, body: await admissions(envelope.value) };
      }
      case `POST ${UNMETERED_PATH}`: {
        const envelope = parseUnmeteredEnvelope(parseJson(text));
        if (!envelope.ok) return refused(400, envelope.problems);
        return { status: 200, body: { results: await recordUnmetered(envelope.value, deps) } };
      }
      case `POST ${DIRECTORY_PATH}`: {
        if (deps.handOutDirectory === undefined) return refused(404, ['no directory is kept here']);
        const have = parseHave(parseJson(text));
        if (have === undefined) return refused(400, [HAVE_EXPECTED]);
        return { status: 200, body: await deps.handOutDirectory(have) };
      }
      default:
        return refused(404, ['no such route']);
    }
  }

  return async (call) => {
    const named: BatchName = {};
    try {
      return await answered(call, named);
    } catch (error) {
      // The name says what kind of failure it was; the message could quote what a caller sent, so it stays here.
      deps.log.error('request failed', {
        path: call.path,
        error: error instanceof Error ? error.name : typeof error,
        ...(named.batch !== undefined && { batch: named.batch }),
      });
      return refused(500, ['internal error']);
    } finally {
      deps.metrics?.flush();
    }
  };
}

/** Filled in once it is read, so that a failure can name it. */
interface BatchName {
  batch?: string | undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const HAVE_EXPECTED = `expected {"have": {"<part>": "<hash>"}} with at most ${DIRECTORY_NAMES_MAX} parts`;

function parseHave(body: unknown): DirectoryRequest['have'] | undefined {
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
  /** Absent also if malformed: the batch is decided anyway. */
  readonly batch?: string;
  /** Well-formed parts only: the batch is decided anyway. */
  readonly waiting?: WaitingTerms;
}

type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly string[] };

/** A local run on a crowded machine waits long. A deployed relay waits 10 s at most, and Lambda ends its function earlier. */
const REMAINING_MS_MAX = 300_000;

const BATCH = /^[\w-]{1,40}$/;

function parseAdmissionsEnvelope(body: unknown): Parsed<Envelope> {
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
      ...(isRecord(body.waiting) && { waiting: waitingIn(body.waiting) }),
    },
  };
}

const textsIn = (value: unknown, max: number): readonly string[] =>
  Array.isArray(value)
    ? value.slice(0, max).filter((each): each is string => typeof each === 'string' && each !== '')
    : [];

function waitingIn({ lines, jobs }: Readonly<Record<string, unknown>>): WaitingTerms {
  const turns = Array.isArray(jobs) ? jobs.slice(0, REQUESTS_MAX).filter(isRecord) : [];
  return {
    lines: textsIn(lines, LINES_MAX),
    jobs: turns.flatMap(({ jobId, waitedMs, turn, last }) =>
      typeof jobId === 'number' && typeof waitedMs === 'number' && waitedMs >= 0
        ? [{ jobId, waitedMs, turn: textsIn(turn, LINES_MAX), ...(last === true && { last }) }]
        : [],
    ),
  };
}

function parseUnmeteredEnvelope(body: unknown): Parsed<readonly unknown[]> {
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

/** @see https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-payloads */
export interface FunctionUrlEvent {
  readonly rawPath: string;
  readonly requestContext: { readonly http: { readonly method: string } };
  readonly body?: string | null | undefined;
  readonly isBase64Encoded?: boolean | undefined;
}

interface FunctionUrlResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isBase64Encoded: false;
}

export const onFunctionUrl =
  (answer: (call: RouteCall) => Promise<AdmitResponse>) =>
  async ({
    rawPath,
    requestContext,
    body,
    isBase64Encoded,
  }: FunctionUrlEvent): Promise<FunctionUrlResponse> => {
    const text = isBase64Encoded === true ? Buffer.from(body ?? '', 'base64').toString() : (body ?? '');
    const response = await answer({ method: requestContext.http.method, path: rawPath, text });
    return {
      statusCode: response.status,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(response.body),
      isBase64Encoded: false,
    };
  };

import { isRecord } from '../../policies/document/reading.ts';
import { decide, recordUnmetered } from '../core/admission/decide.ts';
import { type DecideDeps, waitsOf } from '../core/admission/judge.ts';
import { HeadroomReader } from '../core/admission/limit-rooms.ts';
import {
  ADMISSIONS_PATH,
  type AdmissionsResponse,
  BODY_BYTES_MAX,
  CONTENDED_MAX,
  type ContendedCounter,
  DIRECTORY_PARTS_MAX,
  DIRECTORY_PATH,
  type DirectoryRequest,
  type DirectoryResponse,
  HEALTH_PATH,
  LINES_MAX,
  POLICY_PATH,
  type ProblemsResponse,
  REQUESTS_MAX,
  UNMETERED_PATH,
  type UnmeteredResponse,
  type VersionedDocument,
  type WaitingTerms,
} from '../core/contract/admissions.ts';
import { errorName, logWith } from '../core/environment/environment.ts';

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
    | VersionedDocument
    | ProblemsResponse
    | { readonly status: 'ok' };
}

const refused = <Status extends AdmitResponse['status']>(status: Status, ...problems: readonly string[]) =>
  ({ status, body: { problems } }) as const;

/** Most bytes that a UTF-16 unit takes as UTF-8. */
const UTF8_BYTES_MAX = 3;

export const TOO_LARGE = refused(413, `body is larger than ${BODY_BYTES_MAX} bytes`);

/** Without a web framework: making the first `Request` loads all of `fetch`, a fifth of a cold start. */
export function admitRoutes(deps: DecideDeps): (call: RouteCall) => Promise<AdmitResponse> {
  const limitRooms = new HeadroomReader(deps);
  async function admissions(entries: readonly unknown[], body: Envelope): Promise<AdmissionsResponse> {
    const batch = typeof body.batch === 'string' && BATCH.test(body.batch) ? body.batch : undefined;
    const log = batch === undefined ? deps.log : logWith({ batch }, deps.log);
    const contended: ContendedCounter[] = [];
    const onContended = (counter: string, jobIds: readonly number[]): void => {
      if (contended.length < CONTENDED_MAX) contended.push({ counter, jobIds });
    };
    let transactions = 1;
    const onPacked = (count: number): void => {
      transactions = count;
    };
    const rooms = limitRooms.batch();
    const decisions = await decide(
      entries,
      deps.clock.monotonicMs() + Number(body.remainingMs),
      { ...deps, ...{ log, rooms, onContended, onPacked } },
      isRecord(body.waiting) ? waitsOf(waitingIn(body.waiting)) : undefined,
    );
    const room = rooms.read();
    const policy = await deps.handOutPolicy?.();
    return {
      ...(batch !== undefined && { batch }),
      decisions,
      ...(contended.length > 0 && { contended }),
      ...(transactions > 1 && { transactions }),
      ...(policy !== undefined && { policy: policy.version }),
      ...(room.length > 0 && { room }),
    };
  }

  async function answered({ method, path, text }: RouteCall): Promise<AdmitResponse> {
    if (text.length * UTF8_BYTES_MAX > BODY_BYTES_MAX && Buffer.byteLength(text) > BODY_BYTES_MAX)
      return TOO_LARGE;
    switch (`${method} ${path}`) {
      case `GET ${HEALTH_PATH}`:
        return { status: 200, body: { status: 'ok' } };
      case `POST ${ADMISSIONS_PATH}`: {
        const body = parseJson(text);
        const problems = [...entryProblems('requests', body.requests), ...timeProblems(body.remainingMs)];
        if (problems.length > 0) return refused(400, ...problems);
        return { status: 200, body: await admissions(body.requests as unknown[], body) };
      }
      case `POST ${UNMETERED_PATH}`: {
        const { answers } = parseJson(text);
        const problems = entryProblems('answers', answers);
        if (problems.length > 0) return refused(400, ...problems);
        return { status: 200, body: { results: await recordUnmetered(answers as unknown[], deps) } };
      }
      case `POST ${DIRECTORY_PATH}`: {
        if (deps.handOutDirectory === undefined) return refused(404, 'no directory is kept here');
        const { have } = parseJson(text);
        return isHave(have)
          ? { status: 200, body: await deps.handOutDirectory(have) }
          : refused(400, `have: expected hashes by part, of at most ${DIRECTORY_PARTS_MAX} parts`);
      }
      case `POST ${POLICY_PATH}`: {
        const policy = await deps.handOutPolicy?.();
        return policy === undefined ? refused(404, 'no policy is handed out') : { status: 200, body: policy };
      }
      default:
        return refused(404, 'no such route');
    }
  }

  return async (call) => {
    try {
      return await answered(call);
    } catch (error) {
      // The message could quote what a caller sent, so it stays here.
      deps.log.error('request failed', { path: call.path, error: errorName(error) });
      return refused(500, 'internal error');
    } finally {
      deps.metrics?.flush();
    }
  };
}

type Envelope = Readonly<Record<string, unknown>>;

/** Anything but an object is an object without fields. */
function parseJson(text: string): Envelope {
  try {
    const parsed: unknown = JSON.parse(text);
    return isRecord(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

const isHave = (have: unknown): have is DirectoryRequest['have'] =>
  isRecord(have) &&
  Object.keys(have).length <= DIRECTORY_PARTS_MAX &&
  Object.values(have).every((hash) => typeof hash === 'string');

/** A local run on a crowded machine waits long. A deployed relay waits 10 s at most, and Lambda ends its function earlier. */
const REMAINING_MS_MAX = 300_000;

const BATCH = /^[\w-]{1,40}$/;

const textsIn = (value: unknown, max: number): readonly string[] =>
  Array.isArray(value)
    ? value.slice(0, max).filter((each): each is string => typeof each === 'string' && each !== '')
    : [];

/** Well-formed parts only: the batch is decided anyway. */
function waitingIn({ lines, jobs }: Envelope): WaitingTerms {
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

function entryProblems(name: string, value: unknown): readonly string[] {
  const count = Array.isArray(value) ? value.length : undefined;
  if (count !== undefined && count >= 1 && count <= REQUESTS_MAX) return [];
  const found = count === undefined ? `is ${show(value)}` : `has ${count} entries`;
  return [`${name} ${found}; expected an array of 1 to ${REQUESTS_MAX}`];
}

const timeProblems = (value: unknown): readonly string[] =>
  typeof value === 'number' && value >= 0 && value <= REMAINING_MS_MAX
    ? []
    : [`remainingMs is ${show(value)}; expected a number from 0 to ${REMAINING_MS_MAX}`];

/** Its kind, and itself only where it is a number. Never its text. */
function show(value: unknown): string {
  if (value === undefined) return 'missing';
  return typeof value === 'number' ? String(value) : `a value of type ${typeof value}`;
}

/** @see https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-payloads */
export interface FunctionUrlEvent {
  readonly rawPath: string;
  readonly requestContext: { readonly http: { readonly method: string } };
  readonly body?: string | null | undefined;
  readonly isBase64Encoded?: boolean | undefined;
}

export const onFunctionUrl =
  (answer: (call: RouteCall) => Promise<AdmitResponse>) =>
  async ({ rawPath, requestContext, body, isBase64Encoded }: FunctionUrlEvent) => {
    const text = isBase64Encoded === true ? Buffer.from(body ?? '', 'base64').toString() : (body ?? '');
    const response = await answer({ method: requestContext.http.method, path: rawPath, text });
    return {
      statusCode: response.status,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(response.body),
      isBase64Encoded: false,
    };
  };

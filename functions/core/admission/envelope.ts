import { isRecord } from '../../../policies/document/reading.ts';
import { REQUESTS_MAX } from '../contract/index.ts';

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

/** The id of the job that an entry is about, also where the rest of it is not understood. */
export const jobIdIn = (entry: unknown): { readonly jobId?: number } =>
  isRecord(entry) && typeof entry.jobId === 'number' && Number.isSafeInteger(entry.jobId)
    ? { jobId: entry.jobId }
    : {};

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

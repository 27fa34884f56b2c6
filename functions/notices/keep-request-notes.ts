/**
 * Tells developers what became of a request for more: one note for each, in the merge request of the rejected job, where its group agreed.
 * Nothing here fails a run or a decision: what was not written is tried again, and given up a day after.
 */
import { createHash } from 'node:crypto';
import { DAY_MS } from '../../policies/limits/calendar.ts';
import { parseJobReference } from '../answers/job/job-reference.ts';
import type { JobRecord } from '../core/ledger/index.ts';
import { isDecided, type LimitRequest, type StoredRequest } from '../core/limits/index.ts';
import type { Cursor, ToldNote } from './gather/cursor.ts';
import type { OwnershipReader } from './gather/known.ts';
import type { NoticesDeps } from './gather/notices-deps.ts';
import { requestNote } from './request-note-text.ts';

interface RequestNotesAsked {
  readonly told: NonNullable<Cursor['notes']>;
  readonly requests: readonly StoredRequest[];
  /** The number of the limits that are live; what was granted is another matter only in another edit of them. */
  readonly edit: number;
  readonly known: OwnershipReader;
  readonly deps: Pick<NoticesDeps, 'ledger' | 'policy' | 'clock' | 'consoleUrl' | 'log' | 'notes'>;
}

/** Each a few calls of GitLab. */
export const NOTES_PER_RUN_MAX = 20;
const RUN_MS = 20_000;
/** A pipeline of the day before is nobody's any more; and whoever agrees is not told all that ever was. */
const FRESH_MS = DAY_MS;
export const NOTE_TRIES_MAX = 5;
const AGAIN_MS = 15 * 60_000;
const MERGE_REQUEST = /^refs\/merge-requests\/(\d{1,10})\//;
const HASH_CHARACTERS = 12;

/** @returns the same where nothing was done. @throws {LimitsError | LedgerError | DirectoryError} nothing is lost. */
export async function keepRequestNotes(asked: RequestNotesAsked): Promise<NonNullable<Cursor['notes']>> {
  const { told, requests, edit, known, deps } = asked;
  const { notes, policy, clock, ledger, log, consoleUrl } = deps;
  const agreed = policy.requestNotes ?? [];
  const here = new Set(requests.map(({ request }) => request.id));
  const next = Object.fromEntries(Object.entries(told).filter(([id]) => here.has(id)));
  const isForgotten = Object.keys(next).length < Object.keys(told).length;
  const nowMs = clock.nowMs();
  const due = requests
    .filter((each) => isDue(each, told[each.request.id], edit, nowMs))
    .toSorted((a, b) => (a.request.decidedAtMs ?? 0) - (b.request.decidedAtMs ?? 0))
    .slice(0, NOTES_PER_RUN_MAX);
  if (notes === undefined || agreed.length === 0 || due.length === 0) return isForgotten ? next : told;

  const ownership = await known();
  const records = await ledger.readRecords(due.map(({ request }) => jobOf(request)));
  const endMs = clock.monotonicMs() + RUN_MS;
  for (const [index, { request }] of due.entries()) {
    const { id } = request;
    const before = told[id] ?? { edit, tries: 0 };
    const record = records[index];
    const place = record && placeOf(request, record, agreed);
    if (record === undefined || place === undefined) {
      next[id] = { edit, tries: 0 };
      continue;
    }
    const using = { ...ownership, policy, gitlabUrl: notes.gitlabUrl, consoleUrl, nowMs };
    const { text, untilMs } = requestNote(request, record, using);
    const hash = createHash('sha256').update(text).digest('base64url').slice(0, HASH_CHARACTERS);
    const done = { text: hash, edit, tries: 0, ...(untilMs !== undefined && { untilMs }) };
    if (before.text === hash) {
      next[id] = done;
      continue;
    }
    const { projectId, mergeRequestIid, groupId } = place;
    const note = { projectId, mergeRequestIid, about: `request ${id}, edit`, version: edit };
    const outcome = await notes.write(groupId, note, text, endMs);
    if (outcome.outcome === 'kept') {
      next[id] = done;
      log.info('merge request told', { request: id, projectId, mergeRequestIid });
      continue;
    }
    const { why, status, retryAfterMs = 0 } = outcome;
    const tries = before.tries + 1;
    next[id] = { ...before, tries, againAtMs: nowMs + Math.max(AGAIN_MS, retryAfterMs) };
    log.warn(tries < NOTE_TRIES_MAX ? 'merge request not told' : 'merge request not told, given up', {
      ...{ request: id, groupId, projectId, mergeRequestIid, tries, why },
      ...(status !== undefined && { status }),
    });
    // Whoever wants to be left alone is asked no more by this run, and the time that is over is over for all.
    if (status === 429 || clock.monotonicMs() >= endMs) break;
  }
  return next;
}

function isDue(stored: StoredRequest, before: ToldNote | undefined, edit: number, nowMs: number): boolean {
  const { decidedAtMs = 0, link } = stored.request;
  if (link === undefined || !isDecided(stored)) return false;
  if (before === undefined) return nowMs - decidedAtMs < FRESH_MS;
  if (before.tries > 0) return before.tries < NOTE_TRIES_MAX && (before.againAtMs ?? 0) <= nowMs;
  return edit !== before.edit && nowMs < (before.untilMs ?? 0);
}

/** 0: none that anybody can tell. */
function jobOf({ link = '' }: LimitRequest): number {
  const job = parseJobReference(link);
  return job.ok ? job.value.jobId : 0;
}

interface NotePlace {
  /** Whose token it is written with. */
  readonly groupId: number;
  readonly projectId: number;
  readonly mergeRequestIid: number;
}

/**
 * Who asks says which job it is about, so it has to be one that was rejected, and counts for what is asked for: nobody has notes
 * written in merge requests of others. GitLab makes refs of this form only in the project of the merge request.
 */
function placeOf(
  { subject }: LimitRequest,
  { facts, violations }: JobRecord,
  agreed: readonly number[],
): NotePlace | undefined {
  const { projectId, groupIds = [], asked } = facts;
  const [, iid] = MERGE_REQUEST.exec(asked?.ref ?? '') ?? [];
  const groupId = groupIds.findLast((id) => agreed.includes(id));
  const isRejected = violations.some(({ mode, exempt }) => mode === 'enforce' && exempt !== true);
  const subjects = ['instance', `project/${projectId}`, ...groupIds.map((id) => `group/${id}`)];
  if (projectId === undefined || iid === undefined || groupId === undefined) return undefined;
  return isRejected && subjects.includes(subject)
    ? { groupId, projectId, mergeRequestIid: Number(iid) }
    : undefined;
}

/**
 * Notes in merge requests: each reports the decision on a request for more, if the developers' group agreed to notes.
 * A failed note is tried again by later runs, and holds up no other message.
 */
import { createHash } from 'node:crypto';
import type { Directory } from '../../policies/directory.ts';
import { DAY_MS } from '../../policies/limits/calendar.ts';
import { limitsOn } from '../../policies/limits/limits.ts';
import { edgeText } from '../../policies/text/edge-text.ts';
import type { Disclosure } from '../../policies/text/reason-text.ts';
import { bindingFirst } from '../../policies/text/reason-texts.ts';
import { disclosureFor } from '../../policies/text/rejection-text.ts';
import { limitName } from '../../policies/unit-texts.ts';
import { withoutAbsent } from '../../policies/without-absent.ts';
import { parseJobReference, recordPlaceOf, reportJobUrl } from '../answers/job/recorded-job.ts';
import { GitLabError } from '../core/gitlab/gitlab.ts';
import { keepNote, type OwnNote } from '../core/gitlab/keep-note.ts';
import type { JobRecord } from '../core/ledger/ledger.ts';
import type { LimitRequest } from '../core/limits/edit-model.ts';
import { isDecided, type StoredRequest } from '../core/limits/requests.ts';
import { jobPagePath, linkTo } from '../core/notify/console-links.ts';
import { subjectLabel } from '../core/notify/recipient.ts';
import type { Cursor, NoteCheckpoint } from './cursor.ts';
import { wholeAmountText } from './notice.ts';
import type { NoticeContext, NoticesDeps, Run } from './run.ts';

/** Each takes a few calls of GitLab. */
export const NOTES_PER_RUN_MAX = 20;
const RUN_MS = 20_000;
/** Older pipelines are done with; and a group that agrees must not get notes about its whole past. */
const FRESH_MS = DAY_MS;
export const NOTE_TRIES_MAX = 5;
const RETRY_MS = 15 * 60_000;
const TRY_TIMEOUT_MS = 4_000;
const DEADLINE_MS = 8_000;
const MERGE_REQUEST = /^refs\/merge-requests\/(\d{1,10})\//;
const HASH_CHARACTERS = 12;

type Notes = NonNullable<Cursor['notes']>;

/**
 * @returns The same object if nothing changed.
 * @throws {LimitsError | LedgerError | DirectoryError} The next run does the same work.
 */
export async function keepRequestNotes(run: Run, before: Notes): Promise<Notes> {
  const { requests, nowMs, deps, pointer } = run;
  const { policy, clock, ledger, log, notes } = deps;
  const edit = pointer?.edit ?? 0;
  const agreed = policy.requestNotes ?? [];
  const stored = new Set(requests.map(({ request }) => request.id));
  const next = Object.fromEntries(Object.entries(before).filter(([id]) => stored.has(id)));
  const due = requests
    .filter((each) => isDue(each, before[each.request.id], edit, nowMs))
    .toSorted((a, b) => (a.request.decidedAtMs ?? 0) - (b.request.decidedAtMs ?? 0))
    .slice(0, NOTES_PER_RUN_MAX);
  if (notes === undefined || agreed.length === 0 || due.length === 0)
    return Object.keys(next).length < Object.keys(before).length ? next : before;

  const context = await run.context();
  const records = await ledger.readRecords(due.map(({ request }) => parseJobId(request)));
  const endMs = clock.monotonicMs() + RUN_MS;
  for (const [index, { request }] of due.entries()) {
    const { id } = request;
    const last = before[id] ?? { edit, tries: 0 };
    const record = records[index];
    const place = record && findPlace(request, record, agreed);
    if (record === undefined || place === undefined) {
      next[id] = { edit, tries: 0 };
      continue;
    }
    const { text, untilMs } = composeNote(request, record, context, deps);
    const hash = createHash('sha256').update(text).digest('base64url').slice(0, HASH_CHARACTERS);
    const { groupId, projectId, mergeRequestIid } = place;
    const note = { projectId, mergeRequestIid, about: `request ${id}, edit`, version: edit };
    const failure =
      last.text === hash ? undefined : await writeNote(groupId, note, text, endMs, { ...notes, clock });
    if (failure === undefined) {
      next[id] = { text: hash, edit, tries: 0, ...withoutAbsent({ untilMs }) };
      if (last.text !== hash) log.info('merge request notified', { request: id, projectId, mergeRequestIid });
      continue;
    }
    const { why, status, retryAfterMs = 0 } = failure;
    const tries = last.tries + 1;
    next[id] = { ...last, tries, againAtMs: nowMs + Math.max(RETRY_MS, retryAfterMs) };
    log.warn(tries < NOTE_TRIES_MAX ? 'merge request not notified' : 'merge request not notified, given up', {
      ...{ request: id, groupId, projectId, mergeRequestIid, tries, why },
      ...withoutAbsent({ status }),
    });
    // GitLab limits the rate for all groups, and the time of the run is shared.
    if (status === 429 || clock.monotonicMs() >= endMs) break;
  }
  return next;
}

/** A new decision, a failed note, or a sent one whose grant an edit may have changed. */
function isDue(
  stored: StoredRequest,
  before: NoteCheckpoint | undefined,
  edit: number,
  nowMs: number,
): boolean {
  const { decidedAtMs = 0, link } = stored.request;
  if (link === undefined || !isDecided(stored)) return false;
  if (before === undefined) return nowMs - decidedAtMs < FRESH_MS;
  if (before.tries > 0) return before.tries < NOTE_TRIES_MAX && (before.againAtMs ?? 0) <= nowMs;
  return edit !== before.edit && nowMs < (before.untilMs ?? 0);
}

/** Returns 0, the id of no job, if the link names none. */
function parseJobId({ link = '' }: LimitRequest): number {
  const job = parseJobReference(link);
  return job.ok ? job.value.jobId : 0;
}

/**
 * Finds the merge request of the job, and the closest agreed group, whose token writes the note. The requester names the job, so it
 * must be a rejected one that counts for the requested limit: otherwise a request could write into merge requests of others.
 * GitLab makes refs of this form only in the project of the merge request.
 */
function findPlace({ subject }: LimitRequest, { facts, violations }: JobRecord, agreed: readonly number[]) {
  const { projectId, groupIds = [], asked } = facts;
  const [, iid] = MERGE_REQUEST.exec(asked?.ref ?? '') ?? [];
  const groupId = groupIds.findLast((id) => agreed.includes(id));
  const subjects = ['instance', `project/${projectId}`, ...groupIds.map((id) => `group/${id}`)];
  if (projectId === undefined || iid === undefined || groupId === undefined) return undefined;
  if (!violations.some(isRejecting) || !subjects.includes(subject)) return undefined;
  return { groupId, projectId, mergeRequestIid: Number(iid) };
}

const isRejecting = ({ mode, exempt }: JobRecord['violations'][number]): boolean =>
  mode === 'enforce' && exempt !== true;

interface NoteFailure {
  readonly why: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
}

/**
 * Returns undefined on success. After a failure the note may exist: the next try finds it by its marker.
 * @param endMs - on the monotonic clock; no call of GitLab starts after it.
 */
async function writeNote(
  groupId: number,
  note: OwnNote,
  text: string,
  endMs: number,
  {
    gitlabUrl,
    tokenOf,
    fetch,
    clock,
    random,
  }: NonNullable<NoticesDeps['notes']> & Pick<NoticesDeps, 'clock'>,
): Promise<NoteFailure | undefined> {
  const token = await tokenOf(groupId);
  if (token === undefined) return { why: "the group's token cannot be read" };
  const inTime: typeof fetch = (input, init) =>
    clock.monotonicMs() < endMs ? fetch(input, init) : Promise.reject(new Error('the run is over'));
  try {
    await keepNote(text, note, {
      ...{ baseUrl: gitlabUrl, token: async () => token, fetch: inTime, clock, ...withoutAbsent({ random }) },
      ...{ timeoutMs: TRY_TIMEOUT_MS, deadlineMs: DEADLINE_MS },
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof GitLabError)) throw error;
    const { code, status, retryAfterMs } = error;
    return { why: code, ...withoutAbsent({ status, retryAfterMs }) };
  }
}

/**
 * Composes a note without any text that a person wrote, except names in code marks: GitLab takes commands and mentions from notes.
 * @returns `untilMs` is the end of the grant; absent if none is in force or to come.
 */
function composeNote(
  request: LimitRequest,
  record: JobRecord,
  context: NoticeContext,
  { notes, consoleUrl }: NoticesDeps,
): { readonly text: string; readonly untilMs?: number } {
  const { limits, directory, nowMs } = context;
  const { jobId, facts } = record;
  const known = directory ?? EMPTY_DIRECTORY;
  const disclosure = findDisclosure(record, known, context);
  const url = reportJobUrl(notes?.gitlabUrl, { jobId, ...facts }, known);
  const job = url === undefined ? `job ${jobId}` : `[job ${jobId}](${url})`;
  const by = disclosure === 'none' ? '' : byText(request.decidedBy);
  const why = `the request for more after ${job} was rejected`;
  const page = disclosure === 'none' ? undefined : linkTo(consoleUrl, jobPagePath(jobId));
  const compose = (...paragraphs: readonly string[]): string =>
    [...paragraphs, ...(page === undefined ? [] : [`Reasons and next steps: ${page}`])].join('\n\n');
  if (request.state === 'declined') return { text: compose(`**Declined**${by}: ${why}.`) };

  const limit = limitsOn(limits, request.subject).find(({ id }) => id === request.limit);
  const grant = limit?.grants?.find(({ id }) => id === request.id);
  if (limit === undefined || grant === undefined || grant.untilMs <= nowMs)
    return { text: compose(`**Approved**${by}, but no longer in force: ${why}.`) };
  const { zone } = limit;
  const isToCome = grant.fromMs > nowMs;
  const from = isToCome ? ` from ${edgeText(grant.fromMs, 'start', zone)}` : '';
  const amount = wholeAmountText(grant.amount, limit.unit, context);
  const what = `${amount} more for the ${limitName(limit)} of ${code(subjectLabel(request.subject, directory))}`;
  const text = compose(
    `**Approved**${by}: ${why}.`,
    ...(isDisclosed(request, record, disclosure)
      ? [`${what},${from} until ${edgeText(grant.untilMs, 'end', zone)}.`]
      : []),
    isToCome ? `Retry ${job} once it counts.` : `Retry ${job}.`,
  );
  return { text, untilMs: grant.untilMs };
}

const EMPTY_DIRECTORY: Directory = {
  ...{ groupById: new Map(), groupByPath: new Map(), chainById: new Map() },
  ...{ projectById: new Map(), projectByPath: new Map() },
};

/** A project that became public since the rejection has other readers. */
const findDisclosure = (record: JobRecord, directory: Directory, { policy }: NoticeContext): Disclosure =>
  directory.projectById.get(record.facts.projectId ?? 0)?.visibility === 'public'
    ? 'none'
    : disclosureFor(recordPlaceOf(record, directory), policy.disclose);

/** A note names only limits that the job's rejection message named. */
function isDisclosed(
  { subject, limit }: LimitRequest,
  { violations }: JobRecord,
  disclosure: Disclosure,
): boolean {
  const [first, ...rest] = violations.filter(isRejecting);
  if (first === undefined || disclosure === 'none') return false;
  const named = disclosure === 'all' ? [first, ...rest] : [bindingFirst([first, ...rest]).binding];
  return named.some(
    ({ reason }) => 'limitAmount' in reason && reason.subject === subject && reason.limit === limit,
  );
}

/** Only names that GitLab accepts for users. */
const byText = (name: string | undefined): string =>
  name !== undefined && /^[\w.-]{1,255}$/.test(name) ? ` by ${code(name)}` : '';

const code = (text: string): string => `\`${text.replaceAll('`', "'")}\``;

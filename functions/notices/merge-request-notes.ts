/**
 * Notes in merge requests: each reports the decision on a request for more, if the developers' group agreed to notes.
 * A failed note is tried again by later runs, and holds up no other message.
 */
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
import { NOWHERE } from '../answers/reading/scope.ts';
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
/** One in each run. */
export const NOTE_TRIES_MAX = 5;
const TRY_TIMEOUT_MS = 4_000;
const DEADLINE_MS = 8_000;
const MERGE_REQUEST = /^refs\/merge-requests\/(\d{1,10})\//;

type Notes = NonNullable<Cursor['notes']>;

/**
 * @returns The same object if nothing changed.
 * @throws {LimitsError | LedgerError | DirectoryError} The next run does the same work.
 */
export async function keepRequestNotes(run: Run, before: Notes): Promise<Notes> {
  const { requests, nowMs, deps, pointer } = run;
  const { policy, clock, ledger, log, notes } = deps;
  const agreed = policy.requestNotes ?? [];
  const stored = new Set(requests.map(({ request }) => request.id));
  const next = Object.fromEntries(Object.entries(before).filter(([id]) => stored.has(id)));
  const due = requests
    .filter((each) => isDue(each, before[each.request.id], nowMs))
    .toSorted((a, b) => (a.request.decidedAtMs ?? 0) - (b.request.decidedAtMs ?? 0))
    .slice(0, NOTES_PER_RUN_MAX);
  if (notes === undefined || agreed.length === 0 || due.length === 0)
    return Object.keys(next).length < Object.keys(before).length ? next : before;

  const context = await run.context();
  const records = await ledger.readRecords(due.map(({ request }) => parseJobId(request)));
  const endMs = clock.monotonicMs() + RUN_MS;
  for (const [index, { request }] of due.entries()) {
    const { id } = request;
    const record = records[index];
    const place = record && findPlace(request, record, agreed);
    if (record === undefined || place === undefined) {
      next[id] = { tries: 0 };
      continue;
    }
    const { groupId, ...where } = place;
    const note = { ...where, about: `request ${id}, edit`, version: pointer?.edit ?? 0 };
    const text = composeNote(request, record, context, deps);
    const failure = await writeNote(groupId, note, text, endMs, { ...notes, clock });
    if (failure === undefined) {
      next[id] = { tries: 0 };
      log.info('merge request notified', { request: id, ...where });
      continue;
    }
    const tries = (before[id]?.tries ?? 0) + 1;
    next[id] = { tries };
    log.warn(tries < NOTE_TRIES_MAX ? 'merge request not notified' : 'merge request not notified, given up', {
      ...{ request: id, ...place, tries, ...failure },
    });
    // GitLab limits the rate for all groups, and the time of the run is shared.
    if (failure.status === 429 || clock.monotonicMs() >= endMs) break;
  }
  return next;
}

/** A new decision about a job, or a failed note. */
function isDue(stored: StoredRequest, before: NoteCheckpoint | undefined, nowMs: number): boolean {
  const { decidedAtMs = 0, link } = stored.request;
  if (link === undefined || !isDecided(stored) || nowMs - decidedAtMs >= FRESH_MS) return false;
  return before === undefined || (before.tries > 0 && before.tries < NOTE_TRIES_MAX);
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

/**
 * Returns undefined on success. After a failure the note may exist: the next try finds it by its marker.
 * @param endMs - on the monotonic clock; no call of GitLab starts after it.
 */
async function writeNote(
  groupId: number,
  note: OwnNote,
  text: string,
  endMs: number,
  deps: NonNullable<NoticesDeps['notes']> & Pick<NoticesDeps, 'clock'>,
): Promise<{ readonly why: string; readonly status?: number } | undefined> {
  const { gitlabUrl, tokenOf, fetch, clock, random } = deps;
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
    const { code, status } = error;
    return { why: code, ...withoutAbsent({ status }) };
  }
}

/** Composes a note without any text that a person wrote, except names in code marks: GitLab takes commands and mentions from notes. */
function composeNote(
  request: LimitRequest,
  record: JobRecord,
  context: NoticeContext,
  { notes, consoleUrl }: NoticesDeps,
): string {
  const { limits, directory = NOWHERE.directory } = context;
  const { jobId, facts } = record;
  const disclosure = findDisclosure(record, directory, context);
  const url = reportJobUrl(notes?.gitlabUrl, { jobId, ...facts }, directory);
  const job = url === undefined ? `job ${jobId}` : `[job ${jobId}](${url})`;
  const by = disclosure === 'none' ? '' : byText(request.decidedBy);
  const isApproved = request.state === 'approved';
  const page = disclosure === 'none' ? undefined : linkTo(consoleUrl, jobPagePath(jobId));
  return [
    `**${isApproved ? 'Approved' : 'Declined'}**${by}: the request for more after ${job} was rejected.`,
    ...(isApproved && isDisclosed(request, record, disclosure) ? grantText(request, context) : []),
    ...(isApproved ? [`Retry ${job}.`] : []),
    ...(page === undefined ? [] : [`Reasons and next steps: ${page}`]),
  ].join('\n\n');

  /** Empty if the grant is gone already. */
  function grantText(
    { id, subject, limit: limitId }: LimitRequest,
    { nowMs }: NoticeContext,
  ): readonly string[] {
    const limit = limitsOn(limits, subject).find((each) => each.id === limitId);
    const grant = limit?.grants?.find((each) => each.id === id);
    if (limit === undefined || grant === undefined) return [];
    const from = grant.fromMs > nowMs ? ` from ${edgeText(grant.fromMs, 'start', limit.zone)}` : '';
    const until = edgeText(grant.untilMs, 'end', limit.zone);
    const amount = wholeAmountText(grant.amount, limit.unit, context);
    const place = code(subjectLabel(subject, directory));
    return [`${amount} more for the ${limitName(limit)} of ${place},${from} until ${until}.`];
  }
}

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

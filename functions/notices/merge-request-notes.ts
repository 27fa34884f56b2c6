/**
 * Notes in merge requests: each reports the decision on a request for more, if the developers' group agreed to notes.
 * A failed note is written by a later run, and holds up no other message.
 */
import { disclosureFor } from '../../policies/text/rejection-text.ts';
import { withoutAbsent } from '../../policies/without-absent.ts';
import { parseJobReference } from '../answers/job/job-reference.ts';
import { recordPlaceOf, reportJobUrl } from '../answers/job/recorded-job.ts';
import { NOWHERE } from '../answers/reading/scope.ts';
import { GitLabError } from '../core/gitlab/gitlab.ts';
import { keepNote } from '../core/gitlab/keep-note.ts';
import type { JobRecord } from '../core/ledger/ledger.ts';
import type { LimitRequest } from '../core/limits/edit-outcomes.ts';
import { isDecided } from '../core/limits/requests.ts';
import { jobPagePath, linkTo } from '../core/notify/console-links.ts';
import type { Cursor, NoticeContext, NoticesDeps, Run } from './run.ts';

const NOTES_PER_RUN_MAX = 20;
const RUN_MS = 20_000;
/** Failed notes are tried so long, in each run; and a group that agrees must not get notes about its whole past. */
const FRESH_MS = 2 * 3_600_000;
const TRY_TIMEOUT_MS = 4_000;
const DEADLINE_MS = 8_000;
const MERGE_REQUEST = /^refs\/merge-requests\/(\d{1,10})\//;

/**
 * Returns the written notes of the cursor. Undefined: nothing changed.
 * @throws {LimitsError | LedgerError | DirectoryError} The next run does the same work.
 */
export async function keepRequestNotes(run: Run, written: Cursor['notes'] = {}): Promise<Cursor['notes']> {
  const { requests, nowMs, deps, pointer } = run;
  const { policy, clock, ledger, log, notes } = deps;
  const agreed = policy.requestNotes ?? [];
  const due = requests
    .filter((each) => isDecided(each.request) && each.request.link !== undefined)
    .map(({ request }) => request)
    .filter(({ id, decidedAtMs = 0 }) => nowMs - decidedAtMs < FRESH_MS && written[id] === undefined)
    .toSorted((a, b) => (a.decidedAtMs ?? 0) - (b.decidedAtMs ?? 0))
    .slice(0, NOTES_PER_RUN_MAX);
  if (notes === undefined || agreed.length === 0 || due.length === 0) return undefined;

  const stored = new Set(requests.map(({ request }) => request.id));
  const next = Object.fromEntries(Object.entries(written).filter(([id]) => stored.has(id)));
  const context = await run.context();
  const records = await ledger.readRecords(due.map(jobIdOf));
  const endMs = clock.monotonicMs() + RUN_MS;
  const inTime: typeof fetch = (input, init) =>
    clock.monotonicMs() < endMs ? notes.fetch(input, init) : Promise.reject(new Error('the run is over'));
  for (const [index, request] of due.entries()) {
    const record = records[index];
    const place = record && findPlace(request, record, agreed);
    if (clock.monotonicMs() >= endMs) break;
    if (record !== undefined && place !== undefined) {
      const { groupId, ...where } = place;
      try {
        const token = await notes.tokenOf(groupId);
        if (token === undefined) throw new GitLabError('gitlab_unreadable', 'the token cannot be read');
        await keepNote(
          composeNote(request, record, context, deps),
          { ...where, about: `request ${request.id}, edit`, version: pointer?.edit ?? 0 },
          {
            ...{ ...notes, fetch: inTime, clock, baseUrl: notes.gitlabUrl, token: async () => token },
            ...{ timeoutMs: TRY_TIMEOUT_MS, deadlineMs: DEADLINE_MS },
          },
        );
        log.info('merge request notified', { request: request.id, ...where });
      } catch (error) {
        if (!(error instanceof GitLabError)) throw error;
        const { code, status } = error;
        log.warn('merge request not notified', {
          ...{ request: request.id, ...place, why: code },
          ...withoutAbsent({ status }),
        });
        // GitLab limits the rate for all groups.
        if (status === 429) break;
        continue;
      }
    }
    next[request.id] = {};
  }
  return next;
}

/** Returns 0, the id of no job, if the link names none. */
function jobIdOf({ link = '' }: LimitRequest): number {
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
  const isRejected = violations.some(({ mode, exempt }) => mode === 'enforce' && exempt !== true);
  if (projectId === undefined || iid === undefined || groupId === undefined) return undefined;
  return isRejected && subjects.includes(subject)
    ? { groupId, projectId, mergeRequestIid: Number(iid) }
    : undefined;
}

/** Composes a note without any text that a person wrote, except names in code marks: GitLab takes commands and mentions from notes. */
function composeNote(
  request: LimitRequest,
  record: JobRecord,
  { directory = NOWHERE.directory, policy }: NoticeContext,
  { notes, consoleUrl }: NoticesDeps,
): string {
  const { jobId, facts } = record;
  // A project that became public since the rejection has other readers.
  const isOpen =
    directory.projectById.get(facts.projectId ?? 0)?.visibility !== 'public' &&
    disclosureFor(recordPlaceOf(record, directory), policy.disclose) !== 'none';
  const url = reportJobUrl(notes?.gitlabUrl, { jobId, ...facts }, directory);
  const job = url === undefined ? `job ${jobId}` : `[job ${jobId}](${url})`;
  const page = isOpen ? linkTo(consoleUrl, jobPagePath(jobId)) : undefined;
  const isApproved = request.state === 'approved';
  return [
    `**${isApproved ? 'Approved' : 'Declined'}**${isOpen ? byText(request.decidedBy) : ''}: the request for more after ${job} was rejected.`,
    ...(isApproved ? [`Retry ${job}.`] : []),
    ...(page === undefined ? [] : [`Reasons and next steps: ${page}`]),
  ].join('\n\n');
}

const byText = (name = ''): string => (/^[\w.-]{1,255}$/.test(name) ? ` by \`${name}\`` : '');

/**
 * What a merge request is told of a request for more. Pure. Nothing that somebody wrote is in it, but names in code marks: GitLab takes
 * commands from notes, and mentions.
 */
import { limitsOn } from '../../policies/limits/limits.ts';
import type { Directory } from '../../policies/place/directory.ts';
import type { Policy } from '../../policies/policy.ts';
import type { Violation } from '../../policies/reason.ts';
import { edgeText } from '../../policies/text/edge-text.ts';
import type { Disclosure } from '../../policies/text/reason-text.ts';
import { bindingFirst } from '../../policies/text/reason-texts.ts';
import { disclosureFor } from '../../policies/text/rejection-text.ts';
import { amountText, limitName } from '../../policies/units/unit-texts.ts';
import { reportJobUrl } from '../answers/job/job-url.ts';
import { recordPlaceOf } from '../answers/job/rejected-jobs.ts';
import type { JobRecord } from '../core/ledger/index.ts';
import type { LimitRequest } from '../core/limits/index.ts';
import { jobPagePath, linkTo } from '../core/notify/console-links.ts';
import { type Ownership, subjectLabel } from '../core/notify/recipient.ts';

interface RequestNoteContext extends Ownership {
  readonly policy: Pick<Policy, 'disclose' | 'currency'>;
  readonly gitlabUrl: string;
  readonly consoleUrl: string | undefined;
  readonly nowMs: number;
}

interface RequestNote {
  readonly text: string;
  /** When what was granted ends; absent: nothing counts, or no more. */
  readonly untilMs?: number;
}

/** @param record - the rejected job's. */
export function requestNote(
  request: LimitRequest,
  record: JobRecord,
  using: RequestNoteContext,
): RequestNote {
  const { limits, directory, policy, gitlabUrl, consoleUrl, nowMs } = using;
  const { jobId, facts } = record;
  const known = directory ?? NOWHERE;
  const disclosure = noteDisclosure(record, known, policy);
  const url = reportJobUrl(gitlabUrl, { jobId, ...facts }, known);
  const job = url === undefined ? `job ${jobId}` : `[job ${jobId}](${url})`;
  const by = disclosure === 'none' ? '' : byText(request.decidedBy);
  const asked = `what was asked for because ${job} was rejected`;
  const page = disclosure === 'none' ? undefined : linkTo(consoleUrl, jobPagePath(jobId));
  const more = page === undefined ? [] : [`What stopped it and what would help: ${page}`];
  if (request.state === 'declined') return { text: lines(`**Declined**${by}: ${asked}.`, ...more) };

  const limit = limitsOn(limits, request.subject).find(({ id }) => id === request.limit);
  const grant = limit?.grants?.find(({ id }) => id === request.id);
  if (limit === undefined || grant === undefined || grant.untilMs <= nowMs)
    return { text: lines(`**Approved**${by}, and it counts no more: ${asked}.`, ...more) };
  const isToCome = grant.fromMs > nowMs;
  const { zone } = limit;
  const from = isToCome ? ` from ${edgeText(grant.fromMs, 'start', zone)}` : '';
  const what = `${amountText(grant.amount, limit.unit, policy.currency, 'nearest')} more for the ${limitName(limit)} of ${code(subjectLabel(request.subject, directory))}`;
  return {
    text: lines(
      `**Approved**${by}: ${asked}.`,
      ...(tellsLimit(request, record, disclosure)
        ? [`${what},${from} until ${edgeText(grant.untilMs, 'end', zone)}.`]
        : []),
      isToCome ? `Retry ${job} once it counts.` : `Retry ${job}.`,
      ...more,
    ),
    untilMs: grant.untilMs,
  };
}

const NOWHERE: Directory = {
  ...{ groupById: new Map(), groupByPath: new Map(), chainById: new Map() },
  ...{ projectById: new Map(), projectByPath: new Map() },
};

/** A project that was made public since then has other readers. */
const noteDisclosure = (
  record: JobRecord,
  directory: Directory,
  { disclose }: Pick<Policy, 'disclose'>,
): Disclosure =>
  directory.projectById.get(record.facts.projectId ?? 0)?.visibility === 'public'
    ? 'none'
    : disclosureFor(recordPlaceOf(record, directory), disclose);

/** A note says nothing of limits that the job's own message did not name. */
function tellsLimit(
  { subject, limit }: LimitRequest,
  { violations }: JobRecord,
  disclosure: Disclosure,
): boolean {
  const [first, ...rest] = violations.filter(({ mode, exempt }) => mode === 'enforce' && exempt !== true);
  if (first === undefined || disclosure === 'none') return false;
  const told: readonly Violation[] =
    disclosure === 'all' ? [first, ...rest] : [bindingFirst([first, ...rest]).binding];
  return told.some(
    ({ reason }) => 'limitAmount' in reason && reason.subject === subject && reason.limit === limit,
  );
}

/** GitLab's names of users; what else stands in a request stays unsaid. */
const byText = (name: string | undefined): string =>
  name !== undefined && /^[\w.-]{1,255}$/.test(name) ? ` by ${code(name)}` : '';

const code = (text: string): string => `\`${text.replaceAll('`', "'")}\``;

const lines = (...all: readonly string[]): string => all.join('\n\n');

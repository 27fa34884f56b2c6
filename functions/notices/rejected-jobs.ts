/** Rejected jobs per group, with the limits that rejected them and some examples. */
import type { Directory } from '../../policies/place/directory.ts';
import { placementOf } from '../../policies/place/placement.ts';
import type { Reason } from '../../policies/reason.ts';
import { bindingFirst } from '../../policies/text/reason-texts.ts';
import { disclosureFor } from '../../policies/text/rejection-text.ts';
import { limitNameFirst } from '../../policies/units/unit-texts.ts';
import { withoutAbsent } from '../../policies/without-absent.ts';
import { type JobRecord, ranRejected, wasRejected } from '../core/ledger/index.ts';
import { jobPagePath } from '../core/notify/console-links.ts';
import {
  FINANCE,
  findOwnRecipient,
  findRecipient,
  groupsAround,
  recipientKey,
  subjectLabel,
} from '../core/notify/recipient.ts';
import { type LatestRejections, REJECTIONS_MAX } from '../core/usage/index.ts';
import type { Tallies } from './cursor.ts';
import { findNews, inPieces, type JobsWindow, type SubjectNews } from './job-counts.ts';
import { aNotice, countText, cutName, type Example, type Notice, wholeAmountText } from './notice.ts';
import type { NoticeContext } from './run.ts';

/** Records read for one group, and for all groups of a run. */
const RECORDS_PER_GROUP_MAX = 20;
const RECORDS_MAX = 400;
/** Lists read in one run: a hundred batches. */
const LISTS_MAX = 10_000;
const CAUSES_MAX = 4;
const EXAMPLES_MAX = 3;

/** @throws {LedgerError} */
export async function findRejectedJobs(
  window: JobsWindow,
): Promise<{ readonly notices: readonly Notice[]; readonly tallies: Tallies }> {
  const { usage, ledger } = window.deps;
  const groups = await findGroups(window);
  const { news, tallies } = await findNews(groups, ({ rejected = 0 }) => ({ rejected }), window);
  const lists = await inPieces(
    news.map(({ subject }) => subject),
    (some) => usage.readRejections(some),
  );
  let left = RECORDS_MAX;
  const notices: Notice[] = [];
  for (const [index, group] of news.entries()) {
    const wanted = Math.min(group.rejected, RECORDS_PER_GROUP_MAX, left);
    left -= wanted;
    const ids = (lists[index]?.jobs ?? []).slice(0, wanted).map(({ jobId }) => jobId);
    const found = ids.length === 0 ? [] : await ledger.readRecords(ids);
    const records = found.filter((record) => record !== undefined).filter(wasRejected);
    notices.push(rejectedNotice(group, records, window));
  }
  return { notices, tallies };
}

/**
 * Finds groups with rejected jobs in or below them whose limits name an owner; for jobs without such a group, the top-level group.
 * The lists are bounded, so they only say which counts to read. The counts are exact.
 */
async function findGroups(window: JobsWindow): Promise<readonly string[]> {
  const groups = new Set<string>();
  for (const chain of await findChains(window)) {
    const owned = chain.filter((group) => findOwnRecipient(group, window.context) !== undefined);
    for (const group of owned.length > 0 ? owned : chain.slice(-1)) groups.add(group);
  }
  return [...groups];
}

/** Groups with rejected jobs, each followed by the groups above it. */
async function findChains({
  context: { directory },
  deps: { usage, ledger },
  sinceMs,
}: JobsWindow): Promise<readonly (readonly string[])[]> {
  const isRecent = ({ atMs }: LatestRejections['jobs'][number]): boolean => atMs >= sinceMs;
  const [all] = await usage.readRejections(['instance']);
  const jobs = (all?.jobs ?? []).filter(isRecent);
  const records = jobs.length === 0 ? [] : await ledger.readRecords(jobs.map(({ jobId }) => jobId));
  const direct = records.flatMap((record) => {
    const group = record?.facts.groupId ?? record?.facts.rootId;
    return group === undefined ? [] : [groupsAround(`group/${group}`, directory)];
  });
  if (jobs.length < REJECTIONS_MAX || directory === undefined) return direct;
  // The list of the instance is full, so walk down the tree along groups with recent rejections.
  const activeGroups: string[] = [];
  let level = listChildren(directory, undefined);
  for (let read = 0; level.length > 0 && read < LISTS_MAX; read += level.length) {
    const lists = await inPieces(level.slice(0, LISTS_MAX - read), (some) => usage.readRejections(some));
    const active = lists.filter((list) => list.jobs.some(isRecent)).map(({ subject }) => subject);
    activeGroups.push(...active);
    level = active.flatMap((group) => listChildren(directory, Number(group.slice('group/'.length))));
  }
  const chains = activeGroups.map((group) => groupsAround(group, directory));
  // A group above others may have no jobs of its own. If it has recent ones, `direct` names it.
  const above = new Set(chains.flatMap((chain) => chain.slice(1)));
  return [...direct, ...chains.filter(([group = '']) => !above.has(group))];
}

const listChildren = ({ groupById }: Directory, parent: number | undefined): readonly string[] =>
  [...groupById.values()].filter(({ parentId }) => parentId === parent).map(({ id }) => `group/${id}`);

function rejectedNotice(
  { subject, rejected: jobs, checkpoints }: SubjectNews,
  records: readonly JobRecord[],
  { days, tallies, context }: JobsWindow,
): Notice {
  const label = subjectLabel(subject, context.directory);
  const causes = listCauses(records, subject, context);
  const ran = records.filter(ranRejected).length;
  const of = records.length < jobs && records.length > 0 ? `Of the latest ${records.length}: ` : '';
  const before = days.map((day) => tallies[day]?.[subject]?.rejected ?? 0);
  return aNotice('jobs-rejected', subject, context, {
    id: `rejected:${subject}:${days[0]}:${before.join('+')}+${jobs}`,
    lines: [
      `${countText(jobs, 'job')} of ${label} ${jobs === 1 ? 'was' : 'were'} rejected.`,
      ...(ran > 0 ? [`${of}${ran} ran all the same: GitLab follows no answer in dry_run`] : []),
      ...causes.map((cause) => `${of}${cause}`),
    ],
    examples: listExamples(records, context.directory),
    facts: { jobs, looked: records.length, ran, causes: causes.join('; ') },
    checkpoints,
  });
}

/** `CI budget of group acme, 500.00 EUR: 12`, the most frequent first: the binding limit of each job, or the rule. */
function listCauses(
  records: readonly JobRecord[],
  subject: string,
  context: NoticeContext,
): readonly string[] {
  const jobs = new Map<string, number>();
  for (const record of records) {
    const [first, ...rest] = record.violations.filter(({ mode }) => mode === 'enforce');
    if (first === undefined) continue;
    const { binding } = bindingFirst([first, ...rest]);
    const text =
      'limitAmount' in binding.reason
        ? limitCause(binding.reason, record, subject, context)
        : `Rule ${cutName(binding.rule)}`;
    jobs.set(text, (jobs.get(text) ?? 0) + 1);
  }
  return [...jobs]
    .sort(([, a], [, b]) => b - a)
    .slice(0, CAUSES_MAX)
    .map(([text, count]) => `${text}: ${count}`);
}

/** Says no more about the limit of another owner than the job's own page does. */
function limitCause(
  reason: Extract<Reason, { readonly limitAmount: number }>,
  { jobId, facts }: JobRecord,
  subject: string,
  context: NoticeContext,
): string {
  const { directory, policy } = context;
  const { projectId, groupId: namespaceId, rootId: rootNamespaceId, asked } = facts;
  const what = `${limitNameFirst(reason)} of ${subjectLabel(reason.subject, directory)}`;
  const isOwn =
    recipientKey(findRecipient(subject, undefined, context)) === recipientKey(FINANCE) ||
    groupsAround(reason.subject, directory).includes(subject);
  const projectVisibility = asked?.projectVisibility;
  const ids = withoutAbsent({ projectId, namespaceId, rootNamespaceId, projectVisibility });
  const disclosure = disclosureFor(placementOf({ jobId, ...ids }, directory), policy.disclose);
  if (isOwn || disclosure === 'all')
    return `${what}, ${wholeAmountText(reason.limitAmount, reason.unit, context)}`;
  return disclosure === 'none' ? 'A limit above it' : what;
}

/** The latest jobs. Retries of GitLab have their own job ids, but are one example. */
function listExamples(records: readonly JobRecord[], directory: Directory | undefined): readonly Example[] {
  const tries = Map.groupBy(records, ({ jobId, facts: { projectId, pipelineId, jobName } }) =>
    pipelineId === undefined ? String(jobId) : JSON.stringify([projectId, pipelineId, jobName]),
  );
  return [...tries.values()].slice(0, EXAMPLES_MAX).flatMap((same) => {
    const [record] = same;
    if (record === undefined) return [];
    const { jobName, projectId } = record.facts;
    // A request may claim any path; the id decides.
    const path = projectId === undefined ? undefined : directory?.projectById.get(projectId)?.path;
    const job = `Job ${record.jobId}${jobName === undefined ? '' : ` "${cutName(jobName)}"`}`;
    const where = path === undefined ? '' : ` in ${cutName(path)}`;
    const again = same.length > 1 ? `, ${same.length} tries` : '';
    return [{ text: `${job}${where}${again}`, page: jobPagePath(record.jobId) }];
  });
}

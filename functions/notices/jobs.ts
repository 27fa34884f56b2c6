/** Jobs that were rejected, or would have been, since their owners were notified. */
import { counterName } from '../../policies/claim.ts';
import type { Directory } from '../../policies/directory.ts';
import type { Limit } from '../../policies/limits/limit.ts';
import { counterOf, limitAt } from '../../policies/limits/limits.ts';
import { placementOf } from '../../policies/placement.ts';
import type { Reason } from '../../policies/reason.ts';
import { leastMode, rolloutModes, rolloutPlaceOf } from '../../policies/rollout.ts';
import type { Rule } from '../../policies/rule.ts';
import { bindingFirst } from '../../policies/text/reason-texts.ts';
import { disclosureFor } from '../../policies/text/rejection-text.ts';
import { ASKED_BY } from '../../policies/unit.ts';
import { limitNameFirst } from '../../policies/unit-texts.ts';
import { withoutAbsent } from '../../policies/without-absent.ts';
import type { Counter, JobRecord } from '../core/ledger/ledger.ts';
import { ranRejected, wasRejected } from '../core/ledger/settle.ts';
import { jobPagePath, shadowPagePath } from '../core/notify/console-links.ts';
import {
  FINANCE,
  findOwnRecipient,
  findRecipient,
  groupsAround,
  recipientKey,
  subjectLabel,
} from '../core/notify/recipient.ts';
import { REJECTIONS_MAX } from '../core/usage/lists.ts';
import type { LatestRejections } from '../core/usage/rollup-store.ts';
import type { Tallies } from './cursor.ts';
import {
  countNew,
  findNews,
  INSTANCE,
  inPieces,
  type JobsWindow,
  latestDays,
  mergeCounts,
  readCounts,
  type SubjectNews,
} from './job-counts.ts';
import { aNotice, countText, cutName, type Example, type Notice, wholeAmountText } from './notice.ts';
import { type Findings, limitsBySubject, type NoticeContext, type Run } from './run.ts';

/**
 * 1. Compare today's and yesterday's counts of the instance with those that owners know.
 * 2. If they moved, find the groups with new rejected jobs, and the subjects with new warned jobs.
 * 3. Keep the new counts.
 */
export async function findJobNotices(run: Run): Promise<Findings> {
  const { cursor, deps, nowMs } = run;
  const { days, sinceMs } = latestDays(nowMs, deps.zone);
  const instance = (await readCounts(['instance'], days, deps.usage)).get('instance') ?? new Map();
  const { rejected, byRule } = countNew(INSTANCE, instance, cursor.tallies);

  let { tallies } = cursor;
  const notices: Notice[] = [];
  const find = async (kind: typeof findRejectedJobs): Promise<void> => {
    const found = await kind({ days, sinceMs, tallies, deps, context: await run.context() });
    notices.push(...found.notices);
    tallies = found.tallies;
  };
  if (rejected > 0 || cursor.again === true) await find(findRejectedJobs);
  if (byRule.size > 0) await find((window) => findWarnedJobs(new Set(byRule.keys()), window));

  const known = Object.entries(mergeCounts(tallies, new Map([[INSTANCE, instance]])));
  return {
    notices: run.isFirst ? [] : notices,
    next: {
      tallies: Object.fromEntries(known.filter(([day]) => days.includes(day))),
      again: rejected > 0,
    },
  };
}

interface FoundJobs {
  readonly notices: readonly Notice[];
  readonly tallies: Tallies;
}

/** Records read for one group, and for all groups of a run. */
const RECORDS_PER_GROUP_MAX = 20;
const RECORDS_MAX = 400;
/** Lists read in one run: a hundred batches. */
const LISTS_MAX = 10_000;
const CAUSES_MAX = 4;
const EXAMPLES_MAX = 3;

/** @throws {LedgerError} */
async function findRejectedJobs(window: JobsWindow): Promise<FoundJobs> {
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
      ...(ran > 0 ? [`${of}${ran} ran all the same: in dry_run GitLab ignores rejections`] : []),
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

/** Subjects read in one run: some two hundred batches. */
const SUBJECTS_MAX = 10_000;
/** Limits with figures in the messages of one run. */
const FIGURES_MAX = 400;
const RULES_MAX = 4;

/** Rules and limits that warn on one subject. */
interface Warnings {
  readonly rules: ReadonlySet<string>;
  readonly limits: readonly Limit[];
}

/**
 * Finds jobs that only a warning admitted: by limits in mode `warn`, by limits whose rule or rollout goes no further, and by rules of the
 * policy in that mode. Counts are per rule, and a job counts under each. They include jobs that a limit in `shadow` would have
 * rejected by the same rule.
 *
 * @param moved - rules under which the instance has more jobs.
 * @throws {LedgerError}
 */
async function findWarnedJobs(moved: ReadonlySet<string>, window: JobsWindow): Promise<FoundJobs> {
  const { context, deps } = window;
  const warnings = findWarnings(context, moved);
  const { news, tallies } = await findNews(
    [...warnings.keys()].slice(0, SUBJECTS_MAX),
    ({ warned = {} }, subject) => {
      const rules = [...(warnings.get(subject)?.rules ?? [])];
      return { warned: Object.fromEntries(rules.map((rule) => [rule, warned[rule] ?? 0])) };
    },
    window,
  );
  const limitsOf = ({ subject }: SubjectNews): readonly Limit[] => warnings.get(subject)?.limits ?? [];
  const keys = news
    .flatMap(limitsOf)
    .slice(0, FIGURES_MAX)
    .map((limit) => counterOf(limit, context.nowMs));
  const read = keys.length === 0 ? [] : await deps.ledger.readCounters(keys);
  const counters = new Map(read.map((counter) => [counterName(counter.key), counter]));
  return { notices: news.map((each) => warnedNotice(each, limitsOf(each), counters, window)), tallies };
}

function findWarnings(context: NoticeContext, moved: ReadonlySet<string>): ReadonlyMap<string, Warnings> {
  const limitRules = new Set<string>(Object.values(ASKED_BY));
  const ofPolicy = context.policy.rules.filter(
    ({ id, kind, mode }) => mode === 'warn' && !limitRules.has(kind) && moved.has(id),
  );
  const found = new Map<string, Warnings>();
  for (const [subject, all] of limitsBySubject(context)) {
    const rules = new Set<string>();
    const limits = all.filter((limit) => {
      const ids = warningRules(limit, context).flatMap(({ id }) => (moved.has(id) ? [id] : []));
      for (const id of ids) rules.add(id);
      return ids.length > 0;
    });
    if (ofPolicy.length > 0 && findOwnRecipient(subject, context) !== undefined)
      for (const { id } of ofPolicy) rules.add(id);
    if (rules.size > 0) found.set(subject, { rules, limits });
  }
  return found;
}

/** Rules that ask this limit and only warn. */
function warningRules(limit: Limit, { limits, directory, policy }: NoticeContext): readonly Rule[] {
  if (limit.amount === 'unlimited') return [];
  const rollout = rolloutModes(rolloutPlaceOf(limit.subject, directory), limits);
  return policy.rules.filter(
    (rule) =>
      rule.kind === ASKED_BY[limit.kind] &&
      leastMode(limit.mode, leastMode(rule.mode, rollout[rule.class])) === 'warn',
  );
}

function warnedNotice(
  { subject, byRule, checkpoints }: SubjectNews,
  limits: readonly Limit[],
  counters: ReadonlyMap<string, Counter>,
  { tallies, days, context }: JobsWindow,
): Notice {
  const rules = [...byRule].sort(([, a], [, b]) => b - a);
  const most = Math.max(...byRule.values());
  const sum = (counts: readonly number[]): number => counts.reduce((total, each) => total + each, 0);
  const before = days.map((day) => sum(rules.map(([rule]) => tallies[day]?.[subject]?.warned?.[rule] ?? 0)));
  const perRule = rules
    .slice(0, RULES_MAX)
    .map(([rule, jobs]) => `${cutName(rule)} ${jobs}`)
    .join(', ');
  const jobs = `${rules.length > 1 ? 'At least ' : ''}${countText(most, 'job')} of ${subjectLabel(subject, context.directory)}`;
  return aNotice('jobs-warned', subject, context, {
    to: findRecipient(subject, limits[0]?.id, context),
    id: `warned:${subject}:${days[0]}:${before.join('+')}+${sum([...byRule.values()])}`,
    lines: [
      `${jobs} would have been rejected if the rules that only warn were enforced. By rule: ${perRule}.`,
      ...limits.slice(0, RULES_MAX).flatMap((limit) => figureLine(limit, counters, context)),
    ],
    page: shadowPagePath(subject),
    facts: { jobs: most, byRule: perRule },
    checkpoints,
  });
}

function figureLine(
  limit: Limit,
  counters: ReadonlyMap<string, Counter>,
  context: NoticeContext,
): readonly string[] {
  const counter = counters.get(counterName(counterOf(limit, context.nowMs)));
  const { amount } = limitAt(limit, context.nowMs);
  if (counter === undefined || amount === 'unlimited') return [];
  const text = (whole: number): string => wholeAmountText(whole, limit.unit, context);
  const over = counter.committed - counter.fitted;
  const refused = over > 0 ? `; ${text(over)} would have been rejected` : '';
  return [`${limitNameFirst(limit)}: ${text(counter.committed)} of ${text(amount)} spent or held${refused}`];
}

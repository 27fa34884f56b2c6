/** Jobs that were rejected, or would have been, since their owners were notified. */
import type { Limit } from '../../policies/limits/limit.ts';
import { periodAt } from '../../policies/limits/period.ts';
import type { Reason } from '../../policies/reason.ts';
import { leastMode, rolloutModes, rolloutPlaceOf } from '../../policies/rollout.ts';
import { bindingFirst } from '../../policies/text/reason-texts.ts';
import { disclosureFor } from '../../policies/text/rejection-text.ts';
import { ASKED_BY } from '../../policies/unit.ts';
import { counted, limitNameFirst } from '../../policies/unit-texts.ts';
import { recordPlaceOf } from '../answers/job/recorded-job.ts';
import { NOWHERE } from '../answers/reading/scope.ts';
import type { JobRecord } from '../core/ledger/ledger.ts';
import { ranRejected, wasRejected } from '../core/ledger/settle.ts';
import { jobPagePath, shadowPagePath, subjectPagePath } from '../core/notify/console-links.ts';
import {
  FINANCE,
  findOwnRecipient,
  findRecipient,
  groupsAround,
  recipientKey,
  subjectLabel,
} from '../core/notify/recipient.ts';
import { readInParts } from '../core/store/parts.ts';
import { usageOf } from '../core/usage/usage.ts';
import { createNotice, cutName, type Notice, wholeAmountText } from './notice.ts';
import { type Findings, limitsBySubject, type NoticeContext, type NoticesDeps, type Run } from './run.ts';

/** Name of rejected jobs among the counts of a subject. The other names are rules that only warned. */
const REJECTED = '';
const RECORDS_PER_GROUP_MAX = 20;
const RECORDS_MAX = 400;
const SUBJECTS_MAX = 10_000;
const CAUSES_MAX = 4;

interface JobsWindow {
  /** Today and yesterday: the rollup counts a job on the day of its decision, up to a day later. */
  readonly days: readonly string[];
  readonly tallies: Record<string, Record<string, number>>;
  readonly deps: NoticesDeps;
}

/**
 * 1. Compare today's and yesterday's counts of the instance with those that owners know.
 * 2. If they moved, find the groups with new rejected jobs, and the subjects with new warned jobs.
 * 3. Keep the new counts.
 */
export async function findJobNotices(run: Run): Promise<Findings> {
  const { cursor, deps, nowMs } = run;
  const today = periodAt('day', deps.zone, nowMs);
  const yesterday = periodAt('day', deps.zone, today.startMs - 1);
  const days = [today.key, yesterday.key];
  const tallies = Object.fromEntries(days.map((day) => [day, { ...cursor.tallies[day] }]));
  const window: JobsWindow = { days, tallies, deps };
  const [all] = await findNews(['instance'], (_, counted) => counted, window, '*');
  const moved = new Set(all?.more.keys());
  const isRejected = moved.delete(REJECTED);
  const notices: Notice[] = [];
  if (isRejected || cursor.again === true)
    notices.push(...(await findRejectedJobs(yesterday.startMs, await run.context(), window)));
  if (moved.size > 0) notices.push(...(await findWarnedJobs(moved, await run.context(), window)));
  return { notices: run.isFirst ? [] : notices, next: { tallies, again: isRejected } };
}

type SubjectNews = Awaited<ReturnType<typeof findNews>>[number];

/**
 * Finds subjects with jobs that owners do not know.
 *
 * @param names - the counts that a notice reports: only these become known to owners
 */
async function findNews(
  subjects: readonly string[],
  names: (subject: string, counted: Iterable<string>) => Iterable<string>,
  { days, tallies, deps: { usage } }: JobsWindow,
  as?: string,
) {
  const keys = subjects.flatMap((subject) => days.map((day) => ({ subject, day })));
  const read = await readInParts(keys, (some) => usage.readUsage(some));
  return subjects.flatMap((subject, at) => {
    const more = new Map<string, number>();
    let total = 0;
    for (const [index, day] of days.entries()) {
      const { rejected, watchedBy } = usageOf(read[at * days.length + index] ?? new Map());
      const counts = new Map([[REJECTED, rejected], ...watchedBy]);
      const known = tallies[day] ?? {};
      for (const name of names(subject, counts.keys())) {
        const key = `${as ?? subject} ${name}`;
        const jobs = counts.get(name) ?? 0;
        const before = known[key] ?? 0;
        total += jobs;
        if (jobs > before) more.set(name, (more.get(name) ?? 0) + jobs - before);
        // Most subjects have no jobs to keep. A count that fell back to 0 is kept.
        if (jobs > 0 || before > 0) known[key] = jobs;
      }
    }
    return more.size === 0 ? [] : [{ subject, more, id: `${subject}:${days[0]}:${total}` }];
  });
}

async function findRejectedJobs(
  sinceMs: number,
  context: NoticeContext,
  window: JobsWindow,
): Promise<readonly Notice[]> {
  const { usage, ledger } = window.deps;
  const groups = await findGroups(sinceMs, context, window.deps);
  const news = await findNews(groups, () => [REJECTED], window);
  const lists = await readInParts(news, (some) => usage.readRejections(some.map(({ subject }) => subject)));
  let left = RECORDS_MAX;
  const notices: Notice[] = [];
  for (const [index, group] of news.entries()) {
    const jobs = group.more.get(REJECTED) ?? 0;
    const wanted = Math.min(jobs, RECORDS_PER_GROUP_MAX, left);
    left -= wanted;
    const ids = (lists[index]?.jobs ?? []).slice(0, wanted).map(({ jobId }) => jobId);
    const found = ids.length === 0 ? [] : await ledger.readRecords(ids);
    const records = found.filter((record) => record !== undefined).filter(wasRejected);
    notices.push(rejectedNotice(group, jobs, records, context));
  }
  return notices;
}

/**
 * Lists the groups whose limits name an owner, and the top-level groups of the latest rejected jobs that are in no such group.
 * Their counts are exact, and say which have new jobs.
 */
async function findGroups(
  sinceMs: number,
  context: NoticeContext,
  { usage, ledger }: NoticesDeps,
): Promise<readonly string[]> {
  const isOwned = (group: string): boolean => findOwnRecipient(group, context) !== undefined;
  const groups = new Set(
    [...limitsBySubject(context)]
      .map(([subject]) => subject)
      .filter((each) => each.startsWith('group/') && !each.includes('/each/') && isOwned(each)),
  );
  const [all] = await usage.readRejections(['instance']);
  const ids = (all?.jobs ?? []).filter(({ atMs }) => atMs >= sinceMs).map(({ jobId }) => jobId);
  for (const record of ids.length === 0 ? [] : await ledger.readRecords(ids)) {
    const group = record?.facts.groupId ?? record?.facts.rootId;
    if (group === undefined) continue;
    const chain = groupsAround(`group/${group}`, context.directory);
    const owned = chain.filter(isOwned);
    for (const each of owned.length > 0 ? owned : chain.slice(-1)) groups.add(each);
  }
  return [...groups].slice(0, SUBJECTS_MAX);
}

function rejectedNotice(
  { subject, id }: SubjectNews,
  jobs: number,
  records: readonly JobRecord[],
  context: NoticeContext,
): Notice {
  const { directory } = context;
  const ran = records.filter(ranRejected).length;
  const of = records.length < jobs && records.length > 0 ? `Of the latest ${records.length}: ` : '';
  const [latest] = records;
  // A request may claim any path; the id decides.
  const path = directory?.projectById.get(latest?.facts.projectId ?? 0)?.path;
  return createNotice('jobs-rejected', subject, context, {
    id: `rejected:${id}`,
    lines: [
      `${counted(jobs, 'job')} of ${subjectLabel(subject, directory)} ${jobs === 1 ? 'was' : 'were'} rejected.`,
      ...(ran > 0 ? [`${of}${ran} ran anyway: in dry_run GitLab ignores rejections`] : []),
      ...listCauses(records, subject, context).map((cause) => `${of}${cause}`),
      ...(latest ? [`Latest: job ${latest.jobId}${path === undefined ? '' : ` in ${cutName(path)}`}`] : []),
    ],
    page: latest === undefined ? subjectPagePath(subject) : jobPagePath(latest.jobId),
    facts: { jobs, ran },
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
    const { rule, reason } = bindingFirst([first, ...rest]).binding;
    const text =
      'limitAmount' in reason ? limitCause(reason, record, subject, context) : `Rule ${cutName(rule)}`;
    jobs.set(text, (jobs.get(text) ?? 0) + 1);
  }
  const sorted = [...jobs].sort(([, a], [, b]) => b - a);
  return sorted.slice(0, CAUSES_MAX).map(([text, count]) => `${text}: ${count}`);
}

/** Says no more about the limit of another owner than the job's own page does. */
function limitCause(
  reason: Extract<Reason, { readonly limitAmount: number }>,
  record: JobRecord,
  subject: string,
  context: NoticeContext,
): string {
  const { directory, policy } = context;
  const what = `${limitNameFirst(reason)} of ${subjectLabel(reason.subject, directory)}`;
  const isOwn =
    recipientKey(findRecipient(subject, undefined, context)) === recipientKey(FINANCE) ||
    groupsAround(reason.subject, directory).includes(subject);
  const place = recordPlaceOf(record, directory ?? NOWHERE.directory);
  const disclosure = disclosureFor(place, policy.disclose);
  if (isOwn || disclosure === 'all')
    return `${what}, ${wholeAmountText(reason.limitAmount, reason.unit, context)}`;
  return disclosure === 'none' ? 'A limit above it' : what;
}

/**
 * Finds jobs that only a warning admitted: by limits in mode `warn`, by limits whose rule or rollout goes no further, and by rules of the
 * policy in that mode. Counts are per rule, and include jobs that a limit in `shadow` would have rejected by the same rule.
 *
 * @param moved - rules under which the instance has more jobs.
 * @throws {LedgerError}
 */
async function findWarnedJobs(
  moved: ReadonlySet<string>,
  context: NoticeContext,
  window: JobsWindow,
): Promise<readonly Notice[]> {
  const limitRules = new Set<string>(Object.values(ASKED_BY));
  const ofPolicy = context.policy.rules
    .filter(({ id, kind, mode }) => mode === 'warn' && !limitRules.has(kind) && moved.has(id))
    .map(({ id }) => id);
  const rulesOf = new Map<string, ReadonlySet<string>>();
  const limitOf = new Map<string, string>();
  for (const [subject, limits] of limitsBySubject(context)) {
    const ofLimits = limits.flatMap((limit) => {
      const rules = warningRules(limit, context, moved);
      if (rules.length > 0 && !limitOf.has(subject)) limitOf.set(subject, limit.id);
      return rules;
    });
    const isOwned = ofPolicy.length > 0 && findOwnRecipient(subject, context) !== undefined;
    const rules = new Set([...ofLimits, ...(isOwned ? ofPolicy : [])]);
    if (rules.size > 0) rulesOf.set(subject, rules);
  }
  const subjects = [...rulesOf.keys()].slice(0, SUBJECTS_MAX);
  const news = await findNews(subjects, (subject) => rulesOf.get(subject) ?? [], window);
  return news.map((each) => warnedNotice(each, limitOf.get(each.subject), context));
}

function warningRules(
  limit: Limit,
  { limits, directory, policy }: NoticeContext,
  moved: ReadonlySet<string>,
): readonly string[] {
  if (limit.amount === 'unlimited') return [];
  const rollout = rolloutModes(rolloutPlaceOf(limit.subject, directory), limits);
  return policy.rules.flatMap(({ id, kind, mode, class: ruleClass }) => {
    const isWarning = leastMode(limit.mode, leastMode(mode, rollout[ruleClass])) === 'warn';
    return isWarning && kind === ASKED_BY[limit.kind] && moved.has(id) ? [id] : [];
  });
}

function warnedNotice(
  { subject, more, id }: SubjectNews,
  limit: string | undefined,
  context: NoticeContext,
): Notice {
  const rules = [...more].sort(([, a], [, b]) => b - a).slice(0, CAUSES_MAX);
  const perRule = rules.map(([rule, jobs]) => `${cutName(rule)} ${jobs}`).join(', ');
  return createNotice('jobs-warned', subject, context, {
    to: findRecipient(subject, limit, context),
    id: `warned:${id}`,
    lines: [
      `Jobs of ${subjectLabel(subject, context.directory)} would have been rejected if the rules that only warn were enforced. By rule: ${perRule}.`,
    ],
    page: shadowPagePath(subject),
    facts: { byRule: perRule },
  });
}

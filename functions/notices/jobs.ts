/** Jobs that were rejected, or would have been, since their owners were notified. */
import type { Limit } from '../../policies/limits/limit.ts';
import { periodAt } from '../../policies/limits/period.ts';
import type { Reason } from '../../policies/reason.ts';
import { leastMode, rolloutModes, rolloutPlaceOf } from '../../policies/rollout.ts';
import { bindingFirst } from '../../policies/text/reason-texts.ts';
import { disclosureFor } from '../../policies/text/rejection-text.ts';
import { ASKED_BY } from '../../policies/unit.ts';
import { limitNameFirst } from '../../policies/unit-texts.ts';
import { recordPlaceOf } from '../answers/job/recorded-job.ts';
import { NOWHERE } from '../answers/reading/scope.ts';
import type { JobRecord } from '../core/ledger/ledger.ts';
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
import { usageOf } from '../core/usage/usage.ts';
import type { Tallies } from './cursor.ts';
import { aNotice, countText, cutName, type JobCounts, type Notice, wholeAmountText } from './notice.ts';
import { type Findings, limitsBySubject, type NoticeContext, type NoticesDeps, type Run } from './run.ts';

/** Key of the whole instance in {@link Tallies}. */
const INSTANCE = '*';
/** Records read for one group, and for all groups of a run. */
const RECORDS_PER_GROUP_MAX = 20;
const RECORDS_MAX = 400;
/** Subjects read in one run: some two hundred batches. */
const SUBJECTS_MAX = 10_000;
/** One read has three seconds. */
const PIECE = 2_000;
const CAUSES_MAX = 4;
const EXAMPLES_MAX = 3;

/** The days of one run and the counts that owners know. */
interface JobsWindow {
  /**
   * Today and yesterday: the rollup counts a job on the day of its decision, up to a day later. Older jobs
   * are forgotten.
   */
  readonly days: readonly string[];
  readonly tallies: Tallies;
  readonly deps: NoticesDeps;
  readonly context: NoticeContext;
}

/** New jobs of a subject. */
interface SubjectNews {
  readonly subject: string;
  readonly rejected: number;
  /** Keyed by rule; only rules with new jobs. */
  readonly byRule: ReadonlyMap<string, number>;
  /** Different for each new count: the counts that owners knew, and the new jobs. */
  readonly id: string;
}

interface FoundJobs {
  readonly notices: readonly Notice[];
  readonly tallies: Tallies;
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
  const all = await findNews(
    ['instance'],
    (counts) => counts,
    { days, tallies: cursor.tallies, deps },
    INSTANCE,
  );
  const { rejected = 0, byRule = new Map<string, number>() } = all.news[0] ?? {};
  let { tallies } = all;
  const notices: Notice[] = [];
  const find = async (work: (window: JobsWindow) => Promise<FoundJobs>): Promise<void> => {
    const found = await work({ days, tallies, deps, context: await run.context() });
    notices.push(...found.notices);
    tallies = found.tallies;
  };
  if (rejected > 0 || cursor.again === true)
    await find((window) => findRejectedJobs(yesterday.startMs, window));
  if (byRule.size > 0) await find((window) => findWarnedJobs(new Set(byRule.keys()), window));
  return {
    notices: run.isFirst ? [] : notices,
    next: {
      tallies: Object.fromEntries(Object.entries(tallies).filter(([day]) => days.includes(day))),
      again: rejected > 0,
    },
  };
}

/**
 * Finds subjects with jobs that owners do not know.
 *
 * @param pick - the part of the counts that a notice reports: only this part becomes known to owners
 */
async function findNews(
  subjects: readonly string[],
  pick: (counts: JobCounts, subject: string) => JobCounts,
  { days, tallies, deps: { usage } }: Pick<JobsWindow, 'days' | 'tallies' | 'deps'>,
  as?: string,
): Promise<{ readonly news: readonly SubjectNews[]; readonly tallies: Tallies }> {
  const keys = subjects.flatMap((subject) => days.map((day) => ({ subject, day })));
  const read = await inPieces(keys, (some) => usage.readUsage(some));
  const next: Record<string, Record<string, JobCounts>> = {};
  for (const [day, known] of Object.entries(tallies)) next[day] = { ...known };
  const news = subjects.map((subject, at): SubjectNews => {
    let [rejected, before] = [0, 0];
    const byRule = new Map<string, number>();
    for (const [index, day] of days.entries()) {
      const { rejected: all, watchedBy } = usageOf(read[at * days.length + index] ?? new Map());
      const now = pick({ rejected: all, warned: Object.fromEntries(watchedBy) }, subject);
      const known = next[day]?.[as ?? subject];
      const warned = Object.entries(now.warned ?? {});
      before +=
        (now.rejected === undefined ? 0 : (known?.rejected ?? 0)) +
        sumOf(warned.map(([rule]) => known?.warned?.[rule] ?? 0));
      rejected += Math.max(0, (now.rejected ?? 0) - (known?.rejected ?? 0));
      for (const [rule, jobs] of warned) {
        const more = jobs - (known?.warned?.[rule] ?? 0);
        if (more > 0) byRule.set(rule, (byRule.get(rule) ?? 0) + more);
      }
      // Most subjects have no jobs to keep. A count that fell back to 0 is kept.
      if (known === undefined && !now.rejected && warned.every(([, jobs]) => jobs === 0)) continue;
      const counts = { ...known, ...now, ...(now.warned && { warned: { ...known?.warned, ...now.warned } }) };
      next[day] = { ...next[day], [as ?? subject]: counts };
    }
    const more = rejected + sumOf([...byRule.values()]);
    return { subject, rejected, byRule, id: `${subject}:${days[0]}:${before}+${more}` };
  });
  return { news: news.filter(({ rejected, byRule }) => rejected > 0 || byRule.size > 0), tallies: next };
}

const sumOf = (counts: readonly number[]): number => counts.reduce((total, each) => total + each, 0);

async function inPieces<Key, Value>(
  keys: readonly Key[],
  read: (some: readonly Key[]) => Promise<readonly Value[]>,
): Promise<readonly Value[]> {
  const values: Value[] = [];
  for (let start = 0; start < keys.length; start += PIECE)
    for (const value of await read(keys.slice(start, start + PIECE))) values.push(value);
  return values;
}

/** @throws {LedgerError} */
async function findRejectedJobs(sinceMs: number, window: JobsWindow): Promise<FoundJobs> {
  const { usage, ledger } = window.deps;
  const groups = await findGroups(sinceMs, window);
  const { news, tallies } = await findNews(groups, ({ rejected = 0 }) => ({ rejected }), window);
  const lists = await inPieces(news, (some) => usage.readRejections(some.map(({ subject }) => subject)));
  let left = RECORDS_MAX;
  const notices: Notice[] = [];
  for (const [index, group] of news.entries()) {
    const wanted = Math.min(group.rejected, RECORDS_PER_GROUP_MAX, left);
    left -= wanted;
    const ids = (lists[index]?.jobs ?? []).slice(0, wanted).map(({ jobId }) => jobId);
    const found = ids.length === 0 ? [] : await ledger.readRecords(ids);
    const records = found.filter((record) => record !== undefined).filter(wasRejected);
    notices.push(rejectedNotice(group, records, window.context));
  }
  return { notices, tallies };
}

/**
 * Lists the groups whose limits name an owner, and the top-level groups of the latest rejected jobs that are in no such group.
 * Their counts are exact, and say which of them have new jobs.
 */
async function findGroups(
  sinceMs: number,
  { context, deps: { usage, ledger } }: JobsWindow,
): Promise<readonly string[]> {
  const isOwned = (group: string): boolean => findOwnRecipient(group, context) !== undefined;
  const groups = new Set(
    [...limitsBySubject(context)].flatMap(([subject]) =>
      subject.startsWith('group/') && !subject.includes('/each/') && isOwned(subject) ? [subject] : [],
    ),
  );
  const [all] = await usage.readRejections(['instance']);
  const ids = (all?.jobs ?? []).flatMap(({ jobId, atMs }) => (atMs >= sinceMs ? [jobId] : []));
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
  { subject, rejected: jobs, id }: SubjectNews,
  records: readonly JobRecord[],
  context: NoticeContext,
): Notice {
  const { directory } = context;
  const causes = listCauses(records, subject, context);
  const ran = records.filter(ranRejected).length;
  const of = records.length < jobs && records.length > 0 ? `Of the latest ${records.length}: ` : '';
  return aNotice('jobs-rejected', subject, context, {
    id: `rejected:${id}`,
    lines: [
      `${countText(jobs, 'job')} of ${subjectLabel(subject, directory)} ${jobs === 1 ? 'was' : 'were'} rejected.`,
      ...(ran > 0 ? [`${of}${ran} ran all the same: in dry_run GitLab ignores rejections`] : []),
      ...causes.map((cause) => `${of}${cause}`),
    ],
    examples: records.slice(0, EXAMPLES_MAX).map(({ jobId, facts: { jobName, projectId } }) => {
      // A request may claim any path; the id decides.
      const path = directory?.projectById.get(projectId ?? 0)?.path;
      const name = jobName === undefined ? '' : ` "${cutName(jobName)}"`;
      const where = path === undefined ? '' : ` in ${cutName(path)}`;
      return { text: `Job ${jobId}${name}${where}`, page: jobPagePath(jobId) };
    }),
    facts: { jobs, looked: records.length, ran, causes: causes.join('; ') },
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
  return [...jobs]
    .sort(([, a], [, b]) => b - a)
    .slice(0, CAUSES_MAX)
    .map(([text, count]) => `${text}: ${count}`);
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
 * policy in that mode. Counts are per rule, and a job counts under each. They include jobs that a limit in `shadow` would have
 * rejected by the same rule.
 *
 * @param moved - rules under which the instance has more jobs.
 * @throws {LedgerError}
 */
async function findWarnedJobs(moved: ReadonlySet<string>, window: JobsWindow): Promise<FoundJobs> {
  const { context } = window;
  const warnings = findWarnings(context, moved);
  const pick = ({ warned = {} }: JobCounts, subject: string): JobCounts => {
    const rules = [...(warnings.get(subject)?.rules ?? [])];
    return { warned: Object.fromEntries(rules.map((rule) => [rule, warned[rule] ?? 0])) };
  };
  const { news, tallies } = await findNews([...warnings.keys()].slice(0, SUBJECTS_MAX), pick, window);
  return {
    notices: news.map((each) => warnedNotice(each, warnings.get(each.subject)?.limit, context)),
    tallies,
  };
}

/** Rules that warn on each subject, and the first limit that does. */
function findWarnings(context: NoticeContext, moved: ReadonlySet<string>) {
  const limitRules = new Set<string>(Object.values(ASKED_BY));
  const ofPolicy = context.policy.rules.filter(
    ({ id, kind, mode }) => mode === 'warn' && !limitRules.has(kind) && moved.has(id),
  );
  const found = new Map<
    string,
    { readonly rules: ReadonlySet<string>; readonly limit: string | undefined }
  >();
  for (const [subject, all] of limitsBySubject(context)) {
    const warning = all.map((limit) => ({ limit, rules: warningRules(limit, context, moved) }));
    const rules = new Set(warning.flatMap((each) => each.rules));
    if (ofPolicy.length > 0 && findOwnRecipient(subject, context) !== undefined)
      for (const { id } of ofPolicy) rules.add(id);
    const limit = warning.find((each) => each.rules.length > 0)?.limit.id;
    if (rules.size > 0) found.set(subject, { rules, limit });
  }
  return found;
}

/** Rules that check this limit and only warn. */
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
  { subject, byRule, id }: SubjectNews,
  limit: string | undefined,
  context: NoticeContext,
): Notice {
  const rules = [...byRule].sort(([, a], [, b]) => b - a);
  const most = rules[0]?.[1] ?? 0;
  const perRule = rules
    .slice(0, CAUSES_MAX)
    .map(([rule, jobs]) => `${cutName(rule)} ${jobs}`)
    .join(', ');
  const jobs = `${rules.length > 1 ? 'At least ' : ''}${countText(most, 'job')} of ${subjectLabel(subject, context.directory)}`;
  return aNotice('jobs-warned', subject, context, {
    to: findRecipient(subject, limit, context),
    id: `warned:${id}`,
    lines: [
      `${jobs} would have been rejected if the rules that only warn were enforced. By rule: ${perRule}.`,
    ],
    page: shadowPagePath(subject),
    facts: { jobs: most, byRule: perRule },
  });
}

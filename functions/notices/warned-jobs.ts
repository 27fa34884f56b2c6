/**
 * Jobs that only a warning admitted: by limits in mode `warn`, by limits whose rule or rollout goes no further, and by rules of the
 * policy in that mode. Counts are per rule, and a job counts under each. They include jobs that a limit in `shadow` would have
 * rejected by the same rule.
 */
import { counterName } from '../../policies/claim.ts';
import type { Limit } from '../../policies/limits/limit.ts';
import { counterOf, limitAt } from '../../policies/limits/limits.ts';
import { leastMode, rolloutModes, rolloutPlaceOf } from '../../policies/rollout.ts';
import type { Rule } from '../../policies/rule.ts';
import { ASKED_BY } from '../../policies/units/unit.ts';
import { limitNameFirst } from '../../policies/units/unit-texts.ts';
import type { Counter } from '../core/ledger/index.ts';
import { shadowPagePath } from '../core/notify/console-links.ts';
import { findOwnRecipient, findRecipient, subjectLabel } from '../core/notify/recipient.ts';
import type { Tallies } from './cursor.ts';
import { findNews, type JobsWindow, type SubjectNews } from './job-counts.ts';
import { aNotice, countText, cutName, type Notice, wholeAmountText } from './notice.ts';
import { limitsBySubject, type NoticeContext } from './run.ts';

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

/** @param moved - rules under which the instance has more jobs. @throws {LedgerError} */
export async function findWarnedJobs(
  moved: ReadonlySet<string>,
  window: JobsWindow,
): Promise<{ readonly notices: readonly Notice[]; readonly tallies: Tallies }> {
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
      `${jobs} would have been rejected, were what only warns enforced. By rule: ${perRule}.`,
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
  const refused = over > 0 ? `; ${text(over)} would not have been let in` : '';
  return [`${limitNameFirst(limit)}: ${text(counter.committed)} of ${text(amount)} spent or held${refused}`];
}

/**
 * Jobs that only a warning kept from being rejected: by limits in mode `warn`, by limits whose rule or rollout goes no
 * further, and by rules of the policy in that mode. Counts are by rule, and a job counts under each; one that a limit in
 * `shadow` asked by the same rule would also have rejected cannot be told apart.
 */
import { type CounterKey, counterName } from '../../../policies/claim.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { counterOf, limitAt, limitsOfGroup, limitsOn } from '../../../policies/limits/limits.ts';
import { validAt } from '../../../policies/limits/period.ts';
import type { Mode } from '../../../policies/mode.ts';
import type { Policy } from '../../../policies/policy.ts';
import { leastMode, rolloutModes, rolloutPlaceOf } from '../../../policies/rollout.ts';
import type { Rule } from '../../../policies/rule.ts';
import { ASKED_BY } from '../../../policies/units/unit.ts';
import { limitNameFirst } from '../../../policies/units/unit-texts.ts';
import type { Counter } from '../../core/ledger/index.ts';
import { shadowPagePath } from '../../core/notify/console-links.ts';
import {
  findOwnRecipient,
  findRecipient,
  type Ownership,
  subjectLabel,
} from '../../core/notify/recipient.ts';
import type { Notice, ToldTally } from './notice.ts';
import { type NoticeFormat, name, noticeAmount, noticeCount } from './notice-format.ts';
import type { RejectedJobsContext, RejectedJobsNotices } from './rejected.ts';
import { newlyWarned, onlyWarned, sum, talliesNow, withTallies } from './tallies.ts';

/** Subjects looked at in one run: some two hundred batches of reads. */
const SUBJECTS_MAX = 10_000;
/** Limits whose figures are read for the messages of one run. */
const FIGURES_MAX = 400;
const RULES_MAX = 4;

/** What warns on a subject. */
interface Warns {
  readonly rules: ReadonlySet<string>;
  readonly limits: readonly Limit[];
}

/** @param moved - rules of which the whole instance has more. @throws {LedgerError} */
export async function noticesOfWarned(
  moved: ReadonlySet<string>,
  asked: RejectedJobsContext,
): Promise<RejectedJobsNotices> {
  const { cursor, days, usage, policy, telling } = asked;
  const ownership = await asked.known();
  const warning = warningOn(ownership, policy, moved, telling.nowMs);
  const subjects = [...warning.keys()].slice(0, SUBJECTS_MAX);
  const read = await talliesNow(subjects, days, usage);
  const now = new Map<string, ReadonlyMap<string, ToldTally>>();
  const newOn: { readonly subject: string; readonly byRule: ReadonlyMap<string, number> }[] = [];
  for (const [subject, byDay] of read) {
    const rules = warning.get(subject)?.rules ?? new Set();
    const only = new Map([...byDay].map(([day, tally]) => [day, onlyWarned(tally, rules)]));
    now.set(subject, only);
    const byRule = newlyWarned(subject, only, cursor);
    if (byRule.size > 0) newOn.push({ subject, byRule });
  }
  const limits = newOn.flatMap(({ subject }) => warning.get(subject)?.limits ?? []).slice(0, FIGURES_MAX);
  const counters = await countersOf(limits, asked);
  const notices = newOn.map(({ subject, byRule }): Notice => {
    const warns = warning.get(subject) ?? { rules: new Set(), limits: [] };
    const passes = [...(now.get(subject) ?? [])].map(([day, tally]) => ({
      kind: 'tally' as const,
      day,
      subject,
      tally,
    }));
    return { ...warnedNotice(subject, byRule, warns, counters, ownership, asked), passes };
  });
  return { notices, tallies: withTallies(cursor.tallies, days, now) };
}

function warningOn(
  ownership: Ownership,
  policy: Policy,
  moved: ReadonlySet<string>,
  nowMs: number,
): ReadonlyMap<string, Warns> {
  const counting = new Set<string>(Object.values(ASKED_BY));
  const everywhere = policy.rules.filter(
    ({ id, kind, mode }) => mode === 'warn' && !counting.has(kind) && moved.has(id),
  );
  const found = new Map<string, Warns>();
  for (const [subject, limits] of limitsBySubject(ownership, nowMs)) {
    const byLimit = limits.flatMap((limit) =>
      rulesWarning(limit, ownership, policy).flatMap(({ id }) => (moved.has(id) ? [{ id, limit }] : [])),
    );
    const byPolicy = findOwnRecipient(subject, ownership) === undefined ? [] : everywhere;
    const rules = new Set([...byLimit, ...byPolicy].map(({ id }) => id));
    if (rules.size > 0)
      found.set(subject, { rules, limits: [...new Set(byLimit.map(({ limit }) => limit))] });
  }
  return found;
}

/** Every subject that is asked for limits of its own, or for those its group has by default. */
export function* limitsBySubject(
  { limits, directory }: Ownership,
  nowMs: number,
): Generator<readonly [string, readonly Limit[]]> {
  for (const subject of limits.bySubject.keys()) {
    const group = subject.startsWith('group/')
      ? directory?.groupById.get(Number(subject.slice('group/'.length)))
      : undefined;
    yield [
      subject,
      group === undefined ? validAt(limitsOn(limits, subject), nowMs) : limitsOfGroup(limits, group, nowMs),
    ];
  }
  const hasDefaults = limits.personalDefault.length + (limits.groupDefaults?.all.length ?? 0) > 0;
  for (const group of (hasDefaults && directory?.groupById.values()) || []) {
    const subject = `group/${group.id}`;
    if (limits.bySubject.has(subject)) continue;
    const inherited = limitsOfGroup(limits, group, nowMs);
    if (inherited.length > 0) yield [subject, inherited];
  }
}

/** The rules that ask a limit and go as far as to warn, no further. */
function rulesWarning(limit: Limit, { limits, directory }: Ownership, { rules }: Policy): readonly Rule[] {
  if (limit.amount === 'unlimited') return [];
  const rollout = rolloutModes(rolloutPlaceOf(limit.subject, directory), limits);
  const modeOf = (rule: Rule): Mode => leastMode(limit.mode, leastMode(rule.mode, rollout[rule.class]));
  return rules.filter((rule) => rule.kind === ASKED_BY[limit.kind] && modeOf(rule) === 'warn');
}

async function countersOf(
  limits: readonly Limit[],
  { ledger, telling }: RejectedJobsContext,
): Promise<ReadonlyMap<string, Counter>> {
  const keys: readonly CounterKey[] = limits.map((limit) => counterOf(limit, telling.nowMs));
  const counters = keys.length === 0 ? [] : await ledger.readCounters(keys);
  return new Map(counters.map((counter) => [counterName(counter.key), counter]));
}

function warnedNotice(
  subject: string,
  byRule: ReadonlyMap<string, number>,
  { limits }: Warns,
  counters: ReadonlyMap<string, Counter>,
  ownership: Ownership,
  { cursor, days, telling }: RejectedJobsContext,
): Notice {
  const label = subjectLabel(subject, ownership.directory);
  const rules = [...byRule].sort(([, a], [, b]) => b - a);
  const most = Math.max(...byRule.values());
  const before = days.map((day) =>
    sum(rules.map(([rule]) => cursor.tallies[day]?.[subject]?.warned?.[rule] ?? 0)),
  );
  const told = rules.map(([rule, jobs]) => `${name(rule)} ${jobs}`).slice(0, RULES_MAX);
  return {
    to: findRecipient(subject, limits[0]?.id, ownership),
    id: `warned:${subject}:${days[0]}:${before.join('+')}+${sum([...byRule.values()])}`,
    kind: 'jobs-warned',
    subject,
    label,
    lines: [
      `${rules.length > 1 ? 'At least ' : ''}${noticeCount(most, 'job')} of ${label} would have been rejected, were what only warns enforced. By rule: ${told.join(', ')}.`,
      ...limits.slice(0, RULES_MAX).flatMap((limit) => figureOf(limit, counters, telling)),
    ],
    page: shadowPagePath(subject),
    facts: { jobs: most, byRule: told.join(', ') },
  };
}

function figureOf(
  limit: Limit,
  counters: ReadonlyMap<string, Counter>,
  telling: NoticeFormat,
): readonly string[] {
  const counter = counters.get(counterName(counterOf(limit, telling.nowMs)));
  const inForce = limitAt(limit, telling.nowMs).amount;
  if (counter === undefined || inForce === 'unlimited') return [];
  const over = counter.committed - counter.fitted;
  const refused = over > 0 ? `; ${noticeAmount(over, limit.unit, telling)} would not have been let in` : '';
  return [
    `${limitNameFirst(limit)}: ${noticeAmount(counter.committed, limit.unit, telling)} of ${noticeAmount(inForce, limit.unit, telling)} spent or held${refused}`,
  ];
}

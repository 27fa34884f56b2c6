import { type CounterKey, counterName } from '../../policies/claim.ts';
import { type BreakGlass, breakGlassCounter } from '../../policies/limits/break-glass.ts';
import { DAY_MS } from '../../policies/limits/calendar.ts';
import type { Grant, Limit } from '../../policies/limits/limit.ts';
import { counterOf, limitAt, limitPeriod } from '../../policies/limits/limits.ts';
import { edgeText, instantText, relativeText } from '../../policies/text/edge-text.ts';
import { counted, limitName } from '../../policies/unit-texts.ts';
import { dayText, readDays, today } from '../answers/reading/usage-days.ts';
import { canRunOut, forecastOf, historySpan } from '../answers/status/outlook.ts';
import { BREAK_GLASS_PAGE } from '../core/notify/console-links.ts';
import { FINANCE, findRecipient, recipientKey, subjectLabel } from '../core/notify/recipient.ts';
import { isSent } from '../core/thresholds/alert-records.ts';
import { listForecastLevels } from '../core/thresholds/levels.ts';
import { createNotice, cutName, type Notice, quoteText, wholeAmountText } from './notice.ts';
import {
  type BreakGlassCheckpoint,
  type Cursor,
  type Findings,
  limitsBySubject,
  type NoticeContext,
  type NoticesDeps,
  type Run,
} from './run.ts';

const NEVER_MS = Number.MAX_SAFE_INTEGER;

/** Reads the limits at the first run of a set, and when something in it is due. */
export async function findDueNotices({ cursor, pointer, nowMs, deps, context }: Run): Promise<Findings> {
  const set = pointer?.set ?? 'packed';
  if (cursor.due?.set === set && nowMs < cursor.due.atMs) return { notices: [], next: {} };
  const now = await context();
  const grants = findEndingGrants(cursor.ending, now);
  const glasses = await findBreakGlasses(cursor.breakGlasses, now, deps.ledger);
  return {
    notices: [...grants.notices, ...glasses.notices],
    next: {
      due: { set, atMs: Math.min(grants.dueAtMs, glasses.dueAtMs, NEVER_MS) },
      ending: grants.ending,
      breakGlasses: glasses.breakGlasses,
    },
  };
}

/** A shorter grant was reported when it was given. */
const REPORT_BEFORE_END_MS = DAY_MS;

function findEndingGrants(sent: Cursor['ending'], context: NoticeContext) {
  const { nowMs, limits } = context;
  const notices: Notice[] = [];
  const ending = new Map(Object.entries(sent).filter(([, untilMs]) => untilMs > nowMs));
  let dueAtMs = Number.POSITIVE_INFINITY;
  for (const limit of [...limits.bySubject.values()].flat()) {
    for (const grant of limit.grants ?? []) {
      const { fromMs, untilMs } = grant;
      const reportAtMs = untilMs - REPORT_BEFORE_END_MS;
      const key = `${limit.subject}:${limit.id}:${grant.id ?? grant.amount}:${untilMs}`;
      if (untilMs <= nowMs || fromMs > reportAtMs || ending.has(key)) continue;
      if (nowMs < reportAtMs) dueAtMs = Math.min(dueAtMs, reportAtMs);
      else {
        ending.set(key, untilMs);
        notices.push(endingNotice(key, limit, grant, context));
      }
    }
  }
  return { notices, dueAtMs, ending: Object.fromEntries(ending) };
}

function endingNotice(key: string, limit: Limit, grant: Grant, context: NoticeContext): Notice {
  const { subject, id, unit, zone } = limit;
  const what = `${wholeAmountText(grant.amount, unit, context)} for the ${limitName(limit)} of ${subjectLabel(subject, context.directory)}`;
  const end = `${edgeText(grant.untilMs, 'end', zone)} (${relativeText(context.nowMs, grant.untilMs)})`;
  return createNotice('grant-ending', subject, context, {
    to: findRecipient(subject, id, context),
    id: `grant:${key}:ending`,
    lines: [`A grant of ${what} counts until ${end}.`, `It was given for ${quoteText(grant.reason)}`],
    facts: { limit: id, amount: grant.amount, unit, until: new Date(grant.untilMs).toISOString() },
  });
}

const REMIND_AFTER_MS = DAY_MS;
const HOUR_MS = 3_600_000;
const NOTHING_SENT: BreakGlassCheckpoint = { used: 0, reviews: 0, atMs: 0 };

/** Admitted jobs go to the owner in every run; a missing review to owner and finance once a day. */
async function findBreakGlasses(
  sent: Cursor['breakGlasses'],
  context: NoticeContext,
  ledger: NoticesDeps['ledger'],
) {
  const { nowMs, limits } = context;
  const all = limits.breakGlasses ?? [];
  const begun = all.filter(({ fromMs }) => fromMs <= nowMs);
  // A reviewed one that is over is read once more if its last jobs may be unreported.
  const active = begun.filter(
    ({ id, reviewed, untilMs }) => reviewed === undefined || nowMs < untilMs || sent[id],
  );
  const keysOf = active.map((glass) => listCounters(glass, nowMs));
  const committedOf = await readCommitted(keysOf.flat(), ledger);
  const notices: Notice[] = [];
  const breakGlasses: Record<string, BreakGlassCheckpoint> = {};
  let dueAtMs = Math.min(NEVER_MS, ...all.flatMap(({ fromMs }) => (fromMs > nowMs ? [fromMs] : [])));
  for (const [at, glass] of active.entries()) {
    const before = sent[glass.id] ?? NOTHING_SENT;
    const used = (keysOf[at] ?? []).reduce((sum, key) => sum + committedOf(key), 0);
    const isOver = nowMs >= glass.untilMs;
    if (used > before.used) notices.push(usedNotice(glass, before.used, used, context));
    let { reviews, atMs } = before;
    if (isOver && glass.reviewed === undefined && nowMs - atMs >= REMIND_AFTER_MS) {
      reviews += 1;
      atMs = nowMs;
      notices.push(...reviewNotices(glass, used, reviews, context));
    }
    if (isOver && glass.reviewed !== undefined) continue;
    breakGlasses[glass.id] = { used, reviews, atMs };
    dueAtMs = Math.min(dueAtMs, isOver ? atMs + REMIND_AFTER_MS : nowMs);
  }
  return { notices, dueAtMs, breakGlasses };
}

/** Returns the committed amount of each counter; 0 for those that do not exist. */
async function readCommitted(keys: readonly CounterKey[], ledger: NoticesDeps['ledger']) {
  const counters = keys.length === 0 ? [] : await ledger.readCounters(keys);
  const committed = new Map(counters.map((counter) => [counterName(counter.key), counter.committed]));
  return (key: CounterKey): number => committed.get(counterName(key)) ?? 0;
}

/** One per period so far: a break-glass lasts seven days at most. */
function listCounters(glass: BreakGlass, nowMs: number): readonly CounterKey[] {
  const lastMs = Math.min(nowMs, glass.untilMs - 1);
  const keys = new Map<string, CounterKey>();
  for (let atMs = glass.fromMs; atMs < lastMs + HOUR_MS; atMs += HOUR_MS) {
    const key = breakGlassCounter(glass, Math.min(atMs, lastMs));
    keys.set(key.period, key);
  }
  return [...keys.values()];
}

function usedNotice(glass: BreakGlass, from: number, to: number, context: NoticeContext): Notice {
  const { id, subject, untilMs, jobs, per } = glass;
  const most = `${counted(jobs, 'job')}${per === 'once' ? '' : ` per ${per}`}`;
  const soFar = `${to.toLocaleString('en-US')} so far, at most ${most} until ${instantText(untilMs, context.zone)}`;
  return createNotice('break-glass-used', subject, context, {
    id: `break-glass:${id}:used:${to}`,
    lines: [
      `${counted(to - from, 'job')} of ${subjectLabel(subject, context.directory)} passed its limits by break-glass: ${soFar}.`,
      reasonLine(glass),
    ],
    page: BREAK_GLASS_PAGE,
    facts: { breakGlass: id, jobs: to - from, used: to, jobsMax: jobs },
  });
}

function reviewNotices(
  glass: BreakGlass,
  used: number,
  reviews: number,
  context: NoticeContext,
): readonly Notice[] {
  const { id, subject, untilMs } = glass;
  const ended = `ended on ${instantText(untilMs, context.zone)} and let ${counted(used, 'job')} pass`;
  const owner = findRecipient(subject, undefined, context);
  const recipients = recipientKey(owner) === recipientKey(FINANCE) ? [owner] : [owner, FINANCE];
  return recipients.map((to) =>
    createNotice('break-glass-review', subject, context, {
      to,
      id: `break-glass:${id}:review:${reviews}`,
      lines: [
        `The break-glass of ${subjectLabel(subject, context.directory)} ${ended}. It is not reviewed yet.`,
        reasonLine(glass),
      ],
      page: BREAK_GLASS_PAGE,
      facts: { breakGlass: id, used },
    }),
  );
}

const reasonLine = ({ by, reason }: BreakGlass): string =>
  `Opened${by === undefined ? '' : ` by ${cutName(by)}`}: ${quoteText(reason)}`;

const LIMITS_MAX = 1_000;

/** Forecasts for the end of the period that reach a level of their limit. Read once a day. */
export async function findForecastNotices({ cursor, deps, nowMs, context }: Run): Promise<Findings> {
  const { zone, ledger, usage, alerts } = deps;
  const now = today(zone, nowMs);
  const day = dayText(now);
  if (cursor.forecastDay === day) return { notices: [], next: {} };
  const read = await context();
  const watched = [...limitsBySubject(read)]
    .flatMap(([subject, limits]) => limits.map((limit) => ({ subject, limit: limitAt(limit, nowMs) })))
    .filter(({ limit }) => listForecastLevels(limit).length > 0 && canRunOut(limit))
    .slice(0, LIMITS_MAX);
  const committedOf = await readCommitted(
    watched.map(({ limit }) => counterOf(limit, nowMs)),
    ledger,
  );
  const subjects = watched.map(({ subject }) => subject);
  const days = await readDays(subjects, historySpan(now), usage);
  const reached = watched.flatMap(({ subject, limit }) => {
    const { id, kind, unit, amount } = limit;
    const period = limitPeriod(limit, nowMs);
    if (amount === 'unlimited' || period === undefined) return [];
    const committed = committedOf(counterOf(limit, nowMs));
    const times = { nowMs, endMs: period.endMs, zone: limit.zone };
    const left = amount - committed;
    const forecast = forecastOf({ usage: days.get(subject) ?? [], kind, committed, left, ...times });
    const atEnd = Math.max(committed, forecast?.atEndAmount ?? 0);
    const level = listForecastLevels(limit).findLast((each) => atEnd >= each.amount);
    if (level === undefined) return [];
    const key = { subject, limit: id, period: period.key };
    const to = findRecipient(limit.subject, id, read);
    const text = (whole: number): string => wholeAmountText(whole, unit, read);
    const what = `the ${limitName(limit)} of ${subjectLabel(limit.subject, read.directory)}`;
    const measured = { measure: 'forecast', limitAmount: amount } as const;
    const alerted = { ...measured, level: level.name, levelAmount: level.amount, owner: to.owner };
    const notice = createNotice('forecast-reached', limit.subject, read, {
      to,
      id: `forecast:${limit.subject}:${id}:${period.key}:${amount}:${level.name}`,
      lines: [
        `At the pace of the last weeks ${what} comes to ${text(atEnd)} of ${text(amount)} by the end of ${period.label} (alert at ${level.name}).`,
      ],
      alert: { key, level: alerted },
      facts: { limit: id, level: level.name, forecast: atEnd, amount, unit },
    });
    return [{ key, level, ...measured, notice }];
  });
  const records = await alerts.read(reached.map(({ key }) => ({ of: 'forecasts', key })));
  const unsent = reached.filter((each, at) => !isSent(each, records[at] ?? []));
  return { notices: unsent.map(({ notice }) => notice), next: { forecastDay: day } };
}

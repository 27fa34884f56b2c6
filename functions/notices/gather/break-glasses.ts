import { type CounterKey, counterName } from '../../../policies/claim.ts';
import { type BreakGlass, breakGlassCounter } from '../../../policies/limits/break-glass.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { BREAK_GLASS_PAGE } from '../../core/notify/console-links.ts';
import {
  FINANCE,
  findRecipient,
  type Ownership,
  recipientKey,
  subjectLabel,
} from '../../core/notify/recipient.ts';
import type { Cursor, ToldBreakGlass } from './cursor.ts';
import type { DueContext, DueNotices } from './due-asked.ts';
import type { Notice } from './notice.ts';
import { type NoticeFormat, name, noticeCount, noticeInstant, quotedWords } from './notice-format.ts';

/** As long as nobody has looked at what was done with it, somebody is asked to. */
const ASKED_AGAIN_AFTER_MS = DAY_MS;
const STEP_MS = { hour: 3_600_000, day: DAY_MS, once: Number.POSITIVE_INFINITY } as const;
/** One may be open for seven days: so many hours, and one that was begun. */
const PERIODS_MAX = 7 * 24 + 1;
const NOTHING_TOLD: ToldBreakGlass = { used: 0, reviews: 0, atMs: 0 };

/** Jobs let in go to the owner, every run; what waits for a review to the owner and finance, once a day. */
export async function noticesOfBreakGlasses(
  told: Cursor['breakGlasses'],
  ownership: Ownership,
  { ledger, telling }: Pick<DueContext, 'ledger' | 'telling'>,
): Promise<DueNotices & Pick<Cursor, 'breakGlasses'>> {
  const { nowMs } = telling;
  const all = ownership.limits.breakGlasses ?? [];
  // What was reviewed and is over says nothing more, unless its last jobs were not told.
  const looked = all.filter(
    (glass) =>
      glass.fromMs <= nowMs && (glass.reviewed === undefined || nowMs < glass.untilMs || told[glass.id]),
  );
  const begins = all.filter(({ fromMs }) => fromMs > nowMs).map(({ fromMs }) => fromMs);
  const usedBy = await usedOf(looked, nowMs, ledger);
  const notices: Notice[] = [];
  const next: Record<string, ToldBreakGlass> = {};
  let dueAtMs = Math.min(Number.POSITIVE_INFINITY, ...begins);
  for (const glass of looked) {
    const before = told[glass.id] ?? NOTHING_TOLD;
    const used = usedBy(glass);
    const over = nowMs >= glass.untilMs;
    if (used > before.used) notices.push(usedNotice(glass, before.used, used, ownership, telling));
    let { reviews, atMs } = before;
    if (over && glass.reviewed === undefined && nowMs - atMs >= ASKED_AGAIN_AFTER_MS) {
      reviews += 1;
      atMs = nowMs;
      notices.push(...reviewNotices(glass, used, reviews, ownership, telling));
    }
    if (glass.reviewed !== undefined && over) continue;
    next[glass.id] = { used, reviews, atMs };
    dueAtMs = Math.min(dueAtMs, over ? atMs + ASKED_AGAIN_AFTER_MS : nowMs);
  }
  return { notices, dueAtMs, breakGlasses: next };
}

/** Jobs each let in so far, over all periods. */
async function usedOf(
  glasses: readonly BreakGlass[],
  nowMs: number,
  ledger: DueContext['ledger'],
): Promise<(glass: BreakGlass) => number> {
  const keysOf = new Map(glasses.map((glass) => [glass.id, periodsOf(glass, nowMs)]));
  const keys = [...keysOf.values()].flat();
  if (keys.length === 0) return () => 0;
  const counters = await ledger.readCounters(keys);
  const committed = new Map(counters.map(({ key, committed }) => [counterName(key), committed]));
  return ({ id }) =>
    (keysOf.get(id) ?? []).reduce((sum, key) => sum + (committed.get(counterName(key)) ?? 0), 0);
}

function periodsOf(glass: BreakGlass, nowMs: number): readonly CounterKey[] {
  const lastMs = Math.min(nowMs, glass.untilMs - 1);
  const step = STEP_MS[glass.per];
  const keys = new Map<string, CounterKey>();
  for (let index = 0, atMs = glass.fromMs; atMs <= lastMs && index < PERIODS_MAX; index += 1, atMs += step)
    keys.set(breakGlassCounter(glass, atMs).period, breakGlassCounter(glass, atMs));
  const last = breakGlassCounter(glass, lastMs);
  keys.set(last.period, last);
  return [...keys.values()];
}

const perText = ({ jobs, per }: BreakGlass): string =>
  per === 'once' ? noticeCount(jobs, 'job') : `${noticeCount(jobs, 'job')} per ${per}`;

function usedNotice(
  glass: BreakGlass,
  from: number,
  to: number,
  ownership: Ownership,
  telling: NoticeFormat,
): Notice {
  const { id, subject, untilMs, reason } = glass;
  const label = subjectLabel(subject, ownership.directory);
  return {
    to: findRecipient(subject, undefined, ownership),
    id: `break-glass:${id}:used:${to}`,
    kind: 'break-glass-used',
    subject,
    label,
    lines: [
      `${noticeCount(to - from, 'job')} of ${label} passed its limits through broken glass: ${to.toLocaleString('en-US')} so far, at most ${perText(glass)} until ${noticeInstant(untilMs, telling)}.`,
      `It was broken${byText(glass)}: ${quotedWords(reason)}`,
    ],
    page: BREAK_GLASS_PAGE,
    facts: { breakGlass: id, jobs: to - from, used: to, jobsMax: glass.jobs, per: glass.per },
    passes: [{ kind: 'break-glass', id, used: to }],
  };
}

function reviewNotices(
  glass: BreakGlass,
  used: number,
  reviews: number,
  ownership: Ownership,
  telling: NoticeFormat,
): readonly Notice[] {
  const { id, subject, untilMs, reason } = glass;
  const label = subjectLabel(subject, ownership.directory);
  const owner = findRecipient(subject, undefined, ownership);
  const told = recipientKey(owner) === recipientKey(FINANCE) ? [owner] : [owner, FINANCE];
  return told.map((to) => ({
    to,
    id: `break-glass:${id}:review:${reviews}`,
    kind: 'break-glass-review',
    subject,
    label,
    lines: [
      `The break-glass of ${label} ended on ${noticeInstant(untilMs, telling)} and let ${noticeCount(used, 'job')} pass. Nobody has looked at it yet.`,
      `It was broken${byText(glass)}: ${quotedWords(reason)}`,
    ],
    page: BREAK_GLASS_PAGE,
    facts: { breakGlass: id, used, asked: reviews },
  }));
}

const byText = ({ by }: BreakGlass): string => (by === undefined ? '' : ` by ${name(by)}`);

/** Closes months some days after their end; what comes later is an adjustment. Sums come from usage days alone. */

import type { Directory } from '../../policies/directory.ts';
import { calendarDay, DAY_MS, dayNumber } from '../../policies/limits/calendar.ts';
import { dayText, today } from '../answers/reading/usage-days.ts';
import {
  closedDays,
  type DraftTerms,
  isClosable,
  LOOKED_BACK_MONTHS,
  monthAfter,
  monthDraft,
  monthOfDay,
  type StatementMonth,
} from '../answers/statement/month.ts';
import { atOnce, type LedgerClock, type Log } from '../core/environment/environment.ts';
import { eachRow, WHOLE } from '../core/sheets/sheet-rows.ts';
import type { SheetStore } from '../core/sheets/sheet-store.ts';
import { type ClosedStatement, type StatementChain, sealed } from '../core/statements/closed-statement.ts';

interface CloseMonthsDeps extends DraftTerms {
  readonly chain: StatementChain;
  readonly sheets: Pick<SheetStore, 'read'>;
  readonly directory: Directory;
  readonly clock: Pick<LedgerClock, 'nowMs' | 'monotonicMs'>;
  readonly log: Log;
}

const AT_ONCE = 16;
const TRIES_MAX = 5;

export const areMonthsDue = (lookedAtMs: number, nowMs: number): boolean =>
  Math.floor(lookedAtMs / DAY_MS) < Math.floor(nowMs / DAY_MS);

/** @param deadlineMs - what is not begun by then is left to the next run @throws {LedgerError} */
export async function closeMonths(deadlineMs: number, deps: CloseMonthsDeps) {
  const { chain, clock, log } = deps;
  const nowMs = clock.nowMs();
  const register = await chain.register();
  if (!areMonthsDue(register.lookedAtMs, nowMs)) return { closed: 0, left: 0, failed: 0 };
  const due = new Map<string, number>();
  let closed = 0;
  let left = 0;
  let failed = 0;
  const fail = (subject: string, error: unknown): void => {
    failed += 1;
    log.error('month not closed', { subject, error: String(error) });
  };
  await atOnce([...(await firstDays(nowMs, deps))], AT_ONCE, async ([subject, firstDay]) => {
    try {
      const last = (await chain.last(subject))?.statement;
      if (isClosable(nextMonth(last, firstDay, deps), deps.zone, nowMs)) due.set(subject, firstDay);
    } catch (error) {
      fail(subject, error);
    }
  });
  for (const subject of [...due.keys()].sort()) {
    if (clock.monotonicMs() >= deadlineMs) left += 1;
    else {
      try {
        closed += await closeGroup(subject, due.get(subject) ?? 0, nowMs, deps);
      } catch (error) {
        fail(subject, error);
      }
    }
  }
  if (left === 0 && failed === 0) await chain.noteLooked(await chain.register(), nowMs);
  return { closed, left, failed };
}

/** By subject, the first day of the first month with its jobs. Sheets name every group that had jobs, wherever it is now. */
async function firstDays(nowMs: number, { sheets, directory, zone }: CloseMonthsDeps) {
  const { year, month } = calendarDay(today(zone, nowMs));
  const months = Array.from({ length: LOOKED_BACK_MONTHS + 2 }, (_, back) =>
    dayNumber({ year, month: month - back, day: 1 }),
  );
  const first = new Map<string, number>([['instance', months[1] ?? 0]]);
  for (const { id, parentId } of directory.groupById.values())
    if (parentId === undefined) first.set(`group/${id}`, months[1] ?? 0);
  for (const day of months) {
    const span = dayText(day).slice(0, '2026-11'.length);
    const names = (['group', 'subject-class'] as const).map((kind) => ({ kind, span }));
    const [groups, classes] = await sheets.read(names, 'first');
    if (groups !== undefined)
      eachRow(groups.bytes, (id) => first.set(id === WHOLE ? 'instance' : `group/${id}`, day), { first: 0 });
    // Made of records each night: groups that were deleted before the hour of their jobs was packed are here alone.
    for (const name of classes?.names ?? []) {
      const [subject = ''] = name.split('\n');
      if (subject.startsWith('group/')) first.set(subject, day);
    }
  }
  for (const { id, personal } of directory.groupById.values()) if (personal) first.delete(`group/${id}`);
  return first;
}

const nextMonth = (
  last: ClosedStatement | undefined,
  firstDay: number,
  { fiscalStart }: Pick<CloseMonthsDeps, 'fiscalStart'>,
): StatementMonth =>
  last === undefined ? monthOfDay(firstDay, fiscalStart) : monthAfter(closedDays(last).to, fiscalStart);

async function closeGroup(subject: string, firstDay: number, nowMs: number, deps: CloseMonthsDeps) {
  const { chain } = deps;
  let closed = 0;
  let begin = firstDay;
  for (let tries = 0; tries < TRIES_MAX; ) {
    const chained = await chain.of(subject);
    const before = chained.map(({ statement }) => statement);
    const month = nextMonth(before.at(-1), begin, deps);
    if (!isClosable(month, deps.zone, nowMs)) return closed;
    const draft = await monthDraft(
      { subject, group: groupLabel(subject, before, deps), month, before, nowMs },
      deps,
    );
    if (draft === undefined) {
      // A chain begins with the first month that has something on it.
      begin = month.to + 1;
      continue;
    }
    const { last: number } = await chain.register();
    const statement = { number: number + 1, ...draft, previousSha256: chained.at(-1)?.sha256 ?? '' };
    if ((await chain.append(sealed(statement))) === 'written') closed += 1;
    else tries += 1;
  }
  return closed;
}

const groupLabel = (subject: string, before: readonly ClosedStatement[], { directory }: CloseMonthsDeps) =>
  subject === 'instance'
    ? 'all groups'
    : (directory.groupById.get(Number(subject.slice('group/'.length)))?.path ??
      before.at(-1)?.group ??
      subject);

/** Everything that happened since a cursor, and where the cursor then stands. */
import type { LimitPointer, StoredRequest } from '../../core/limits/index.ts';
import { noticesOfBreakGlasses } from './break-glasses.ts';
import type { Cursor } from './cursor.ts';
import type { DueContext } from './due-asked.ts';
import { noticesOfEdits } from './edits.ts';
import { noticesOfForecasts } from './forecasts.ts';
import { noticesOfEnding } from './grants-ending.ts';
import type { OwnershipReader } from './known.ts';
import type { Notice, ToldTally } from './notice.ts';
import type { NoticeFormat } from './notice-format.ts';
import type { NoticesDeps } from './notices-deps.ts';
import { noticesOfRejected, type RejectedJobsNotices } from './rejected.ts';
import { type DecisionHref, noticesOfRequests } from './requests.ts';
import {
  ALL,
  daysAt,
  firstKept,
  newlyRejected,
  newlyWarned,
  openDays,
  talliesNow,
  withoutDays,
  withTallies,
} from './tallies.ts';
import { noticesOfWarned } from './warned.ts';

interface GatherAsked {
  readonly cursor: Cursor;
  /** Nobody was ever told anything: what lies before now is known, what waits is told. */
  readonly first: boolean;
  readonly pointer: LimitPointer | undefined;
  readonly requests: readonly StoredRequest[];
  readonly known: OwnershipReader;
  readonly telling: NoticeFormat;
  readonly decisionPage: DecisionHref;
  readonly deps: NoticesDeps;
}

interface Gathered {
  readonly notices: readonly Notice[];
  readonly next: Cursor;
}

export async function gather(asked: GatherAsked): Promise<Gathered> {
  const { cursor, first, pointer, known, telling, deps } = asked;
  const { ledger, limitTable, log } = deps;
  const jobs = await noticesOfJobs(asked);
  const edits = await noticesOfEdits({ edit: cursor.edit, pointer, limitTable, known, telling, log });
  const requests = await noticesOfRequests(cursor.requests, asked.requests, {
    known,
    telling,
    first,
    decisionPage: asked.decisionPage,
  });
  const due = await noticesDue({ cursor, pointer, known, ledger, telling });
  const ahead = await noticesOfForecasts(cursor.forecasts, { known, ledger, usage: deps.usage, telling });
  const { due: dueNext, ...rest } = due.next;
  return {
    notices: [
      ...requests.notices,
      ...due.notices,
      ...ahead.notices,
      ...(first ? [] : jobs.notices),
      ...edits.notices,
    ],
    next: {
      ...cursor,
      ...rest,
      ...(dueNext !== undefined && { due: dueNext }),
      ...(ahead.forecasts !== undefined && { forecasts: ahead.forecasts }),
      edit: edits.edit,
      requests: requests.requests,
      tallies: jobs.tallies,
      ...(jobs.talliesSince !== undefined && { talliesSince: jobs.talliesSince }),
      again: jobs.again,
    },
  };
}

/** The counts of the whole instance say whether anybody's moved. */
async function noticesOfJobs(
  asked: GatherAsked,
): Promise<RejectedJobsNotices & { readonly again: boolean; readonly talliesSince: string | undefined }> {
  const { cursor, known, telling, deps } = asked;
  const { ledger, usage, policy, zone } = deps;
  const latest = daysAt(telling.nowMs, zone);
  const keys = latest.map(({ day }) => day);
  const all: ReadonlyMap<string, ToldTally> =
    (await talliesNow(['instance'], keys, usage)).get('instance') ?? new Map();
  const open = openDays(latest, all, cursor);
  const days = open.map(({ day }) => day);
  const byDay = new Map([...all].filter(([day]) => days.includes(day)));
  const sinceMs = open.at(-1)?.startMs ?? telling.nowMs;
  const told = { cursor, days, sinceMs, known, policy, ledger, usage, telling };
  const moved = newlyRejected(ALL, byDay, cursor) > 0;
  const rejected =
    moved || cursor.again === true ? await noticesOfRejected(told) : { notices: [], tallies: cursor.tallies };
  const rules = new Set(newlyWarned(ALL, byDay, cursor).keys());
  const warned =
    rules.size > 0
      ? await noticesOfWarned(rules, { ...told, cursor: { ...cursor, tallies: rejected.tallies } })
      : { notices: [], tallies: rejected.tallies };
  return {
    again: moved,
    notices: [...rejected.notices, ...warned.notices],
    tallies: withoutDays(withTallies(warned.tallies, keys, new Map([[ALL, all]])), latest),
    talliesSince: cursor.talliesSince ?? firstKept(latest),
  };
}

// What comes of the limits in force as time passes: grants that end soon, and glass that is broken.
interface DueTold {
  readonly notices: readonly Notice[];
  readonly next: Pick<Cursor, 'due' | 'ending' | 'breakGlasses'>;
}

/** The first run of a set, and those at which something in it is due, read the limits; the others read nothing. */
async function noticesDue(asked: DueContext): Promise<DueTold> {
  const { cursor, pointer, known, telling } = asked;
  const { due, ending, breakGlasses } = cursor;
  const set = pointer?.set ?? 'packed';
  if (due?.set === set && telling.nowMs < due.atMs)
    return { notices: [], next: { due, ending, breakGlasses } };
  const ownership = await known();
  const grants = noticesOfEnding(ending, ownership, telling);
  const glasses = await noticesOfBreakGlasses(breakGlasses, ownership, asked);
  return {
    notices: [...grants.notices, ...glasses.notices],
    next: {
      due: { set, atMs: Math.min(grants.dueAtMs, glasses.dueAtMs, NEVER_MS) },
      ending: grants.ending,
      breakGlasses: glasses.breakGlasses,
    },
  };
}

/** Infinity is no number in JSON. */
const NEVER_MS = Number.MAX_SAFE_INTEGER;

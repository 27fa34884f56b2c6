/** Edits of limits, for their pages: history, preview, requests, and the limits and exceptions that an edit can change. */
import { isRecord } from '../../../policies/document/reading.ts';
import { readInstant } from '../../../policies/document/values.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { counterOf, type LimitSet, limitsOn } from '../../../policies/limits/limits.ts';
import { isValidAt } from '../../../policies/limits/period.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { limitsByPlace } from '../../core/limits/change-rows.ts';
import type {
  BreakGlassState,
  ChangeRow,
  HistoryPage,
  HistoryQuery,
  LimitEdit,
  LogEntry,
} from '../../core/limits/edit-model.ts';
import type { LimitRequest, Requester } from '../../core/limits/edit-outcomes.ts';
import { exportedLimits } from '../../core/limits/limit-reads.ts';
import { isDecided, isOwn, requesterOf } from '../../core/limits/requests.ts';
import { mayApprove, mayBeSame } from '../../core/limits/rights.ts';
import { idOf, subjectOf } from '../../core/limits/subject-text.ts';
import {
  actingUser,
  type Caller,
  type CallerView,
  type ReadContext,
  readCallerView,
  readPlaces,
} from '../reading/context.ts';
import { formatSubjectLabel, type Scope, subjectsAbove } from '../reading/scope.ts';
import { readDays, today } from '../reading/usage-days.ts';
import { limitRows } from '../status/limit-row.ts';
import { historySpan } from '../status/outlook.ts';
import type { EditEffect, ExceptionRow, OwnLimit, PreviewAnswer, RequestRow } from './models.ts';

/** Leaves out rows of subjects that are not visible, and entries without other rows. */
export async function visibleHistory(
  query: HistoryQuery,
  scope: Scope,
  { limitEdits }: Pick<ReadContext, 'limitEdits'>,
): Promise<HistoryPage> {
  if (query.subject !== undefined && !scope.sees(query.subject)) return { entries: [] };
  const page = await limitEdits.history(query);
  return { ...page, entries: page.entries.flatMap((entry) => visibleEntry(entry, scope) ?? []) };
}

function visibleEntry(entry: LogEntry | undefined, scope: Scope): LogEntry | undefined {
  if (entry === undefined || scope.seesAll) return entry;
  const rows = entry.rows?.filter(({ subject }) => scope.sees(subject)) ?? [];
  return rows.length === 0 ? undefined : { ...entry, rows, count: rows.length };
}

export function editsOf(reading: ReadContext) {
  const scopeFor = async (caller: Caller): Promise<Scope> => (await readPlaces(reading, caller)).scope;
  return {
    history: async (query: HistoryQuery, caller: Caller): Promise<HistoryPage> =>
      visibleHistory(query, await scopeFor(caller), reading),
    edit: async (edit: number, caller: Caller): Promise<LogEntry | undefined> =>
      visibleEntry(await reading.limitEdits.edit(edit), await scopeFor(caller)),
    breakGlasses: async (caller: Caller): Promise<readonly BreakGlassState[]> => {
      const scope = await scopeFor(caller);
      const shown = (await reading.limitEdits.breakGlasses()).filter(({ subject }) => scope.sees(subject));
      const ids = [...new Set(shown.flatMap(({ users }) => users))];
      const names = ids.length === 0 ? undefined : await reading.userNames?.(ids);
      if (names === undefined) return shown;
      return shown.map((glass) => {
        const own = glass.users.flatMap((id) => (names.get(id) ? [[id, names.get(id)]] : []));
        return { ...glass, userNames: Object.fromEntries(own) };
      });
    },
    sight: async (caller: Caller): Promise<(subject: string) => boolean> => (await scopeFor(caller)).sees,
  };
}

/** Each costs up to a year of days; an import shows its first. */
const EFFECTS_MAX = 20;
const FIELDS: ReadonlySet<string> = new Set(['amount', 'unit', 'per', 'zone', 'from', 'until']);

/** Shows the effect of edits: their rows, and when each limit then runs out. Writes nothing. */
export const previewOf =
  (reading: ReadContext) =>
  async (edits: readonly LimitEdit[], base: string | undefined, caller: Caller): Promise<PreviewAnswer> => {
    const judged = await previewEdits(edits, base, caller, reading);
    if (judged.outcome !== 'valid') return judged;
    const { preview, view } = judged;
    const { document: _, theirs, limits, oversubscription, ...shown } = preview;
    const { sees } = view.scope;
    return {
      ...shown,
      set: view.set,
      ...(theirs !== undefined && { theirs: theirs.filter(({ subject }) => sees(subject)) }),
      oversubscription: oversubscription.filter(({ subject }) => sees(subject)),
      effects: await effectsOf(preview.rows, view, limits, reading),
    };
  };

export async function previewEdits(
  edits: readonly LimitEdit[],
  base: string | undefined,
  caller: Caller,
  reading: ReadContext,
) {
  const view = await readCallerView(reading, caller);
  const { sees } = view.scope;
  const foreign = edits.find((edit) => 'subject' in edit && !sees(edit.subject));
  if (foreign !== undefined && 'subject' in foreign)
    return { outcome: 'unknown_subject' as const, subject: foreign.subject };
  const preview = await reading.limitEdits.preview(edits, base);
  if (preview.outcome === 'invalid') return { ...preview, set: view.set };
  const hidden = preview.rows.find(({ subject }) => !sees(subject));
  return hidden === undefined
    ? { outcome: 'valid' as const, preview, view }
    : { outcome: 'unknown_subject' as const, subject: hidden.id ?? hidden.subject };
}

async function effectsOf(
  rows: readonly ChangeRow[],
  { limits: before, directory, nowMs }: CallerView,
  after: LimitSet,
  { counters: current, policy, usage: store, zone }: ReadContext,
): Promise<readonly EditEffect[]> {
  const changed = rows
    .filter(
      ({ about, field, whole }) =>
        (about === 'limit' && (FIELDS.has(field) || whole !== undefined)) || about === 'grant',
    )
    .map((row) => [`${row.subject}|${row.limit}`, row] as const);
  const pairs = [...new Map(changed).values()].slice(0, EFFECTS_MAX).map(({ subject, limit }) => {
    const [was, willBe] = [before, after].map((set) => limitsOn(set, subject).find(({ id }) => id === limit));
    // Carried amounts are not part of the document.
    const opened = willBe && { ...willBe, ...withoutAbsent({ opening: was?.opening ?? willBe.opening }) };
    return { subject, limit, was, willBe: opened };
  });
  const all = pairs.flatMap(({ was, willBe }) => [was, willBe].filter((each) => each !== undefined));
  const counters = await current.fresh(all.map((limit) => counterOf(limit, nowMs)));
  const subjects = pairs.map(({ subject }) => subject);
  const usage = await readDays(subjects, historySpan(today(zone, nowMs)), store);
  const basis = { directory, policy, counters, usage, nowMs };
  const [rowBefore, rowAfter] = [before, after].map((limits) => {
    const rowOf = limitRows({ ...basis, limits });
    return (limit: Limit | undefined) => limit && rowOf({ limit, byDefault: false });
  });
  return pairs.map(({ subject, limit, was, willBe }) => ({
    ...{ subject, path: formatSubjectLabel(subject, directory), limit },
    ...withoutAbsent({ before: rowBefore?.(was), after: rowAfter?.(willBe) }),
  }));
}

/** Lists requests that the caller filed, and those of the caller's groups, newest first. @throws {LedgerError} */
export const requestRows =
  (reading: ReadContext) =>
  async (caller: Caller): Promise<readonly RequestRow[]> => {
    const { by, all, view } = await requestsFor(caller, reading);
    const { limits, directory, scope, nowMs } = view;
    const shown = all
      .filter((request) => isOwn(request, by) || scope.sees(request.subject))
      .map((request) => {
        const own = scope.sees(request.subject) ? limitsOn(limits, request.subject) : [];
        return { request, limit: own.find(({ id }) => id === request.limit) };
      });
    const keys = shown.flatMap(({ limit }) => (limit === undefined ? [] : [counterOf(limit, nowMs)]));
    const counters = await reading.counters.fresh(keys);
    const rowOf = limitRows({ limits, directory, policy: reading.policy, counters, nowMs });
    return shown.map(({ request, limit }) => ({
      ...request,
      path: formatSubjectLabel(request.subject, directory),
      ...(limit !== undefined && { limitNow: rowOf({ limit, byDefault: false }) }),
      mayDecide: mayDecide(request, by, view),
      own: mayBeSame(requesterOf(request), by),
    }));
  };

/** Counts requests that the caller may decide. Reads no counters, because it is on every page. @throws {LimitsError} */
export const waitingOf =
  (reading: ReadContext) =>
  async (caller: Caller): Promise<number> => {
    const { by, all, view } = await requestsFor(caller, reading);
    return all.filter((request) => mayDecide(request, by, view)).length;
  };

async function requestsFor(caller: Caller, reading: ReadContext) {
  const by = actingUser(caller);
  const [all, view] = await Promise.all([reading.limitEdits.requests(by), readCallerView(reading, caller)]);
  return { by, all, view };
}

const mayDecide = (request: LimitRequest, by: Requester, view: CallerView): boolean =>
  !isDecided(request) &&
  view.nowMs < request.expiresAtMs &&
  !mayBeSame(requesterOf(request), by) &&
  mayApprove(request, by.rights, view);

/** Lists limits written on a subject itself, in force or not; empty if it is not visible. */
export const ownLimitsOf =
  (reading: ReadContext) =>
  async (subject: string, caller: Caller): Promise<readonly OwnLimit[]> => {
    const { scope } = await readPlaces(reading, caller);
    if (!scope.sees(subject)) return [];
    const own = limitsByPlace((await exportedLimits(reading.limitEdits)).limits).get(subject) ?? [];
    return own.map((limit) => {
      const { id, kind, unit, amount, per } = limit;
      const inForce = isValidAt(limit, reading.clock.nowMs());
      return { id, kind, unit, amount, inForce, ...withoutAbsent({ per }) };
    });
  };

type Entry = Readonly<Record<string, unknown>>;

const written = (value: unknown): string => (value === undefined || value === null ? '' : String(value));

const EXCEPTIONS = [
  {
    kind: 'grant',
    key: 'grants',
    what: (entry: Entry) =>
      `+${String(entry.amount).replace(/^\+/, '')} on ${String(entry.limit ?? idOf(entry))}`,
  },
  { kind: 'freeze', key: 'freezes', what: () => '' },
  {
    kind: 'breakglass',
    key: 'breakglass',
    what: (entry: Entry) => `${String(entry.jobs)} jobs, ${String(entry.per ?? 'once')}`,
  },
] as const;

/** Lists grants, freezes and break-glasses that have not ended, of a subject and everything above it, or all visible ones. */
export const exceptionsOf =
  (reading: ReadContext) =>
  async (subject: string | undefined, caller: Caller): Promise<readonly ExceptionRow[]> => {
    const { directory, scope } = await readPlaces(reading, caller);
    const levels = subject === undefined ? undefined : [subject, ...subjectsAbove(subject, directory)];
    const { document, limits } = await exportedLimits(reading.limitEdits);
    const nowMs = reading.clock.nowMs();
    return EXCEPTIONS.flatMap(({ kind, key, what }) => {
      const list: unknown = document[key];
      return (Array.isArray(list) ? list : []).flatMap((entry: unknown, index): readonly ExceptionRow[] => {
        const on = isRecord(entry) ? subjectOf(entry.on) : undefined;
        if (!isRecord(entry) || on === undefined || !scope.sees(on) || levels?.includes(on) === false)
          return [];
        const until = written(entry.until);
        const zone = zoneOf(kind, entry, limitsOn(limits, on));
        if (until !== '' && (readInstant(until, 'end', zone) ?? 0) <= nowMs) return [];
        return [
          {
            ...{ kind, id: written(entry.id ?? `${kind}-${index + 1}`), subject: on, what: what(entry) },
            ...{ from: written(entry.from), until, zone, reason: written(entry.reason) },
            by: written(entry.approved_by ?? entry.by),
          },
        ];
      });
    });
  };

/** Days of a grant are in the zone of its limit; other exceptions have their own zone. */
function zoneOf(kind: ExceptionRow['kind'], entry: Entry, limits: readonly Limit[]): string {
  if (kind === 'grant') return limits.find(({ id }) => id === (entry.limit ?? idOf(entry)))?.zone ?? 'UTC';
  return typeof entry.zone === 'string' ? entry.zone : 'UTC';
}

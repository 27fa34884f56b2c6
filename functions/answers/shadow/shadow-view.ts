/** Violations in shadow mode, from rollups and counters, without records. */
import { counterName } from '../../../policies/claim.ts';
import { counterOf } from '../../../policies/limits/limits.ts';
import type { DirectoryGroup } from '../../../policies/place/directory.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { type GroupRowsContext, groupRowSubject } from '../overview/group-rows.ts';
import type { ReadContext } from '../reading/reading.ts';
import { NOWHERE, scopeOf, subjectLabelOf } from '../reading/scope.ts';
import { placedChainOf } from '../reading/subjects-above.ts';
import { type DayUsage, dayText, readDays, today } from '../reading/usage-days.ts';
import type { Viewer } from '../reading/viewer.ts';
import { askedMode } from '../standing/asked-mode.ts';
import { type SubjectLimit, subjectLimitsBelow } from '../standing/group-limits.ts';
import type { LimitRow } from '../standing/model.ts';
import { allSubjectLimits, subjectRow } from '../standing/subject-rows.ts';
import { ranRejectedByRule, watchedByRule } from '../usage/rejections.ts';
import type { ShadowQuery, ShadowRow, ShadowView } from './model.ts';

const DAYS_DEFAULT = 14;
const DAYS_MAX = 62;
const ROWS_DEFAULT = 50;
const ROWS_MAX = 100;

/** @throws {LedgerError} of one page: the counters of its limits, and the days of each row. */
export const shadowViewOf =
  (reading: ReadContext) =>
  async (asked: ShadowQuery, viewer: Viewer): Promise<ShadowView> => {
    const [{ limits }, places = NOWHERE] = await Promise.all([reading.limits(), reading.places()]);
    const nowMs = reading.clock.nowMs();
    const scope = scopeOf(viewer.roles, places.directory);
    const from: GroupRowsContext = { limits, places, scope, nowMs };
    const subjects = subjectsAsked(asked, from, reading);
    const start = asked.cursor !== undefined && /^\d{1,7}$/.test(asked.cursor) ? Number(asked.cursor) : 0;
    const max = Math.min(ROWS_MAX, Math.max(1, asked.max ?? ROWS_DEFAULT));
    const days = Math.min(DAYS_MAX, Math.max(1, asked.days ?? DAYS_DEFAULT));
    const to = today(reading.zone, nowMs);
    const span = { from: to - days + 1, to };
    const shown = subjects.slice(start, start + max);
    return {
      currency: reading.policy.currency,
      nowMs,
      fromDay: dayText(span.from),
      toDay: dayText(span.to),
      rows: await rowsOf(shown),
      ...(start + max < subjects.length && { next: String(start + max) }),
      total: subjects.length,
    };

    async function rowsOf(some: readonly string[]): Promise<readonly ShadowRow[]> {
      const watched = some.map((subject) =>
        allSubjectLimits(subject, limits, places.directory, nowMs).filter((having) =>
          watches(having, from, reading),
        ),
      );
      const [counters, usage] = await Promise.all([
        reading.counters.fresh(watched.flat().map(({ limit }) => counterOf(limit, nowMs))),
        readDays(some, span, reading.usage),
      ]);
      return some.map((subject, index) => {
        const rows = (watched[index] ?? []).map((having) => {
          const { directory } = places;
          const row = subjectRow(having, {
            limits,
            directory,
            policy: reading.policy,
            counters,
            usage: [],
            nowMs,
          });
          const counter = counters.get(counterName(counterOf(having.limit, nowMs)));
          return { limit: row, refusedAmount: (counter?.committed ?? 0) - (counter?.fitted ?? 0) };
        });
        return shadowRow(subject, usage.get(subject) ?? [], rows, from, reading);
      });
    }
  };

function shadowRow(
  subject: string,
  days: readonly DayUsage[],
  limits: readonly { readonly limit: LimitRow; readonly refusedAmount: number }[],
  { places }: GroupRowsContext,
  { policy }: ReadContext,
): ShadowRow {
  const { owner, contact } = limits.find(({ limit }) => limit.owner !== undefined)?.limit ?? {};
  return {
    subject,
    path: subjectLabelOf(subject, places.directory),
    jobs: days.reduce((sum, { jobs }) => sum + jobs, 0),
    ranRejected: days.reduce((sum, day) => sum + day.ranRejected, 0),
    ranRejectedBy: ranRejectedByRule(days, policy),
    wouldFail: watchedByRule(days, policy),
    limits,
    ...withoutAbsent({ owner, contact }),
  };
}

/** Lists the requested top, one level below a named group, and subjects with shadow limits. */
function subjectsAsked(
  { group, project }: Pick<ShadowQuery, 'group' | 'project'>,
  from: GroupRowsContext,
  reading: ReadContext,
): readonly string[] {
  const { places, scope } = from;
  if (project !== undefined) {
    const subject = `project/${project}`;
    return places.directory.projectById.has(project) && scope.sees(subject) ? [subject] : [];
  }
  if (group !== undefined && !scope.seesGroup(group)) return [];
  const isBelow = ({ id }: DirectoryGroup): boolean =>
    group === undefined || (places.directory.chainById.get(id) ?? []).some((each) => each.id === group);
  const tops = group === undefined ? [...scope.groupIds] : [group];
  const steps = group === undefined ? [] : (places.childrenOf.get(group) ?? []).map(({ id }) => id);
  const watching = places.groups
    .filter((each) => isBelow(each) && scope.seesGroup(each.id))
    .filter((each) =>
      subjectLimitsBelow(each, from.limits, from.nowMs).some((having) => watches(having, from, reading)),
    )
    .map(groupRowSubject);
  const named = [...tops, ...steps]
    .filter((id) => places.directory.groupById.has(id))
    .map((id) => `group/${id}`);
  const first = group === undefined && scope.seesAll ? ['instance'] : [];
  return [...new Set([...first, ...named, ...watching])];
}

function watches(
  { limit }: SubjectLimit,
  { limits, places }: GroupRowsContext,
  { policy }: ReadContext,
): boolean {
  if (limit.amount === 'unlimited') return false;
  const mode = askedMode(limit, placedChainOf(limit.subject, places.directory), policy, limits);
  return mode === 'shadow' || mode === 'warn';
}

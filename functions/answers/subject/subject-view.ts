/**
 * One group, project, runner class or the instance. Reads: the counters of its limits, its days of nine months and since the
 * chart's limit began (at most a year), a list of projects a day, the sheets of four months at most, thirty records, a page of the log, and the rows of its children.
 */

import { CAP_KINDS, capSubject, placeOfSubject } from '../../../policies/limits/cap.ts';
import { limitsOn } from '../../../policies/limits/limits.ts';
import { runnerClassNames } from '../../../policies/prices/price.ts';
import { isForecastable } from '../../../policies/units/unit.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { RecountOutcome } from '../../core/ledger/index.ts';
import { zoneOfSubject } from '../../core/limits/index.ts';
import {
  agreementDays,
  type BudgetAgreement,
  budgetAgreement,
  firstOfMonth,
  groupSum,
} from '../../core/usage/index.ts';
import { viewerHistory } from '../history/viewer-history.ts';
import { rejectedJobs } from '../job/rejected-jobs.ts';
import { firstToRunOut, type GroupRowsContext, groupRows, meteredOf } from '../overview/group-rows.ts';
import { rightsOf } from '../reading/acting-user.ts';
import { poolKey } from '../reading/pools.ts';
import type { ReadContext } from '../reading/reading.ts';
import { NOWHERE, type Places, scopeOf, subjectLabelOf } from '../reading/scope.ts';
import { subjectsAbove } from '../reading/subjects-above.ts';
import { type DayUsage, readDays, today } from '../reading/usage-days.ts';
import type { Viewer } from '../reading/viewer.ts';
import { alertsOfLimits } from '../standing/alerts.ts';
import { freezeRows } from '../standing/freeze-rows.ts';
import { rowCounters } from '../standing/limit-row.ts';
import type { LimitRow } from '../standing/model.ts';
import { testedSpan } from '../standing/outlook.ts';
import { refusalsNow } from '../standing/refusals.ts';
import { allSubjectLimits, grantRows, subjectRow } from '../standing/subject-rows.ts';
import { usageView } from '../usage/usage-view.ts';
import { burnUpOf, chartDays } from './burn-up.ts';
import { limitsAbove } from './limits-above.ts';
import { subjectRightsOf } from './may.ts';
import type { SubjectQuery, SubjectView } from './model.ts';

const CHILDREN_MAX = 25;
const HISTORY_MAX = 20;

export const subjectViewOf =
  (reading: ReadContext) =>
  async (subject: string, asked: SubjectQuery, viewer: Viewer): Promise<SubjectView | undefined> => {
    const [{ set, limits }, places = NOWHERE] = await Promise.all([reading.limits(), reading.places()]);
    const { directory } = places;
    const { policy, zone } = reading;
    const nowMs = reading.clock.nowMs();
    const scope = scopeOf(viewer.roles, directory);
    const kind = kindOf(subject, reading, places);
    if (kind === undefined || !scope.sees(subject)) return undefined;

    const from: GroupRowsContext = { limits, places, scope, nowMs };
    const havings = allSubjectLimits(subject, limits, directory, nowMs);
    const [counters, alerts] = await Promise.all([
      reading.counters.fresh(havings.flatMap(({ limit }) => rowCounters(limit, limits, nowMs))),
      alertsOfLimits(havings, reading, nowMs),
    ]);
    const todayNumber = today(zone, nowMs);
    const monthFrom = firstOfMonth(zone, nowMs);
    // These rows have no usage and so no forecast, but each has its period, which says how far back to read.
    const bare = havings.map((having) =>
      subjectRow(having, { limits, directory, policy, counters, usage: [], nowMs }),
    );
    const starts = bare.flatMap((row) =>
      isForecastable(row.kind) ? (chartDays(row, todayNumber)?.from ?? todayNumber) : [],
    );
    const first = Math.min(testedSpan(todayNumber).from, monthFrom, ...starts);
    const usage =
      (await readDays([subject], { from: first, to: todayNumber }, reading.usage)).get(subject) ?? [];
    const refusals = await refusalsNow(new Map([[subject, usage]]), nowMs, reading);
    const made = { limits, directory, policy, counters, usage, alerts, refusals, tested: true, nowMs };
    const rows = havings.map((having) => subjectRow(having, made));
    const charted =
      rows.find(({ id }) => id === asked.limit) ??
      firstToRunOut(
        rows.filter((row) => row.inForce && row.amount !== 'unlimited' && isForecastable(row.kind)),
      );
    const burnUp = charted && burnUpOf(charted, usage, nowMs, todayNumber);
    const span = {
      from: (burnUp && charted && chartDays(charted, todayNumber)?.from) ?? monthFrom,
      to: todayNumber,
    };
    const children = subject.startsWith('group/')
      ? (places.childrenOf.get(Number(subject.slice(6))) ?? [])
      : [];
    const [used, latest, above, history, childRows, recount] = await Promise.all([
      usageView(subject, usage, span, {
        ...{ directory, policy, store: reading.usage },
        ...withoutAbsent({ sheets: reading.sheets }),
      }),
      rejectedJobs(subject, places, scope, reading),
      limitsAbove(subject, from, reading),
      viewerHistory({ subject, max: HISTORY_MAX }, scope, reading),
      groupRows(children.slice(0, CHILDREN_MAX), from, reading),
      reading.recounts?.read(),
    ]);
    const caps = CAP_KINDS.flatMap((each) => limitsOn(limits, capSubject(subject, each))).map((limit) =>
      subjectRow({ limit, byDefault: false }, { limits, directory, policy, counters, usage: [], nowMs }),
    );
    const pools = reading.pools(limits, directory);
    const { cost, capacity } = limits.rollouts.get(subject) ?? {};
    return {
      set,
      currency: policy.currency,
      nowMs,
      zone: zoneOfSubject(subject, { limits, directory, zone }),
      subject,
      kind,
      path: subjectLabelOf(subject, directory),
      above: subjectsAbove(subject, directory)
        .filter((each) => scope.sees(each))
        .reverse()
        .map((each) => ({ subject: each, path: subjectLabelOf(each, directory) })),
      limits: rows,
      caps,
      limitsAbove: above,
      pools: rows.flatMap(({ id }) => {
        const note = pools.get(poolKey(subject, id));
        return note === undefined ? [] : [{ ...note, limit: id }];
      }),
      ...(burnUp !== undefined && { burnUp }),
      agreements: rows.flatMap((row) => agreementOf(row, usage, reading, recount) ?? []),
      usage: { ...used, rejections: { ...used.rejections, latest } },
      grants: grantRows(havings, nowMs),
      freezes: freezeRows(subject, limits, directory, nowMs),
      ...((cost ?? capacity) !== undefined && { rollout: withoutAbsent({ cost, capacity }) }),
      history,
      children: childRows,
      childCount: children.length,
      ...(children.length > 0 && {
        childrenSum: groupSum(
          subject,
          meteredOf(usage, monthFrom),
          childRows.map(({ metered }) => metered),
          children.length,
        ),
      }),
      may: subjectRightsOf(subject, rightsOf(viewer.roles), { limits, directory, nowMs }),
    };
  };

/** Undefined: nothing of it adds up over days. */
function agreementOf(
  row: LimitRow,
  usage: readonly DayUsage[],
  { zone, clock }: ReadContext,
  recount: RecountOutcome | undefined,
): BudgetAgreement | undefined {
  const { settled, held } = row;
  const span = row.inForce ? agreementDays(row, zone, clock.nowMs()) : undefined;
  if (span === undefined || settled === undefined || held === undefined) return undefined;
  const days = usage.filter(({ number }) => number >= span.from && number <= span.to);
  return budgetAgreement({ ...row, settled, held }, { days, usageZone: zone, recount });
}

/** Undefined: there is no such subject. */
function kindOf(of: string, { policy }: ReadContext, { directory }: Places): SubjectView['kind'] | undefined {
  const subject = placeOfSubject(of);
  if (subject === 'instance') return 'instance';
  const slash = subject.indexOf('/');
  const [kind, name] = [subject.slice(0, slash), subject.slice(slash + 1)];
  if (kind === 'group' && directory.groupById.has(Number(name))) return kind;
  if (kind === 'project' && directory.projectById.has(Number(name))) return kind;
  if (kind === 'runner-class' && runnerClassNames(policy.prices).includes(name)) return kind;
  return undefined;
}

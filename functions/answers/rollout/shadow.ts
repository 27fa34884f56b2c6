/** Violations in mode shadow or warn, from days of usage and counters, without records; and the message to owners. */
import { counterName } from '../../../policies/claim.ts';
import { ancestorsOf } from '../../../policies/directory.ts';
import { counterOf } from '../../../policies/limits/limits.ts';
import type { Unit } from '../../../policies/unit.ts';
import { amountText, counted } from '../../../policies/unit-texts.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { subjectPagePath } from '../../core/notify/console-links.ts';
import { jobsByRuleOf } from '../groups/usage.ts';
import {
  type Caller,
  type CallerView,
  pageOf,
  type ReadContext,
  readCallerView,
} from '../reading/context.ts';
import { formatSubjectLabel, isWithin } from '../reading/scope.ts';
import { dayTexts, lastDays, readDays } from '../reading/usage-days.ts';
import { limitRows } from '../status/limit-row.ts';
import { allSubjectLimits, limitModes, limitsInForce, type SubjectLimit } from '../status/subject-limits.ts';
import { limitWords } from '../status/texts.ts';
import type { RolloutRow, ShadowQuery, ShadowRow, ShadowView } from './model.ts';

const DAYS = { usual: 14, max: 62 };
const ROWS = { usual: 50, max: 100 };

export const shadowViewOf =
  (reading: ReadContext) =>
  async (query: ShadowQuery, caller: Caller): Promise<ShadowView> => {
    const view = await readCallerView(reading, caller);
    const { limits, directory, nowMs } = view;
    const { policy } = reading;
    const modeOf = limitModes(policy, limits);
    const watches = ({ limit }: SubjectLimit): boolean =>
      limit.amount !== 'unlimited' &&
      ['shadow', 'warn'].includes(modeOf(limit, ancestorsOf(limit.subject, directory)));
    const subjects = subjectsToShow(query, view, watches);
    const page = pageOf(subjects, query, ROWS);
    const span = lastDays(reading.zone, nowMs, query.days, DAYS);
    const watched = new Map(
      page.rows.map((subject) => [subject, allSubjectLimits(subject, view).filter(watches)]),
    );
    const [counters, usage] = await Promise.all([
      reading.counters.fresh([...watched.values()].flat().map(({ limit }) => counterOf(limit, nowMs))),
      readDays(page.rows, span, reading.usage),
    ]);
    const rowOf = limitRows({ limits, directory, policy, counters, nowMs });
    return {
      ...{ currency: policy.currency, nowMs, ...dayTexts(span) },
      rows: [...watched].map(([subject, havings]): ShadowRow => {
        const used = usage.get(subject) ?? [];
        const rows = havings.map((having) => {
          const counter = counters.get(counterName(counterOf(having.limit, nowMs)));
          const refusedAmount = (counter?.committed ?? 0) - (counter?.fitted ?? 0);
          return { limit: rowOf(having), refusedAmount };
        });
        const { owner, contact } = rows.find(({ limit }) => limit.owner !== undefined)?.limit ?? {};
        return {
          subject,
          path: formatSubjectLabel(subject, directory),
          jobs: used.reduce((sum, { jobs }) => sum + jobs, 0),
          ranRejected: used.reduce((sum, { ranRejected }) => sum + ranRejected, 0),
          ranRejectedBy: jobsByRuleOf('ranRejectedBy', used, policy),
          wouldFail: jobsByRuleOf('watchedBy', used, policy),
          limits: rows,
          ...withoutAbsent({ owner, contact }),
        };
      }),
      ...page.next,
      total: subjects.length,
    };
  };

/** Lists the requested top, one level below a requested group, and groups with limits in mode shadow or warn. */
function subjectsToShow(
  { group, project }: ShadowQuery,
  view: CallerView,
  watches: (having: SubjectLimit) => boolean,
): readonly string[] {
  const { places, directory, scope } = view;
  if (project !== undefined) {
    const subject = `project/${project}`;
    return directory.projectById.has(project) && scope.sees(subject) ? [subject] : [];
  }
  if (group !== undefined && !scope.seesGroup(group)) return [];
  const all = places.groups.map(({ id }) => `group/${id}`);
  const watching = all.filter(
    (each) =>
      (group === undefined || isWithin(each, `group/${group}`, directory)) &&
      scope.sees(each) &&
      limitsInForce(each, view).some(watches),
  );
  const tops = group === undefined ? [...scope.groupIds] : [group];
  const children = places.childrenOf.get(group ?? 0)?.map(({ id }) => id) ?? [];
  const known = [...tops, ...children].filter((id) => directory.groupById.has(id));
  const first = group === undefined && scope.seesAll ? ['instance'] : [];
  return [...new Set([...first, ...known.map((id) => `group/${id}`), ...watching])];
}

export type OwnerMessage = ReturnType<typeof ownerMessage>;

export function ownerMessage(
  { path, jobs, ranRejected, wouldFail, limits, subject, ...named }: ShadowRow,
  { owner, contact }: Pick<RolloutRow, 'owner' | 'contact'>,
  format: { readonly days: number; readonly currency: string; readonly origin: string | undefined },
) {
  const { days, currency, origin } = format;
  const amountOf = (amount: number | 'unlimited', unit: Unit): string =>
    amount === 'unlimited' ? amount : amountText(amount, unit, currency);
  const lines = [
    `In the last ${days} days ${path} ran ${counted(jobs, 'CI job')}. ${WOULD_HAVE_FAILED}`,
    '',
    ...wouldFail.map(({ rule, jobs: count }) => `- ${rule}: ${counted(count, 'job')}`),
    ...limits.map(({ limit, refusedAmount }) => {
      const { amount, unit } = limit;
      return `- ${limitWords(limit)}, ${amountOf(amount, unit)}: ${amountOf(refusedAmount, unit)} too much`;
    }),
    ...(wouldFail.length + limits.length === 0 ? ['- none'] : []),
    '',
    ...(ranRejected > 0 ? [`${counted(ranRejected, 'job')} ${RAN_REJECTED}`, ''] : []),
    `${ranRejected > 0 ? ONLY_WATCHES : NOTHING_REJECTED}${origin === undefined ? '' : FIGURES}`,
    ...(origin === undefined ? [] : [`${origin}${subjectPagePath(subject)}`]),
  ];
  return {
    ...{ subject, path, owner: named.owner ?? owner },
    ...withoutAbsent({ contact: named.contact ?? contact }),
    title: `CI limits of ${path}: what would have failed`,
    text: lines.join('\n'),
  };
}

const WOULD_HAVE_FAILED = 'These would have failed, had every limit and rule been enforced:';
const RAN_REJECTED =
  'ran although rejected by what is enforced: the runner controller is in dry run, or was then. Armed, it would have failed them.';
const ONLY_WATCHES = 'Limits and rules in shadow mode reject no job yet.';
const NOTHING_REJECTED = 'Nothing was rejected: these limits only watch so far.';
const FIGURES = ' The figures, and how to ask for more:';

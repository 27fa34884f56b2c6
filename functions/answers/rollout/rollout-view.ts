/** Rollout steps of groups, from limits in force and rollup days, without records. */
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { RuleClass } from '../../../policies/mode.ts';
import { rolloutPlaceOf, rolloutSubjects } from '../../../policies/rollout.ts';
import {
  nextStep,
  ROLLOUT_CLASSES,
  ROLLOUT_DAYS_MAX,
  type RolloutStanding,
  rolloutNeeds,
  rolloutStanding,
} from '../../../policies/rollout-step.ts';
import { findRecipient } from '../../core/notify/recipient.ts';
import type { CurrentLimits } from '../reading/limits-now.ts';
import type { ReadContext } from '../reading/reading.ts';
import { NOWHERE, type Places, type Scope, scopeOf, subjectLabelOf } from '../reading/scope.ts';
import { type DayUsage, dayText, readDays, today } from '../reading/usage-days.ts';
import type { Viewer } from '../reading/viewer.ts';
import type { RolloutClassRow, RolloutQuery, RolloutRow, RolloutView } from './model.ts';

const ROWS_DEFAULT = 50;
const ROWS_MAX = 100;

/** @throws {LedgerError} of one page: four weeks of days of each row. */
export const rolloutOf =
  (reading: ReadContext) =>
  async (asked: RolloutQuery, viewer: Viewer): Promise<RolloutView> => {
    const [now, places = NOWHERE] = await Promise.all([reading.limits(), reading.places()]);
    const scope = scopeOf(viewer.roles, places.directory);
    const subjects =
      asked.subjects?.filter((subject) => isThere(subject, places) && scope.sees(subject)) ??
      subjectsListed(now.limits, places, scope);
    const start = asked.cursor !== undefined && /^\d{1,7}$/.test(asked.cursor) ? Number(asked.cursor) : 0;
    const max = Math.min(ROWS_MAX, Math.max(1, asked.max ?? ROWS_DEFAULT));
    const nowMs = reading.clock.nowMs();
    const to = today(reading.zone, nowMs);
    const span = { from: to - ROLLOUT_DAYS_MAX + 1, to };
    const shown = subjects.slice(start, start + max);
    const usage = await readDays(shown, span, reading.usage);
    const { set } = now;
    return {
      ...(set !== undefined && { set }),
      nowMs,
      fromDay: dayText(span.from),
      toDay: dayText(span.to),
      needs: reading.policy.rollout,
      rows: shown.map((subject) => rowOf(subject, usage.get(subject) ?? [], now, { places, scope, reading })),
      ...(start + max < subjects.length && { next: String(start + max) }),
      total: subjects.length,
    };
  };

/** A group or project that GitLab does not have cannot be moved anywhere. */
function isThere(subject: string, { directory: { groupById, projectById } }: Places): boolean {
  const [kind, id] = subject.split('/');
  if (kind === 'group') return groupById.has(Number(id));
  return kind === 'project' ? projectById.has(Number(id)) : subject === 'instance';
}

/** Lists the instance, top-level and the viewer's groups, and subjects with their own step, by path. */
function subjectsListed({ rollouts }: LimitSet, places: Places, scope: Scope): readonly string[] {
  const { directory } = places;
  const own = [...rollouts.keys()].filter((subject) => subject !== 'instance' && isThere(subject, places));
  const tops = [...scope.groupIds].map((id) => `group/${id}`).filter((subject) => isThere(subject, places));
  const all = [...new Set([...topGroups(places), ...tops, ...own])].filter((subject) => scope.sees(subject));
  const paths = new Map(all.map((subject) => [subject, subjectLabelOf(subject, directory)]));
  const byPath = (a: string, b: string): number => ((paths.get(a) ?? '') < (paths.get(b) ?? '') ? -1 : 1);
  return [...(scope.seesAll ? ['instance'] : []), ...all.sort(byPath)];
}

/** Personal namespaces follow the instance. */
const topGroups = ({ groups }: Places): readonly string[] =>
  groups.flatMap(({ id, parentId, personal }) =>
    parentId === undefined && !personal ? [`group/${id}`] : [],
  );

interface RowContext {
  readonly places: Places;
  readonly scope: Scope;
  readonly reading: ReadContext;
}

function rowOf(
  subject: string,
  days: readonly DayUsage[],
  { limits }: CurrentLimits,
  { places, scope, reading }: RowContext,
): RolloutRow {
  const { directory } = places;
  const { owner, contact } = findRecipient(subject, undefined, { limits, directory });
  const standings = standingsOf(subject, limits, places);
  return {
    subject,
    path: subjectLabelOf(subject, directory),
    classes: ROLLOUT_CLASSES.map((ruleClass) => {
      const standing = standings[ruleClass];
      const { from, ...shown } = standing;
      const next = nextStep(standing.step);
      const { days: daysWithJobs, ...counted } = countedOf(days, ruleClass, standing, reading);
      const nowMs = reading.clock.nowMs();
      const followers = subject === 'instance' ? followersOf(ruleClass, limits, places) : undefined;
      const facts = { ...counted, days: daysWithJobs, nowMs, ...(followers !== undefined && { followers }) };
      return {
        class: ruleClass,
        ...shown,
        // Groups above the viewer's are hidden.
        ...(from !== undefined && scope.sees(from) && { from, fromPath: subjectLabelOf(from, directory) }),
        ...(next !== undefined && { next }),
        days: daysWithJobs,
        ...counted,
        needs: rolloutNeeds(standing, facts, reading.policy.rollout),
      } satisfies RolloutClassRow;
    }),
    owner,
    ...(contact !== undefined && { contact }),
  };
}

function standingsOf(
  subject: string,
  { rollouts }: LimitSet,
  { directory }: Places,
): Readonly<Record<(typeof ROLLOUT_CLASSES)[number], RolloutStanding>> {
  const above = rolloutSubjects(rolloutPlaceOf(subject, directory));
  return {
    cost: rolloutStanding('cost', above, rollouts),
    capacity: rolloutStanding('capacity', above, rollouts),
  };
}

/** Groups at the top whose rules go as far as the instance says. */
const followersOf = (ruleClass: 'cost' | 'capacity', limits: LimitSet, places: Places): number =>
  topGroups(places).filter((subject) => standingsOf(subject, limits, places)[ruleClass].from !== subject)
    .length;

type Counted = Pick<RolloutClassRow, 'days' | 'jobs' | 'wouldFail' | 'coveragePercent'>;

function countedOf(
  all: readonly DayUsage[],
  ruleClass: RuleClass,
  { sinceMs }: RolloutStanding,
  { policy, zone }: ReadContext,
): Counted {
  const first = sinceMs === undefined ? Number.NEGATIVE_INFINITY : today(zone, sinceMs);
  const days = all.filter(({ number, jobs }) => number >= first && jobs > 0);
  const ofClass = new Set(policy.rules.flatMap((rule) => (rule.class === ruleClass ? [rule.id] : [])));
  const jobs = days.reduce((sum, day) => sum + day.jobs, 0);
  const against = days.reduce((sum, { jobs: most, rejectedBy, watchedBy }) => {
    const counts = [...rejectedBy, ...watchedBy].filter(([rule]) => ofClass.has(rule));
    return (
      sum +
      Math.min(
        most,
        counts.reduce((total, [, count]) => total + count, 0),
      )
    );
  }, 0);
  const coveragePercent = coverageOf(days);
  return {
    days: days.length,
    jobs,
    wouldFail: against,
    ...(coveragePercent !== undefined && { coveragePercent }),
  };
}

/** Per cent of the jobs that ran and were asked about, rounded down to a tenth; undefined: none ran. */
function coverageOf(days: readonly DayUsage[]): number | undefined {
  const ran = days.reduce((sum, day) => sum + day.ran, 0);
  const unasked = days.reduce((sum, day) => sum + day.unasked, 0);
  return ran === 0 ? undefined : Math.floor(((ran - unasked) * 1_000) / ran) / 10;
}

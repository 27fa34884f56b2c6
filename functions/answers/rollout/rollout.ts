/** Rollout steps of groups, from limits in force and days of usage, and the forecast of enforcement. */

import type { RolloutClass } from '../../../policies/limits/limits.ts';
import { rolloutPlaceOf, rolloutSubjects } from '../../../policies/rollout.ts';
import {
  nextStep,
  ROLLOUT_CLASSES,
  ROLLOUT_DAYS_MAX,
  type RolloutStatus,
  rolloutNeeds,
  rolloutStatus,
} from '../../../policies/rollout-step.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { LimitEdit } from '../../core/limits/edit-model.ts';
import { findRecipient } from '../../core/notify/recipient.ts';
import type { editCounts, JobTally } from '../backtest/count-edit.ts';
import { type RejectionRow, RejectionRows } from '../backtest/rejection-rows.ts';
import { JobSubjects } from '../backtest/replay-requests.ts';
import { reportJobUrl } from '../job/recorded-job.ts';
import { previewEdits } from '../limits/edits.ts';
import {
  type Caller,
  type CallerView,
  pageOf,
  type ReadContext,
  readCallerView,
} from '../reading/context.ts';
import {
  byPath,
  formatSubjectLabel,
  groupLabelOf,
  limitLabel,
  type Places,
  subjectOfLimit,
  userLabels,
} from '../reading/scope.ts';
import { type DayUsage, dayTexts, readDays, today } from '../reading/usage-days.ts';
import type {
  RolloutClassRow,
  RolloutForecastAnswer,
  RolloutQuery,
  RolloutRow,
  RolloutView,
} from './model.ts';

const ROWS = { usual: 50, max: 100 };

/** Reads four weeks of days of each row of a page. @throws {LedgerError} */
export const rolloutOf =
  (reading: ReadContext) =>
  async (query: RolloutQuery, caller: Caller): Promise<RolloutView> => {
    const view = await readCallerView(reading, caller);
    const { set, places, scope, nowMs } = view;
    const subjects =
      query.subjects?.filter((subject) => isKnown(subject, places) && scope.sees(subject)) ??
      subjectsListed(view);
    const page = pageOf(subjects, query, ROWS);
    const to = today(reading.zone, nowMs);
    const span = { from: to - ROLLOUT_DAYS_MAX + 1, to };
    const usage = await readDays(page.rows, span, reading.usage);
    return {
      ...withoutAbsent({ set }),
      ...{ nowMs, ...dayTexts(span) },
      rows: page.rows.map((subject) => rowOf(subject, usage.get(subject) ?? [], view, reading)),
      ...page.next,
      total: subjects.length,
    };
  };

function isKnown(subject: string, { directory: { groupById, projectById } }: Places): boolean {
  const [kind, id] = subject.split('/');
  if (kind === 'group') return groupById.has(Number(id));
  return kind === 'project' ? projectById.has(Number(id)) : subject === 'instance';
}

function subjectsListed({ limits, places, directory, scope }: CallerView): readonly string[] {
  const own = [...limits.rollouts.keys()].filter((subject) => subject !== 'instance');
  const groups = [...scope.groupIds].map((id) => `group/${id}`);
  const all = [...new Set([...topGroups(places), ...groups, ...own])]
    .filter((subject) => isKnown(subject, places) && scope.sees(subject))
    .map((subject) => ({ subject, path: formatSubjectLabel(subject, directory) }))
    .sort(byPath);
  return [...(scope.seesAll ? ['instance'] : []), ...all.map(({ subject }) => subject)];
}

const topGroups = ({ roots }: Places): readonly string[] =>
  roots.flatMap(({ id, personal }) => (personal ? [] : [`group/${id}`]));

function rowOf(
  subject: string,
  days: readonly DayUsage[],
  view: CallerView,
  reading: ReadContext,
): RolloutRow {
  const { limits, places, directory, scope, nowMs } = view;
  const { owner, contact } = findRecipient(subject, undefined, { limits, directory });
  const statusOf = (each: string, ruleClass: RolloutClass): RolloutStatus =>
    rolloutStatus(ruleClass, rolloutSubjects(rolloutPlaceOf(each, directory)), limits.rollouts);
  return {
    subject,
    path: formatSubjectLabel(subject, directory),
    classes: ROLLOUT_CLASSES.map((ruleClass): RolloutClassRow => {
      const { from, ...status } = statusOf(subject, ruleClass);
      const counted = countedOf(days, ruleClass, status, reading);
      const follows = (group: string): boolean => statusOf(group, ruleClass).from !== group;
      const followers = subject === 'instance' ? topGroups(places).filter(follows).length : undefined;
      const facts = { ...counted, nowMs, ...withoutAbsent({ followers }) };
      return {
        class: ruleClass,
        ...status,
        ...(from !== undefined &&
          scope.sees(from) && { from, fromPath: formatSubjectLabel(from, directory) }),
        ...withoutAbsent({ next: nextStep(status.step) }),
        ...counted,
        needs: rolloutNeeds(status, facts, reading.policy.rollout),
      };
    }),
    owner,
    ...withoutAbsent({ contact }),
  };
}

function countedOf(
  all: readonly DayUsage[],
  ruleClass: RolloutClass,
  { sinceMs }: RolloutStatus,
  { policy, zone }: ReadContext,
): Pick<RolloutClassRow, 'days' | 'jobs' | 'wouldFail' | 'coveragePercent'> {
  const first = sinceMs === undefined ? Number.NEGATIVE_INFINITY : today(zone, sinceMs);
  const days = all.filter(({ number, jobs }) => number >= first && jobs > 0);
  const sum = (of: (day: DayUsage) => number): number => days.reduce((total, day) => total + of(day), 0);
  const rules = new Set(policy.rules.flatMap((rule) => (rule.class === ruleClass ? [rule.id] : [])));
  const violations = ({ jobs, rejectedBy, watchedBy }: DayUsage): number => {
    const counts = [...rejectedBy, ...watchedBy].filter(([rule]) => rules.has(rule));
    const count = counts.reduce((total, [, each]) => total + each, 0);
    return Math.min(jobs, count);
  };
  const ran = sum((day) => day.ran);
  return {
    days: days.length,
    jobs: sum((day) => day.jobs),
    wouldFail: sum(violations),
    ...(ran > 0 && { coveragePercent: Math.floor(((ran - sum((day) => day.unasked)) * 1_000) / ran) / 10 }),
  };
}

const FORECAST_DAYS = 7;
const FORECAST_ROWS_MAX = 50;
const EXAMPLES_MAX = 5;

interface ForecastFigures {
  readonly jobs: number;
  readonly wouldFail: number;
  readonly rows: readonly RejectionRow[];
}

/** Lists jobs of the last days that would have failed, were these subjects enforced. Writes nothing. */
export const rolloutForecastOf =
  (reading: ReadContext, countEdit: ReturnType<typeof editCounts>) =>
  async (subjects: readonly string[], caller: Caller, cursor?: string): Promise<RolloutForecastAnswer> => {
    const { set } = await reading.limits();
    const edits = subjects.map(
      (subject): LimitEdit => ({ kind: 'rollout', subject, cost: 'enforce', capacity: 'enforce' }),
    );
    const judged = await previewEdits(edits, set, caller, reading);
    if (judged.outcome === 'unknown_subject') return judged;
    // A mode of a known subject is always a valid edit.
    if (judged.outcome !== 'valid') return { outcome: 'unknown_subject', subject: subjects[0] ?? '' };
    const { view, preview } = judged;
    const { directory } = view;
    const counted = await countEdit({
      ...{ caller, cursor, about: [set, subjects], days: FORECAST_DAYS, view, after: preview.limits },
      tallyOf: (figures?: ForecastFigures) => forecastTally(new JobSubjects(subjects, directory), figures),
    });
    if (counted.outcome === 'too_often') return counted;
    const { jobs, wouldFail, rows } = counted.figures;
    const shown = rows.slice(0, FORECAST_ROWS_MAX);
    const labels = shown.flatMap(({ limit }) =>
      limit === undefined ? [] : formatSubjectLabel(subjectOfLimit(limit), directory),
    );
    const nameOf = await userLabels(labels, reading.userNames);
    return {
      outcome: 'counted',
      ...counted.span,
      ...{ jobs, wouldFail },
      rows: shown.map(({ groupId, projectPath, rule, limit, code, jobs: count, examples }) => ({
        ...withoutAbsent({
          group: groupId === undefined ? undefined : `group/${groupId}`,
          ...{ limit, limitLabel: limit && limitLabel(limit, directory, nameOf) },
        }),
        path: groupLabelOf(withoutAbsent({ groupId, projectPath }), directory),
        ...{ rule, code, jobs: count },
        examples: examples.slice(0, EXAMPLES_MAX).map((job) => {
          const url = reportJobUrl(reading.gitlabUrl, job, directory);
          return {
            jobId: job.jobId,
            atMs: job.decidedAtMs,
            ...withoutAbsent({ projectPath: job.projectPath, url }),
          };
        }),
      })),
    };
  };

function forecastTally(subjects: JobSubjects, from?: ForecastFigures): JobTally<ForecastFigures> {
  let { jobs, wouldFail } = from ?? { jobs: 0, wouldFail: 0 };
  const rows = new RejectionRows(from?.rows);
  return {
    add: (record, asIs, edited) => {
      if (asIs === undefined || edited === undefined || subjects.of(record).length === 0) return;
      jobs += 1;
      if (asIs.now?.state === 'REJECTED' || edited.now?.state !== 'REJECTED') return;
      wouldFail += 1;
      rows.add(record, edited.now.violations);
    },
    figures: () => ({ jobs, wouldFail, rows: rows.all() }),
  };
}

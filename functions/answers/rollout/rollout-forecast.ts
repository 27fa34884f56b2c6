/** If subjects were enforced now: which jobs of the last days would have failed. */
import type { Directory } from '../../../policies/place/directory.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { LimitEdit } from '../../core/limits/index.ts';
import type { editCounts, JobTally } from '../backtest/count-edit.ts';
import { JobSubjects } from '../backtest/job-subjects.ts';
import { reportJobUrl } from '../job/job-url.ts';
import { judgeEdits } from '../preview/preview-view.ts';
import { limitLabel, subjectOfLimit } from '../reading/limit-label.ts';
import type { ReadContext } from '../reading/reading.ts';
import { subjectLabelOf } from '../reading/scope.ts';
import { userLabels } from '../reading/user-labels.ts';
import type { Viewer } from '../reading/viewer.ts';
import { type RejectedExample, type RejectionRow, RejectionRows } from '../shadow/rejection-rows.ts';
import type { RolloutForecast, RolloutForecastAnswer } from './model.ts';

const DAYS = 7;
const ROWS_MAX = 50;
const EXAMPLES_MAX = 5;

interface ForecastFigures {
  readonly jobs: number;
  readonly wouldFail: number;
  readonly rows: readonly RejectionRow[];
}

export const rolloutForecastOf =
  (reading: ReadContext, countEdit: ReturnType<typeof editCounts>) =>
  async (subjects: readonly string[], viewer: Viewer, cursor?: string): Promise<RolloutForecastAnswer> => {
    const { set } = await reading.limits();
    const edits = subjects.map(
      (subject): LimitEdit => ({ kind: 'rollout', subject, cost: 'enforce', capacity: 'enforce' }),
    );
    const judged = await judgeEdits(edits, set, viewer, reading);
    if (judged.outcome === 'unknown_subject') return judged;
    // A mode of a subject that is there is always a lawful edit.
    if (judged.outcome !== 'valid') return { outcome: 'unknown_subject', subject: subjects[0] ?? '' };
    const { directory } = judged.places;
    const counted = await countEdit({
      ...{ viewer, cursor, about: [set, subjects], days: DAYS, directory },
      ...{ before: judged.now.limits, after: judged.preview.limits },
      tallyOf: (figures?: ForecastFigures) => forecastTally(new JobSubjects(subjects, directory), figures),
    });
    if (counted.outcome === 'too_often') return counted;
    const { jobs, wouldFail, rows } = counted.figures;
    const shown = rows.slice(0, ROWS_MAX);
    const nameOf = await userLabels(
      shown.flatMap(({ limit }) =>
        limit === undefined ? [] : subjectLabelOf(subjectOfLimit(limit), directory),
      ),
      reading.userNames,
    );
    return {
      outcome: 'counted',
      ...counted.span,
      ...{ jobs, wouldFail },
      rows: shown.map((row) => ({
        ...forecastRow(row, reading.gitlabUrl, directory),
        ...(row.limit !== undefined && { limitLabel: limitLabel(row.limit, directory, row, nameOf) }),
      })),
    };
  };

/** Counts jobs that run as it is, and would fail. */
function forecastTally(subjects: JobSubjects, from?: ForecastFigures): JobTally<ForecastFigures> {
  let { jobs, wouldFail } = from ?? { jobs: 0, wouldFail: 0 };
  const rows = new RejectionRows(from?.rows);
  return {
    add: (record, asIs, edited) => {
      if (asIs === undefined || edited === undefined || subjects.of(record).length === 0) return;
      jobs += 1;
      if (asIs.now?.state === 'REJECTED' || edited.now?.state !== 'REJECTED') return;
      wouldFail += 1;
      rows.add({ record, violations: edited.now.violations });
    },
    figures: () => ({ jobs, wouldFail, rows: rows.all() }),
  };
}

function forecastRow(
  { groupId, projectPath, rule, limit, code, jobs, examples }: RejectionRow,
  gitlabUrl: string | undefined,
  directory: Directory,
): RolloutForecast['rows'][number] {
  const group = groupId === undefined ? undefined : `group/${groupId}`;
  const above = projectPath?.slice(0, Math.max(0, projectPath.lastIndexOf('/')));
  return {
    ...withoutAbsent({ group, limit }),
    path:
      (groupId === undefined ? undefined : directory.groupById.get(groupId)?.path) ??
      (above || (group ?? 'no known group')),
    rule,
    code,
    jobs,
    examples: examples.slice(0, EXAMPLES_MAX).map((record) => exampleOf(record, gitlabUrl, directory)),
  };
}

function exampleOf(
  { jobId, decidedAtMs, projectId, projectPath }: RejectedExample,
  gitlabUrl: string | undefined,
  directory: Directory,
) {
  const url = reportJobUrl(gitlabUrl, { jobId, ...withoutAbsent({ projectId, projectPath }) }, directory);
  return { jobId, atMs: decidedAtMs, ...withoutAbsent({ projectPath, url }) };
}

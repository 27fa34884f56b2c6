/** If somebody were enforced now: which jobs of the last days would have failed, as many as a request may read. */
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { JobRecord } from '../../core/ledger/index.ts';
import type { LimitEdit } from '../../core/limits/index.ts';
import { rateLimit } from '../../core/signin/index.ts';
import { recentBounds, recentReads } from '../backtest/backtest-view.ts';
import { compareRecent } from '../backtest/compare-recent.ts';
import { JobSubjects } from '../backtest/job-subjects.ts';
import { usedBefore } from '../backtest/used-before.ts';
import { reportJobUrl } from '../job/job-url.ts';
import { judgeEdits } from '../preview/preview-view.ts';
import { limitLabel, subjectOfLimit } from '../reading/limit-label.ts';
import type { ReadContext } from '../reading/reading.ts';
import { subjectLabelOf } from '../reading/scope.ts';
import { userLabels } from '../reading/user-labels.ts';
import type { Viewer } from '../reading/viewer.ts';
import { type RejectionRow, RejectionRows } from '../shadow/rejection-rows.ts';
import type { RolloutForecast, RolloutForecastAnswer } from './model.ts';

const DAYS = 7;
const ROWS_MAX = 50;
const EXAMPLES_MAX = 5;
/** Each costs up to 40 000 reads. */
const OFTEN = { max: 6, windowMs: 60_000 };

export function rolloutForecastOf(reading: ReadContext) {
  const often = rateLimit({ ...OFTEN, clock: reading.clock });
  return async (subjects: readonly string[], viewer: Viewer): Promise<RolloutForecastAnswer> => {
    const { set } = await reading.limits();
    const edits = subjects.map(
      (subject): LimitEdit => ({ kind: 'rollout', subject, cost: 'enforce', capacity: 'enforce' }),
    );
    const judged = await judgeEdits(edits, set, viewer, reading);
    if (judged.outcome === 'unknown_subject') return judged;
    const retryAfterSeconds = often.take(String(viewer.id));
    if (retryAfterSeconds !== undefined) return { outcome: 'too_often', retryAfterSeconds };
    // A mode of a subject that is there is always a lawful edit.
    if (judged.outcome !== 'valid') return { outcome: 'unknown_subject', subject: subjects[0] ?? '' };
    const { directory } = judged.places;
    const untilMs = reading.clock.nowMs();
    const used = usedBefore(reading, directory);
    const rows = new RejectionRows();
    const counted = { jobs: 0, wouldFail: 0 };
    const compared = await compareRecent({
      sinceMs: untilMs - DAYS * DAY_MS,
      untilMs,
      policy: reading.policy,
      directory,
      before: judged.now.limits,
      after: judged.preview.limits,
      subjects: new JobSubjects(subjects, directory),
      beginAt: (fromMs) => fromMs,
      reads: recentReads(reading, used),
      bounds: recentBounds(reading),
      onJudged: (asIs, edited) => {
        counted.jobs += 1;
        if (asIs.now?.state === 'REJECTED' || edited.now?.state !== 'REJECTED') return;
        counted.wouldFail += 1;
        rows.add({ record: edited.record, violations: edited.now.violations });
      },
    });
    const shown = rows.all().slice(0, ROWS_MAX);
    const nameOf = await userLabels(
      shown.flatMap(({ limit }) =>
        limit === undefined ? [] : subjectLabelOf(subjectOfLimit(limit), directory),
      ),
      reading.userNames,
    );
    return {
      outcome: 'counted',
      days: DAYS,
      fromMs: compared.fromMs,
      untilMs: compared.untilMs,
      complete: compared.complete && used.complete,
      jobsRead: compared.jobsRead,
      ...counted,
      rows: shown.map((row) => ({
        ...forecastRow(row, reading.gitlabUrl, directory),
        ...(row.limit !== undefined && { limitLabel: limitLabel(row.limit, directory, row, nameOf) }),
      })),
    };
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
  { jobId, decidedAtMs, facts }: JobRecord,
  gitlabUrl: string | undefined,
  directory: Directory,
) {
  const { projectId, projectPath } = facts;
  const url = reportJobUrl(gitlabUrl, { jobId, ...withoutAbsent({ projectId, projectPath }) }, directory);
  return { jobId, atMs: decidedAtMs, ...withoutAbsent({ projectPath, url }) };
}

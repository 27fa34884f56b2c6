/** Replays the jobs of the last days under edited limits. */
import type { LimitEdit } from '../../core/limits/index.ts';
import { judgeEdits } from '../preview/preview-view.ts';
import type { ReadContext } from '../reading/reading.ts';
import { subjectLabelOf } from '../reading/scope.ts';
import type { Viewer } from '../reading/viewer.ts';
import { type ComparedJobs, ComparisonTally, NO_JOBS } from './comparison-tally.ts';
import type { editCounts } from './count-edit.ts';
import { JobSubjects } from './job-subjects.ts';
import type { BacktestAnswer } from './model.ts';

const LOOK_BACK_DAYS = 30;
/** An import has thousands; only the first are listed, with a total. */
const SUBJECTS_SHOWN = 20;

export const backtestOf =
  (reading: ReadContext, countEdit: ReturnType<typeof editCounts>) =>
  async (
    edits: readonly LimitEdit[],
    base: string | undefined,
    viewer: Viewer,
    cursor?: string,
  ): Promise<BacktestAnswer> => {
    const judged = await judgeEdits(edits, base, viewer, reading);
    if (judged.outcome !== 'valid') return judged;
    const { preview, now, places } = judged;
    const { directory } = places;
    const edited = [...new Set(preview.rows.map(({ subject }) => subject))];
    const subjects = new JobSubjects(edited, directory);
    const counted = await countEdit<ComparedJobs>({
      ...{ viewer, cursor, about: [now.set, edits], days: LOOK_BACK_DAYS, directory },
      ...{ before: now.limits, after: preview.limits },
      tallyOf: (figures) => new ComparisonTally(subjects, figures),
    });
    if (counted.outcome === 'too_often') return counted;
    const { all, bySubject } = counted.figures;
    const countsOf = new Map(bySubject);
    return {
      outcome: 'counted',
      set: now.set,
      ...counted.span,
      all,
      subjects: edited.slice(0, SUBJECTS_SHOWN).map((subject) => ({
        subject,
        path: subjectLabelOf(subject, directory),
        ...(countsOf.get(subject) ?? NO_JOBS),
      })),
    };
  };

import type { Job } from '../checked-job.ts';
import { type Asking, type Finding, findingOf } from '../finding.ts';
import type { Limit } from '../limits/limit.ts';

/** Jobs started per fixed window: each counts one, whatever becomes of it, unless it never ran. */
export function window(
  job: Job,
  limit: Limit,
  subjectLabel: () => string,
  asking: Asking,
): Finding | undefined {
  return findingOf({ job, limit, asked: 1, subjectLabel, code: 'WINDOW_FULL' }, asking);
}

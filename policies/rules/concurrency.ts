import type { Job } from '../checked-job.ts';
import { type Asking, type Finding, findingOf } from '../finding.ts';
import type { Limit } from '../limits/limit.ts';

/** Jobs at once: a job asks for one slot and gives it back when it ends. */
export function concurrency(
  job: Job,
  limit: Limit,
  subjectLabel: () => string,
  asking: Asking,
): Finding | undefined {
  return findingOf({ job, limit, asked: 1, subjectLabel, code: 'CONCURRENCY_FULL' }, asking);
}

import type { Job } from '../checked-job.ts';
import { type Asking, type Finding, findingOf } from '../finding.ts';
import type { Limit } from '../limits/limit.ts';

/** Money or minutes per period: a job asks for what it is estimated to use, on top of what is settled and held. */
export function budget(
  job: Job,
  limit: Limit,
  subjectLabel: () => string,
  asking: Asking,
): Finding | undefined {
  const asked = limit.kind === 'money' ? job.costMicros : job.estimateSeconds;
  return findingOf({ job, limit, asked, subjectLabel, code: 'BUDGET_EXHAUSTED' }, asking);
}

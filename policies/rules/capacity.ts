import type { Job } from '../checked-job.ts';
import { type Asking, type Finding, findingOf } from '../finding.ts';
import { footprintOf } from '../kubernetes/footprint.ts';
import type { Limit } from '../limits/limit.ts';

/** Past any machine (80 TiB), and a hundred of them are still counted exactly: what asks for more counts as this. */
const FOOTPRINT_MAX = Math.floor(Number.MAX_SAFE_INTEGER / 100);

const FIELDS = { millicpu: 'KUBERNETES_CPU_REQUEST', bytes: 'KUBERNETES_MEMORY_REQUEST' } as const;

/** CPU or memory of the jobs in flight: a job asks for what it requests from the cluster and gives it back at its end. */
export function capacity(
  job: Job,
  limit: Limit,
  subjectLabel: () => string,
  asking: Asking,
): Finding | undefined {
  if (limit.amount === 'unlimited') return undefined;
  const resource = limit.kind === 'cpu' ? 'millicpu' : 'bytes';
  const taken = footprintOf(job.request, job.runnerClass.footprint ?? {})[resource];
  const unknown = taken === undefined || taken === 'invalid';
  // What cannot be read is as unknown as what did not come: the `resources` rule refuses it. A limit of 0 need not know.
  if (unknown && limit.amount > 0) return { missing: FIELDS[resource] };
  const asked = unknown ? 0 : Math.min(taken, FOOTPRINT_MAX);
  return findingOf({ job, limit, asked, subjectLabel, code: 'CAPACITY_FULL' }, asking);
}

import type { Job } from '../checked-job.ts';
import type { Asking, Finding } from '../finding.ts';
import type { Limit } from '../limits/limit.ts';
import type { CountedKind } from '../rule.ts';
import { budget } from './budget.ts';
import { capacity } from './capacity.ts';
import { concurrency } from './concurrency.ts';
import { window } from './window.ts';

/** What a job asks of one limit; undefined: nothing. */
export type CountedCheck = (
  job: Job,
  limit: Limit,
  subjectLabel: () => string,
  asking: Asking,
) => Finding | undefined;

export const COUNTED_CHECKS: Readonly<Record<CountedKind, CountedCheck>> = {
  budget,
  concurrency,
  capacity,
  window,
};

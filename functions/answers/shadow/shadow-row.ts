import type { Violation } from '../../../policies/reason.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { JobRecord } from '../../core/ledger/index.ts';
import type { ShadowFigureRow, ShadowJob } from './shadow-figures.ts';

/** Jobs shown per row: enough to look into, and a report stays a page. */
const EXAMPLES_MAX = 50;

export interface GroupOfJob {
  readonly rootId?: number;
  readonly groupId?: number;
  readonly projectPath?: string;
}

/** What had something against a job. */
export interface RejectionCause {
  readonly rule: string;
  readonly class?: Violation['class'];
  readonly mode?: Violation['mode'];
  readonly code: string;
}

export const whyOf = ({ rule, class: ruleClass, mode, reason }: Violation): RejectionCause => ({
  rule,
  class: ruleClass,
  mode,
  code: reason.code,
});

/** Stands for violations a record had no room for. */
export const NOT_RECORDED: RejectionCause = { rule: '(not recorded)', code: '-' };
/** Stands for all rows beyond the number that is kept apart. */
export const FURTHER_ROWS: RejectionCause = { rule: '(further rows)', code: '-' };

export const whyKey = (why: RejectionCause): string =>
  [why.rule, why.class ?? '', why.mode ?? '', why.code].join('\n');

/** One row being counted. What it ends with does not depend on the order jobs come in. */
export class RowTally {
  readonly #why: RejectionCause;
  #group: GroupOfJob;
  #jobs = 0;
  #costMicros = 0;
  #firstAtMs = Number.POSITIVE_INFINITY;
  #lastAtMs = Number.NEGATIVE_INFINITY;
  readonly #naive = new Set<number>();
  #examples: ShadowJob[] = [];

  constructor(group: GroupOfJob, why: RejectionCause) {
    this.#group = group;
    this.#why = why;
  }

  /** The first path of the alphabet stands for the group. */
  in(group: GroupOfJob): this {
    const path = this.#group.projectPath;
    if (group.projectPath !== undefined && (path === undefined || group.projectPath < path))
      this.#group = group;
    return this;
  }

  count(record: JobRecord, costMicros: number): void {
    const { decidedAtMs } = record;
    this.#jobs += 1;
    this.#costMicros += costMicros;
    this.#firstAtMs = Math.min(this.#firstAtMs, decidedAtMs);
    this.#lastAtMs = Math.max(this.#lastAtMs, decidedAtMs);
    this.#examples.push(reportJobOf(record, costMicros));
    if (this.#examples.length >= 2 * EXAMPLES_MAX) this.#examples = latest(this.#examples);
  }

  countNaive(job: number): void {
    this.#naive.add(job);
  }

  figures(naiveCounted: boolean): ShadowFigureRow {
    return {
      ...this.#group,
      ...this.#why,
      jobs: this.#jobs,
      ...(naiveCounted && { naive: this.#naive.size }),
      costMicros: this.#costMicros,
      ...(this.#jobs > 0 && { firstAtMs: this.#firstAtMs, lastAtMs: this.#lastAtMs }),
      examples: latest(this.#examples),
    };
  }
}

/** What of a job a report shows. @param costMicros - what it cost, or is estimated to. */
export function reportJobOf(
  { jobId, decidedAtMs, facts }: JobRecord,
  costMicros: number = facts.costMicros,
): ShadowJob {
  const { jobName, projectId, projectPath } = facts;
  return {
    jobId,
    ...withoutAbsent({ jobName, projectId, projectPath }),
    decidedAtMs,
    costMicros,
  };
}

const latest = (jobs: readonly ShadowJob[]): ShadowJob[] =>
  [...jobs].sort((a, b) => b.decidedAtMs - a.decidedAtMs || b.jobId - a.jobId).slice(0, EXAMPLES_MAX);

import type { Violation } from '../../../policies/reason.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { JobRecord } from '../../core/ledger/index.ts';

/** Jobs of one group that one rule or limit would have rejected for one reason. A job may be in several rows. */
export interface RejectionRow extends Pick<Violation, 'rule' | 'class' | 'mode'> {
  readonly rootId?: number;
  readonly groupId?: number;
  /** Path of a project in that group, for a label where the directory has none. */
  readonly projectPath?: string;
  /** `group/101 money-month`; absent for rules without a limit. */
  readonly limit?: string;
  readonly code: string;
  readonly jobs: number;
  /** Part of `jobs`: further tries of a job that is counted already. */
  readonly repeats: number;
  /** Micro-units that the jobs cost, or are estimated to cost. */
  readonly costMicros: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  /** The latest, newest first; at most {@link EXAMPLES_MAX}. */
  readonly examples: readonly RejectedExample[];
}

export interface RejectedExample extends Pick<JobRecord, 'jobId' | 'decidedAtMs'> {
  readonly jobName?: string;
  readonly projectId?: number;
  readonly projectPath?: string;
  readonly costMicros: number;
}

interface RejectedJob {
  readonly record: JobRecord;
  readonly violations: readonly Violation[];
  readonly costMicros?: number;
  /** It repeats a job that is counted already. */
  readonly repeats?: boolean;
}

/** Groups × rules × limits: a longer list is not read to its end. Jobs of further rows are in the totals only. */
const ROWS_MAX = 5_000;
const EXAMPLES_MAX = 50;

type Open<Row> = { -readonly [Key in keyof Row]: Row[Key] };

/** Failing jobs by group, rule and reason. Add them in the order of their decisions. */
export class RejectionRows {
  readonly #rows: Map<string, Open<RejectionRow>>;

  /** @param rows - as others gave them. */
  constructor(rows: readonly RejectionRow[] = []) {
    this.#rows = new Map(rows.map((row) => [keyOf(row), { ...row }]));
  }

  add({ record, violations, costMicros = record.facts.costMicros, repeats = false }: RejectedJob): void {
    // A job counts once per limit, however many violations of it there are.
    for (const row of new Set(violations.map((violation) => this.#rowOf(record, violation)))) {
      if (row === undefined) continue;
      row.jobs += 1;
      if (repeats) row.repeats += 1;
      row.costMicros += costMicros;
      row.lastAtMs = record.decidedAtMs;
      row.examples = [exampleOf(record), ...row.examples].slice(0, EXAMPLES_MAX);
    }
  }

  /** Most jobs first. */
  all(): readonly RejectionRow[] {
    return [...this.#rows.values()].sort(byWeight);
  }

  #rowOf({ facts, decidedAtMs }: JobRecord, violation: Violation): Open<RejectionRow> | undefined {
    const { rule, class: ruleClass, mode, reason } = violation;
    const { rootId, groupId, projectPath } = facts;
    const limit = 'limit' in reason ? `${reason.subject} ${reason.limit}` : undefined;
    const row = {
      ...withoutAbsent({ rootId, groupId, projectPath, limit }),
      ...{ rule, class: ruleClass, mode, code: reason.code },
    };
    const key = keyOf(row);
    const known = this.#rows.get(key);
    if (known !== undefined || this.#rows.size >= ROWS_MAX) return known;
    const made = {
      ...row,
      ...{ jobs: 0, repeats: 0, costMicros: 0 },
      ...{ firstAtMs: decidedAtMs, lastAtMs: decidedAtMs, examples: [] },
    };
    this.#rows.set(key, made);
    return made;
  }
}

const keyOf = (
  row: Omit<RejectionRow, 'jobs' | 'repeats' | 'costMicros' | 'firstAtMs' | 'lastAtMs' | 'examples'>,
) => [row.rootId, row.groupId ?? row.projectPath, row.rule, row.mode, row.limit, row.code].join('\n');

const exampleOf = ({ jobId, decidedAtMs, facts }: JobRecord): RejectedExample => {
  const { jobName, projectId, projectPath, costMicros } = facts;
  return { jobId, decidedAtMs, costMicros, ...withoutAbsent({ jobName, projectId, projectPath }) };
};

const byWeight = (a: RejectionRow, b: RejectionRow): number =>
  b.jobs - a.jobs || (a.groupId ?? 0) - (b.groupId ?? 0) || (a.rule < b.rule ? -1 : 1);

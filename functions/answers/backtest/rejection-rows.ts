import type { Violation } from '../../../policies/reason.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { JobRecord } from '../../core/ledger/ledger.ts';

/** Jobs of one group that one rule or limit would reject for one reason. A job may be in several rows. */
export interface RejectionRow extends Pick<Violation, 'rule' | 'class' | 'mode'> {
  readonly groupId?: number;
  /** Path of a project in the group, for a label if the directory has none. */
  readonly projectPath?: string;
  readonly limit?: string;
  readonly code: string;
  readonly jobs: number;
  readonly costMicros: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  readonly examples: readonly ReturnType<typeof exampleOf>[];
}

/** Groups × rules × limits: jobs of further rows are only in the totals. */
const ROWS_MAX = 5_000;
const EXAMPLES_MAX = 50;

type Open<Row> = { -readonly [Key in keyof Row]: Row[Key] };

/** Adds up rejected jobs by group, rule and reason. Add them in the order of their decisions. */
export class RejectionRows {
  readonly #rows: Map<string, Open<RejectionRow>>;

  constructor(rows: readonly RejectionRow[] = []) {
    this.#rows = new Map(rows.map((row) => [rejectionKey(row), { ...row }]));
  }

  add(
    record: JobRecord,
    violations: readonly Violation[],
    costMicros: number = record.facts.costMicros,
  ): void {
    // A job counts once per limit, however many violations there are.
    for (const row of new Set(violations.map((violation) => this.#rowOf(record, violation)))) {
      if (row === undefined) continue;
      row.jobs += 1;
      row.costMicros += costMicros;
      row.lastAtMs = record.decidedAtMs;
      row.examples = [exampleOf(record), ...row.examples].slice(0, EXAMPLES_MAX);
    }
  }

  all(): readonly RejectionRow[] {
    return [...this.#rows.values()].sort(
      (a, b) => b.jobs - a.jobs || (a.groupId ?? 0) - (b.groupId ?? 0) || (a.rule < b.rule ? -1 : 1),
    );
  }

  #rowOf({ facts, decidedAtMs }: JobRecord, violation: Violation): Open<RejectionRow> | undefined {
    const { rule, class: ruleClass, mode, reason } = violation;
    const { groupId, projectPath } = facts;
    const limit = 'limit' in reason ? `${reason.subject} ${reason.limit}` : undefined;
    const row: RejectionRow = {
      ...withoutAbsent({ groupId, projectPath, limit }),
      ...{ rule, class: ruleClass, mode, code: reason.code },
      ...{ jobs: 0, costMicros: 0, firstAtMs: decidedAtMs, lastAtMs: decidedAtMs, examples: [] },
    };
    const key = rejectionKey(row);
    const known = this.#rows.get(key);
    if (known === undefined && this.#rows.size < ROWS_MAX) this.#rows.set(key, row);
    return this.#rows.get(key);
  }
}

export const rejectionKey = (row: RejectionRow): string =>
  [row.groupId ?? row.projectPath, row.rule, row.mode, row.limit, row.code].join('\n');

const exampleOf = ({ jobId, decidedAtMs, facts }: JobRecord) => {
  const { jobName, projectId, projectPath, costMicros } = facts;
  return { jobId, decidedAtMs, costMicros, ...withoutAbsent({ jobName, projectId, projectPath }) };
};

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
  readonly examples: readonly JobRecord[];
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
  readonly #rows = new Map<string, Open<RejectionRow>>();

  add({ record, violations, costMicros = record.facts.costMicros, repeats = false }: RejectedJob): void {
    // A job counts once per limit, however many violations of it there are.
    for (const row of new Set(violations.map((violation) => this.#rowOf(record, violation)))) {
      if (row === undefined) continue;
      row.jobs += 1;
      if (repeats) row.repeats += 1;
      row.costMicros += costMicros;
      row.lastAtMs = record.decidedAtMs;
      row.examples = [record, ...row.examples].slice(0, EXAMPLES_MAX);
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
    const key = [rootId ?? '', groupId ?? projectPath ?? '', rule, mode, limit, reason.code].join('\n');
    const known = this.#rows.get(key);
    if (known !== undefined || this.#rows.size >= ROWS_MAX) return known;
    const made = {
      ...withoutAbsent({ rootId, groupId, projectPath }),
      ...{ rule, class: ruleClass, mode },
      ...(limit !== undefined && { limit }),
      ...{ code: reason.code, jobs: 0, repeats: 0, costMicros: 0 },
      ...{ firstAtMs: decidedAtMs, lastAtMs: decidedAtMs, examples: [] },
    };
    this.#rows.set(key, made);
    return made;
  }
}

const byWeight = (a: RejectionRow, b: RejectionRow): number =>
  b.jobs - a.jobs || (a.groupId ?? 0) - (b.groupId ?? 0) || (a.rule < b.rule ? -1 : 1);

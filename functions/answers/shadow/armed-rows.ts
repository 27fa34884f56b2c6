import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { JobRecord } from '../../core/ledger/index.ts';

/** Jobs of one group that one rule or limit would have rejected for one reason. */
export interface ArmedRow {
  readonly rootId?: number;
  readonly groupId?: number;
  /** Path of a project in that group, for a label where the directory has none. */
  readonly projectPath?: string;
  readonly rule: string;
  /** `group/101 money-month`; absent for rules without a limit. */
  readonly limit?: string;
  readonly code: string;
  readonly jobs: number;
  readonly repeats: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  /** The latest, newest first; not all where there are many. */
  readonly examples: readonly JobRecord[];
}

/** Groups × rules × limits: nobody reads the end of a longer list, and what is beyond is counted in the totals only. */
const ROWS_MAX = 5_000;
const EXAMPLES_MAX = 10;

type Open<Row> = { -readonly [Key in keyof Row]: Row[Key] };

/** Failing jobs, gathered by group, rule and reason. */
export class ArmedRows {
  readonly #rows = new Map<string, Open<ArmedRow>>();

  /** @param repeats - 1 for another try of a job that is counted already. */
  add(record: JobRecord, violations: JobRecord['violations'], repeats = 0): void {
    for (const row of rowsOf(record, violations, this.#rows)) count(row, record, repeats);
  }

  /** Most jobs first. */
  all(): readonly ArmedRow[] {
    return [...this.#rows.values()].sort(byWeight);
  }
}

/** A job counts once per limit, however many violations of it there are. */
function rowsOf(
  record: JobRecord,
  violations: JobRecord['violations'],
  rows: Map<string, Open<ArmedRow>>,
): ReadonlySet<Open<ArmedRow>> {
  const { rootId, groupId, projectPath } = record.facts;
  const found = new Set<Open<ArmedRow>>();
  for (const { rule, reason } of violations) {
    const limit = 'limit' in reason ? `${reason.subject} ${reason.limit}` : undefined;
    const key = [rootId ?? '', groupId ?? projectPath ?? '', rule, limit, reason.code].join('\n');
    const known = rows.get(key);
    if (known !== undefined) found.add(known);
    if (known !== undefined || rows.size >= ROWS_MAX) continue;
    const made = {
      ...withoutAbsent({ rootId, groupId, projectPath }),
      rule,
      ...(limit !== undefined && { limit }),
      code: reason.code,
      jobs: 0,
      repeats: 0,
      firstAtMs: record.decidedAtMs,
      lastAtMs: record.decidedAtMs,
      examples: [],
    };
    rows.set(key, made);
    found.add(made);
  }
  return found;
}

/** Jobs come in order, so the latest is the last. */
function count(row: Open<ArmedRow>, record: JobRecord, repeats: number): void {
  row.jobs += 1;
  row.repeats += repeats;
  row.lastAtMs = record.decidedAtMs;
  row.examples = [record, ...row.examples].slice(0, EXAMPLES_MAX);
}

const byWeight = (a: ArmedRow, b: ArmedRow): number =>
  b.jobs - a.jobs || (a.groupId ?? 0) - (b.groupId ?? 0) || (a.rule < b.rule ? -1 : 1);

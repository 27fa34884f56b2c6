import type { Violation } from '../../../policies/reason.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { JobRecord } from '../../core/ledger/index.ts';
import type { ReplayedJob } from './replay.ts';

export interface BacktestFigures {
  readonly jobs: number;
  readonly rejectedThen: number;
  readonly rejectedNow: number;
  /** Admitted then, rejected now; and the other way round. */
  readonly newlyRejected: number;
  readonly newlyAdmitted: number;
  /** Jobs that would get their room within the `wait` of a limit. */
  readonly waitedNow: number;
  /** Charges of the jobs, real and replayed. Micro-units. */
  readonly thenMicros: number;
  readonly nowMicros: number;
  /** The part of `nowMicros` that jobs make which never ran: their estimates. */
  readonly estimatedMicros: number;
  /** Jobs asked by their facts alone, because their record has not kept the question. */
  readonly unrecorded: number;
  /** Jobs whose variables are not known any more: rules that read them say what they said then. */
  readonly variablesLost: number;
  /** Jobs without an admission request (unmetered, bypass): they count in counters and are not judged. */
  readonly unasked: number;
  /** Jobs the ledger could not have decided. */
  readonly undecided: number;
  readonly groups: readonly BacktestGroupRow[];
  readonly rejections: readonly RejectionRow[];
}

export interface BacktestGroupRow {
  readonly groupId?: number;
  readonly projectPath?: string;
  readonly jobs: number;
  readonly rejectedThen: number;
  readonly rejectedNow: number;
  readonly thenMicros: number;
  readonly nowMicros: number;
}

/** Jobs that a rule or limit would reject. */
interface RejectionRow {
  readonly groupId?: number;
  readonly projectPath?: string;
  readonly rule: string;
  /** `group/101 money-month`; absent for rules without a limit. */
  readonly limit?: string;
  readonly code: string;
  readonly jobs: number;
  /** Part of `jobs`: those admitted then. */
  readonly newly: number;
  /** The latest of the new ones. */
  readonly examples: readonly number[];
}

type Open<Row> = { -readonly [Key in keyof Row]: Row[Key] };

/** Groups × rules × limits: the rest is only in the totals. */
const ROWS_MAX = 20_000;
const EXAMPLES_MAX = 10;

export class BacktestTally {
  readonly #groups = new Map<string, Open<BacktestGroupRow>>();
  readonly #rejections = new Map<string, Open<RejectionRow>>();
  readonly #totals = {
    jobs: 0,
    rejectedThen: 0,
    rejectedNow: 0,
    newlyRejected: 0,
    newlyAdmitted: 0,
    waitedNow: 0,
    thenMicros: 0,
    nowMicros: 0,
    estimatedMicros: 0,
    unrecorded: 0,
    variablesLost: 0,
    unasked: 0,
    undecided: 0,
  };

  addUnasked(): void {
    this.#totals.unasked += 1;
  }

  add(replayed: ReplayedJob): void {
    const { record, now, question, rejectedThen, thenMicros, nowMicros, estimated, waitedMs } = replayed;
    const totals = this.#totals;
    const rejectedNow = now?.state === 'REJECTED';
    totals.jobs += 1;
    totals.thenMicros += thenMicros;
    totals.nowMicros += nowMicros;
    if (estimated) totals.estimatedMicros += nowMicros;
    if (!question.recorded) totals.unrecorded += 1;
    if (question.variablesLost) totals.variablesLost += 1;
    if (now === undefined) totals.undecided += 1;
    if (waitedMs !== undefined) totals.waitedNow += 1;
    if (rejectedThen) totals.rejectedThen += 1;
    if (rejectedNow) totals.rejectedNow += 1;
    if (rejectedNow && !rejectedThen) totals.newlyRejected += 1;
    if (rejectedThen && now !== undefined && !rejectedNow) totals.newlyAdmitted += 1;
    const group = this.#group(record);
    if (group !== undefined) {
      group.jobs += 1;
      group.thenMicros += thenMicros;
      group.nowMicros += nowMicros;
      if (rejectedThen) group.rejectedThen += 1;
      if (rejectedNow) group.rejectedNow += 1;
    }
    if (now === undefined || !rejectedNow) return;
    // A job counts once per limit, however many violations of it there are.
    const rows = new Set(now.violations.map((violation) => this.#rejection(record, violation)));
    for (const row of rows) if (row !== undefined) countRejection(row, record.jobId, !rejectedThen);
  }

  figures(): BacktestFigures {
    return {
      ...this.#totals,
      groups: [...this.#groups.values()].sort(
        (a, b) => b.rejectedNow - a.rejectedNow || b.jobs - a.jobs || (a.groupId ?? 0) - (b.groupId ?? 0),
      ),
      rejections: [...this.#rejections.values()].sort(
        (a, b) => b.newly - a.newly || b.jobs - a.jobs || (a.rule < b.rule ? -1 : 1),
      ),
    };
  }

  #group(record: JobRecord): Open<BacktestGroupRow> | undefined {
    const key = placeKey(record);
    const row = this.#groups.get(key);
    if (row !== undefined || this.#groups.size >= ROWS_MAX) return row;
    const made = {
      ...placeOf(record),
      jobs: 0,
      rejectedThen: 0,
      rejectedNow: 0,
      thenMicros: 0,
      nowMicros: 0,
    };
    this.#groups.set(key, made);
    return made;
  }

  #rejection(record: JobRecord, { rule, reason }: Violation): Open<RejectionRow> | undefined {
    const limit = 'limit' in reason ? `${reason.subject} ${reason.limit}` : undefined;
    const key = [placeKey(record), rule, limit, reason.code].join('\n');
    const row = this.#rejections.get(key);
    if (row !== undefined || this.#rejections.size >= ROWS_MAX) return row;
    const made = {
      ...placeOf(record),
      rule,
      ...(limit !== undefined && { limit }),
      code: reason.code,
      jobs: 0,
      newly: 0,
      examples: [],
    };
    this.#rejections.set(key, made);
    return made;
  }
}

function countRejection(row: Open<RejectionRow>, jobId: number, newly: boolean): void {
  row.jobs += 1;
  if (!newly) return;
  row.newly += 1;
  row.examples = [jobId, ...row.examples].slice(0, EXAMPLES_MAX);
}

const placeKey = ({ facts: { groupId, projectPath } }: JobRecord): string =>
  groupId === undefined ? `path ${projectPath ?? ''}` : String(groupId);

const placeOf = ({ facts: { groupId, projectPath } }: JobRecord) => withoutAbsent({ groupId, projectPath });

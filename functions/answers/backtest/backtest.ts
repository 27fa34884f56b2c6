import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { LedgerStore } from '../../core/ledger/store.ts';
import { RejectionRows, rejectionKey } from './rejection-rows.ts';
import { type BacktestOptions, replayedJobs } from './replayed-jobs.ts';

export type BacktestFigures = Awaited<ReturnType<typeof backtest>>;

/** Groups beyond are only in the totals. */
const GROUPS_MAX = 20_000;
const EXAMPLES_MAX = 10;

interface GroupSums {
  readonly groupId?: number;
  readonly projectPath?: string;
  jobs: number;
  rejectedThen: number;
  rejectedNow: number;
  thenMicros: number;
  nowMicros: number;
}

/** Counts which jobs the rules would reject, and what the jobs would cost. Reads the ledger twice, and writes nothing. */
export async function backtest(store: LedgerStore, options: BacktestOptions) {
  const groups = new Map<string, GroupSums>();
  const [all, newly] = [new RejectionRows(), new RejectionRows()];
  const totals = {
    ...{ jobs: 0, rejectedThen: 0, rejectedNow: 0 },
    /** Admitted then, rejected now; and the reverse. */
    ...{ newlyRejected: 0, newlyAdmitted: 0 },
    /** Jobs that would get room within the `wait` of a limit. */
    waitedNow: 0,
    ...{ thenMicros: 0, nowMicros: 0 },
    /** Part of `nowMicros`: estimates of jobs that never ran. */
    estimatedMicros: 0,
    /** Jobs whose record does not have the request: only their facts are evaluated. */
    unrecorded: 0,
    /** Jobs whose variables were not stored: rules that read them keep their recorded result. */
    variablesLost: 0,
    /** Jobs without an admission request (unmetered, bypass): they use limits and are not judged. */
    unasked: 0,
    /** Jobs the ledger could not have decided. */
    undecided: 0,
  };
  for await (const replayed of replayedJobs(store, options)) {
    if (replayed === undefined) {
      totals.unasked += 1;
      continue;
    }
    const { record, now, question, rejectedThen, thenMicros, nowMicros, estimated, waitedMs } = replayed;
    const rejectedNow = now?.state === 'REJECTED';
    const { groupId, projectPath } = record.facts;
    const key = groupId === undefined ? `path ${projectPath ?? ''}` : String(groupId);
    const none = { jobs: 0, rejectedThen: 0, rejectedNow: 0, thenMicros: 0, nowMicros: 0 };
    const group = groups.get(key) ?? { ...withoutAbsent({ groupId, projectPath }), ...none };
    if (groups.size < GROUPS_MAX) groups.set(key, group);
    for (const sum of [totals, group]) {
      sum.jobs += 1;
      sum.thenMicros += thenMicros;
      sum.nowMicros += nowMicros;
      if (rejectedThen) sum.rejectedThen += 1;
      if (rejectedNow) sum.rejectedNow += 1;
    }
    if (estimated) totals.estimatedMicros += nowMicros;
    if (!question.recorded) totals.unrecorded += 1;
    if (question.variablesLost) totals.variablesLost += 1;
    if (now === undefined) totals.undecided += 1;
    if (waitedMs !== undefined) totals.waitedNow += 1;
    if (rejectedThen && now !== undefined && !rejectedNow) totals.newlyAdmitted += 1;
    if (!rejectedNow) continue;
    all.add(record, now.violations);
    if (rejectedThen) continue;
    totals.newlyRejected += 1;
    newly.add(record, now.violations);
  }
  const newRows = new Map(newly.all().map((row) => [rejectionKey(row), row]));
  return {
    ...totals,
    groups: [...groups.values()].sort(
      (a, b) => b.rejectedNow - a.rejectedNow || b.jobs - a.jobs || (a.groupId ?? 0) - (b.groupId ?? 0),
    ),
    rejections: all
      .all()
      .map((row) => {
        const { groupId, projectPath, rule, limit, code, jobs } = row;
        const { jobs: count = 0, examples = [] } = newRows.get(rejectionKey(row)) ?? {};
        return {
          ...{ ...withoutAbsent({ groupId, projectPath, limit }), rule, code, jobs },
          ...{ newly: count, examples: examples.slice(0, EXAMPLES_MAX).map(({ jobId }) => jobId) },
        };
      })
      .sort((a, b) => b.newly - a.newly || b.jobs - a.jobs || (a.rule < b.rule ? -1 : 1)),
  };
}

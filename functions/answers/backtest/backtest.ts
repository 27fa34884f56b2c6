import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { JobRecord } from '../../core/ledger/ledger.ts';
import { hasNoAdmissionRequest } from '../../core/ledger/reservation.ts';
import { wasRejected } from '../../core/ledger/settle.ts';
import type { LedgerStore } from '../../core/ledger/store.ts';
import { RejectionRows, rejectionKey } from './rejection-rows.ts';
import { wasUnasked } from './replay.ts';
import { type BacktestRules, ReplayRequests } from './replay-requests.ts';
import { type BacktestOptions, replayedJobs } from './replayed-jobs.ts';

export type BacktestFigures = Awaited<ReturnType<typeof backtest>>;

/** Groups beyond are only in the totals. */
const GROUPS_MAX = 20_000;
const EXAMPLES_MAX = 10;

const groupSums = ({ facts: { groupId, projectPath } }: JobRecord) => ({
  ...withoutAbsent({ groupId, projectPath }),
  ...{ jobs: 0, rejectedThen: 0, rejectedNow: 0, thenMicros: 0, nowMicros: 0 },
});

/** Counts which jobs the rules would reject, and what the jobs would cost. Reads the ledger twice, and writes nothing. */
export async function backtest(store: LedgerStore, options: BacktestOptions) {
  const groups = new Map<string, ReturnType<typeof groupSums>>();
  const [all, newly] = [new RejectionRows(), new RejectionRows()];
  const totals = {
    ...{ jobs: 0, rejectedThen: 0, rejectedNow: 0 },
    ...{ newlyRejected: 0, newlyAdmitted: 0 },
    /** Jobs that would get room within the `wait` of a limit. */
    waitedNow: 0,
    ...{ thenMicros: 0, nowMicros: 0 },
    /** Part of `nowMicros`: estimates of jobs that never ran. */
    estimatedMicros: 0,
    unrecorded: 0,
    variablesLost: 0,
    unasked: 0,
    /** Jobs the ledger could not have decided. */
    undecided: 0,
  };
  for await (const replayed of replayedJobs(store, options)) {
    if (replayed === undefined) {
      totals.unasked += 1;
      continue;
    }
    const { record, now, request, rejectedThen, thenMicros, nowMicros, estimated, waitedMs } = replayed;
    const rejectedNow = now?.state === 'REJECTED';
    const { groupId, projectPath } = record.facts;
    const key = groupId === undefined ? `path ${projectPath ?? ''}` : String(groupId);
    const group = groups.get(key) ?? groupSums(record);
    if (groups.size < GROUPS_MAX) groups.set(key, group);
    for (const sum of [totals, group]) {
      sum.jobs += 1;
      sum.thenMicros += thenMicros;
      sum.nowMicros += nowMicros;
      if (rejectedThen) sum.rejectedThen += 1;
      if (rejectedNow) sum.rejectedNow += 1;
    }
    if (estimated) totals.estimatedMicros += nowMicros;
    if (!request.recorded) totals.unrecorded += 1;
    if (request.variablesLost) totals.variablesLost += 1;
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

const JOBS_NAMED_MAX = 5;

interface CompareRules extends Pick<BacktestOptions, 'sinceMs' | 'untilMs' | 'onJob'> {
  readonly from: BacktestRules;
  readonly to: BacktestRules;
}

const newDifference = (rule: string, change: 'rejects' | 'passes') => ({
  ...{ rule, change, jobs: 0, examples: [] as number[] },
});

export type ComparedRules = Awaited<ReturnType<typeof compareRules>>;

/**
 * Evaluates recorded jobs under both policies, without counters (budgets, jobs in flight …): for those use a
 * backtest. Reads the ledger once and writes nothing.
 */
export async function compareRules(store: LedgerStore, { from, to, sinceMs, untilMs, onJob }: CompareRules) {
  const [before, after] = [new ReplayRequests(from), new ReplayRequests(to)];
  const byRule = new Map<string, ReturnType<typeof newDifference>>();
  const figures = {
    jobs: 0,
    /** No part of `jobs`: their records do not have what rules look at. */
    unrecorded: 0,
    variablesLost: 0,
    ...{ newlyRejected: 0, newlyAdmitted: 0 },
  };
  for await (const item of store.scan()) {
    if (item.kind !== 'record' || hasNoAdmissionRequest(item.record)) continue;
    const { record } = item;
    if (wasUnasked(record) && !wasRejected(record)) continue;
    if (record.decidedAtMs < sinceMs || record.decidedAtMs >= untilMs) continue;
    onJob();
    const [then, now] = [before.of(record), after.of(record)];
    if (!then.recorded) {
      figures.unrecorded += 1;
      continue;
    }
    figures.jobs += 1;
    if (now.variablesLost) figures.variablesLost += 1;
    const [old, recent] = [rejectingRules(then.ask.violations), rejectingRules(now.ask.violations)];
    if (old.size === 0 && recent.size > 0) figures.newlyRejected += 1;
    if (old.size > 0 && recent.size === 0) figures.newlyAdmitted += 1;
    for (const rule of new Set([...old, ...recent])) {
      if (old.has(rule) === recent.has(rule)) continue;
      const change = recent.has(rule) ? 'rejects' : 'passes';
      const row = byRule.get(`${change} ${rule}`) ?? newDifference(rule, change);
      byRule.set(`${change} ${rule}`, row);
      row.jobs += 1;
      if (row.examples.length < JOBS_NAMED_MAX) row.examples.push(record.jobId);
    }
  }
  return {
    ...figures,
    byRule: [...byRule.values()].sort((a, b) => b.jobs - a.jobs || (a.rule < b.rule ? -1 : 1)),
  };
}

const rejectingRules = (violations: JobRecord['violations']): ReadonlySet<string> =>
  new Set(violations.flatMap(({ rule, mode }) => (mode === 'enforce' ? [rule] : [])));

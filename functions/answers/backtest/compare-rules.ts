/** Which recorded jobs other rules would reject, as far as rules decide alone. */

import type { JobRecord } from '../../core/ledger/ledger.ts';
import { isAwaited } from '../../core/ledger/reservation.ts';
import { wasRejected } from '../../core/ledger/settle.ts';
import type { LedgerStore } from '../../core/ledger/store.ts';
import { BacktestQuestions, type BacktestRules } from './question.ts';
import type { BacktestOptions } from './replayed-jobs.ts';

const EXAMPLES_MAX = 5;

interface CompareRules extends Pick<BacktestOptions, 'sinceMs' | 'untilMs' | 'onJob'> {
  readonly from: BacktestRules;
  readonly to: BacktestRules;
}

interface RuleDifference {
  readonly rule: string;
  readonly change: 'rejects' | 'passes';
  jobs: number;
  readonly examples: number[];
}

export type ComparedRules = Awaited<ReturnType<typeof compareRules>>;

/**
 * Evaluates recorded jobs under both policies, without counters (budgets, jobs in flight …): for those use a
 * backtest. Reads the ledger once and writes nothing.
 */
export async function compareRules(store: LedgerStore, asked: CompareRules) {
  const [before, after] = [new BacktestQuestions(asked.from), new BacktestQuestions(asked.to)];
  const byRule = new Map<string, RuleDifference>();
  const figures = {
    jobs: 0,
    /** No part of `jobs`: their records do not have what rules look at. */
    unrecorded: 0,
    /** Part of `jobs`: their variables were not stored. Rules that read variables keep their recorded result. */
    variablesLost: 0,
    ...{ newlyRejected: 0, newlyAdmitted: 0 },
  };
  for await (const item of store.scan()) {
    if (item.kind !== 'record' || isAwaited(item.record) || !wasAsked(item.record)) continue;
    const { record } = item;
    if (record.decidedAtMs < asked.sinceMs || record.decidedAtMs >= asked.untilMs) continue;
    asked.onJob();
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
      const row: RuleDifference = byRule.get(`${change} ${rule}`) ?? { rule, change, jobs: 0, examples: [] };
      byRule.set(`${change} ${rule}`, row);
      row.jobs += 1;
      if (row.examples.length < EXAMPLES_MAX) row.examples.push(record.jobId);
    }
  }
  return {
    ...figures,
    byRule: [...byRule.values()].sort((a, b) => b.jobs - a.jobs || (a.rule < b.rule ? -1 : 1)),
  };
}

/** False for jobs without an admission request: unmetered or bypassed. */
const wasAsked = (record: JobRecord): boolean =>
  wasRejected(record) || (record.unchecked !== 'unmetered' && record.unchecked !== 'bypass');

const rejectingRules = (violations: JobRecord['violations']): ReadonlySet<string> =>
  new Set(violations.flatMap(({ rule, mode }) => (mode === 'enforce' ? [rule] : [])));

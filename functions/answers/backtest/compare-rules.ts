/** Which recorded jobs other rules would reject, as far as rules decide alone. */

import type { JobRecord } from '../../core/ledger/ledger.ts';
import { isAwaited } from '../../core/ledger/reservation.ts';
import { wasRejected } from '../../core/ledger/settle.ts';
import type { LedgerStore } from '../../core/ledger/store.ts';
import { BacktestQuestions, type BacktestRules } from './question.ts';

/** Jobs that are named as examples, of each rule. */
const EXAMPLES_MAX = 5;

interface CompareRules {
  /** Unix ms, half-open: jobs decided in it are asked again. */
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly from: BacktestRules;
  readonly to: BacktestRules;
  readonly onJob: () => void;
}

export interface ComparedRules {
  readonly jobs: number;
  /** No part of `jobs`: their records do not have what rules look at. */
  readonly unrecorded: number;
  /**
   * Part of `jobs`: their variables were not stored. Rules that read variables keep their recorded result.
   */
  readonly variablesLost: number;
  readonly newlyRejected: number;
  readonly newlyAdmitted: number;
  /** One row per rule and direction, those with most jobs first. */
  readonly byRule: readonly RuleDifference[];
}

/** Jobs that one rule rejects by one of both policies only. */
interface RuleDifference {
  readonly rule: string;
  readonly change: 'rejects' | 'passes';
  readonly jobs: number;
  /** The first job ids. */
  readonly examples: readonly number[];
}

/**
 * Evaluates recorded jobs under both policies, without counters (budgets, jobs in flight …): for those use a
 * backtest. Reads the ledger once and writes nothing.
 */
export async function compareRules(store: LedgerStore, asked: CompareRules): Promise<ComparedRules> {
  const { sinceMs, untilMs, onJob } = asked;
  const [before, after] = [new BacktestQuestions(asked.from), new BacktestQuestions(asked.to)];
  const byRule = new Map<
    string,
    { rule: string; change: RuleDifference['change']; examples: number[]; jobs: number }
  >();
  const figures = { jobs: 0, unrecorded: 0, variablesLost: 0, newlyRejected: 0, newlyAdmitted: 0 };

  const note = (change: RuleDifference['change'], rules: Iterable<string>, jobId: number): void => {
    for (const rule of rules) {
      const key = `${change} ${rule}`;
      const found = byRule.get(key) ?? { rule, change, examples: [], jobs: 0 };
      byRule.set(key, found);
      found.jobs += 1;
      if (found.examples.length < EXAMPLES_MAX) found.examples.push(jobId);
    }
  };
  for await (const item of store.scan()) {
    if (item.kind !== 'record' || isAwaited(item.record)) continue;
    const { record } = item;
    if (record.decidedAtMs < sinceMs || record.decidedAtMs >= untilMs || !wasAsked(record)) continue;
    onJob();
    const [then, now] = [before.of(record), after.of(record)];
    if (!then.recorded) {
      figures.unrecorded += 1;
      continue;
    }
    figures.jobs += 1;
    if (now.variablesLost) figures.variablesLost += 1;
    const [old, recent] = [then, now].map(({ ask }) => rejectingRules(ask.violations));
    if (old === undefined || recent === undefined) continue;
    if (old.size === 0 && recent.size > 0) figures.newlyRejected += 1;
    if (old.size > 0 && recent.size === 0) figures.newlyAdmitted += 1;
    note('rejects', without(recent, old), record.jobId);
    note('passes', without(old, recent), record.jobId);
  }
  return {
    ...figures,
    byRule: [...byRule.values()].sort((a, b) => b.jobs - a.jobs || (a.rule < b.rule ? -1 : 1)),
  };
}

/** False for jobs without an admission request: unmetered or bypassed. */
const wasAsked = (record: JobRecord): boolean =>
  wasRejected(record) || (record.unchecked !== 'unmetered' && record.unchecked !== 'bypass');

const without = (rules: ReadonlySet<string>, others: ReadonlySet<string>): readonly string[] =>
  [...rules].filter((rule) => !others.has(rule));

const rejectingRules = (violations: JobRecord['violations']): ReadonlySet<string> =>
  new Set(violations.flatMap(({ rule, mode }) => (mode === 'enforce' ? [rule] : [])));

/** Which recorded jobs other rules would reject, as far as rules decide alone. */

import type { JobRecord } from '../../core/ledger/ledger.ts';
import { isAwaited } from '../../core/ledger/reservation.ts';
import { wasRejected } from '../../core/ledger/settle.ts';
import type { LedgerStore } from '../../core/ledger/store.ts';
import { BacktestQuestions, type BacktestRules } from './question.ts';

const EXAMPLES_MAX = 5;

interface CompareRules {
  /** Unix ms, half-open: jobs decided in it are asked again. */
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly from: BacktestRules;
  readonly to: BacktestRules;
  readonly onJob: () => void;
}

export type ComparedRules = Awaited<ReturnType<typeof compareRules>>;

interface RuleDifference {
  readonly rule: string;
  readonly change: 'rejects' | 'passes';
  readonly jobs: number;
  readonly examples: readonly number[];
}

/**
 * Evaluates recorded jobs under both policies, without counters (budgets, jobs in flight …): for those use a
 * backtest. Reads the ledger once and writes nothing.
 */
export async function compareRules(store: LedgerStore, asked: CompareRules) {
  const { sinceMs, untilMs, onJob } = asked;
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
  const note = (change: RuleDifference['change'], rules: readonly string[], jobId: number): void => {
    for (const rule of rules) {
      const { jobs = 0, examples = [] } = byRule.get(`${change} ${rule}`) ?? {};
      const shown = examples.length < EXAMPLES_MAX ? [...examples, jobId] : examples;
      byRule.set(`${change} ${rule}`, { rule, change, jobs: jobs + 1, examples: shown });
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
    note(
      'rejects',
      [...recent].filter((rule) => !old.has(rule)),
      record.jobId,
    );
    note(
      'passes',
      [...old].filter((rule) => !recent.has(rule)),
      record.jobId,
    );
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

import { MemoryRollupStore } from '../../../../functions/core/usage/rollup-store.ts';
import type { UsageTally } from '../../../../functions/core/usage/usage.ts';
import type { BudgetTables } from '../../../../scripts/cli/api/open-api.ts';
import type { BudgetDeps } from '../../../../scripts/cli/budget/budget-flags.ts';
import { readOnly } from '../../../../scripts/cli/ledger/read-only-store.ts';
import { openLimits } from '../../../../scripts/cli/limits/open-limits.ts';
import { publishCommandOn } from '../../../../scripts/cli/limits/publish-command.ts';
import type { Command, TerminalIo } from '../../../../scripts/terminal/command.ts';
import { memoryAlertRecords } from '../../../support/tables/memory-alert-records.ts';
import { memoryDirectoryTable } from '../../../support/tables/memory-directory-table.ts';
import { memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';
import { type DeskRun, runDesk } from '../desk-run.ts';
import { ledgerBench } from '../ledger-bench.ts';

/** As finance has them: a company, two teams of it, a runner class. */
export const LIMITS: readonly object[] = [
  { on: { group: 100 }, money: 9000, per: 'month', zone: 'Europe/Berlin', owner: 'finance' },
  { on: { group: 101 }, money: '7.50', per: 'month', zone: 'Europe/Berlin', owner: 'payments-leads' },
  { on: { group: 102 }, minutes: 20000, per: 'month', owner: 'platform-leads' },
  { on: { group: 102 }, jobs: 7 },
  { on: { runner_class: 'large' }, jobs: 2 },
];

/** The desk's commands on tables in memory; the limits are live unless told otherwise. */
export async function budgetBench(limits: readonly object[] = LIMITS, isLive = true) {
  const ledger = ledgerBench({ limits });
  const table = memoryLimitTable();
  const rollup = new MemoryRollupStore({ instance: 'gitlab.example.com' });
  const alerts = memoryAlertRecords(ledger.clock);
  let stillOpen = 0;
  const tables: BudgetTables = {
    limits: table,
    ledger: readOnly(ledger.store),
    rollup,
    alerts,
    directory: memoryDirectoryTable(),
    description: 'the test table',
    close: async () => {
      stillOpen -= 1;
    },
  };
  const deps: BudgetDeps = {
    open: async () => {
      stillOpen += 1;
      return tables;
    },
    userName: () => 'jane',
  };
  const run = async (
    command: (deps: BudgetDeps) => Command,
    args: readonly string[],
    more: Partial<TerminalIo> = {},
  ): Promise<DeskRun> => {
    const made = command(deps);
    const entries = [{ ...made, load: async () => made }];
    const words = [...made.name.split(' '), ...args, ...ledger.flags];
    const io = { columns: 140, nowMs: ledger.clock.nowMs, ...more };
    const result = await runDesk(words, `${ledger.folder}/`, io, entries);
    if (stillOpen !== 0) throw new Error(`${made.name} left a table open`);
    return result;
  };
  const json = async (command: (deps: BudgetDeps) => Command, ...args: readonly string[]) =>
    JSON.parse((await run(command, [...args, '--json'])).out);
  const live = () => table.getPointer({ timeoutMs: 1_000 });
  /** So much a day on the days before today. */
  const spend = async (subject: string, perDay: readonly number[]): Promise<void> => {
    const today = Math.floor(ledger.clock.nowMs() / 86_400_000);
    const usage = perDay.map((micros, index) => ({
      key: { subject, day: dayText(today - perDay.length + index) },
      delta: new Map([['settledMicros', micros]]) as UsageTally,
    }));
    // A transaction has at most a hundred items.
    for (let first = 0; first < usage.length; first += 100)
      await rollup.commit({ contributions: [], usage: usage.slice(first, first + 100) });
  };
  if (isLive) {
    const opening = async () => ({ table, description: 'the test table', close: async () => {} });
    const publish = publishCommandOn({ userName: () => 'seed' });
    const policy = ['--policy', 'policy.yaml', '--directory', 'directory.yaml'];
    const words = ['limits', 'publish', 'limits.yaml', '--why', 'first', ...policy];
    const io = { nowMs: ledger.clock.nowMs, standIns: new Map([[openLimits, opening]]) };
    const { code, err } = await runDesk(words, `${ledger.folder}/`, io, [
      { ...publish, load: async () => publish },
    ]);
    if (code !== 0) throw new Error(err);
  }
  return { ...ledger, table, tables, rollup, alerts, deps, run, json, live, spend };
}

const dayText = (day: number): string => new Date(day * 86_400_000).toISOString().slice(0, 10);

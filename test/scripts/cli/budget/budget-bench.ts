import type { UsageTally } from '../../../../functions/core/usage/usage.ts';
import { osUserName } from '../../../../scripts/cli/budget/arguments.ts';
import { type LedgerAccess, openToEdit, readOnly } from '../../../../scripts/cli/open-ledger.ts';
import type { TerminalIo } from '../../../../scripts/terminal/command.ts';
import { MemoryRollupStore } from '../../../support/ledger/memory-rollup-store.ts';
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
  const tables: LedgerAccess = {
    limits: table,
    store: readOnly(ledger.store),
    announce: ledger.store.announce.bind(ledger.store),
    usage: rollup,
    alerts,
    instance: 'gitlab.example.com',
    directory: memoryDirectoryTable(),
    description: 'the test table',
    close: async () => {
      stillOpen -= 1;
    },
  };
  const open = async (): Promise<LedgerAccess> => {
    stillOpen += 1;
    return tables;
  };
  const standIns = new Map<unknown, unknown>([
    [openToEdit, open],
    [osUserName, () => 'jane'],
  ]);
  const run = async (
    name: string,
    args: readonly string[],
    more: Partial<TerminalIo> = {},
    others: readonly (readonly [real: unknown, other: unknown])[] = [],
  ): Promise<DeskRun> => {
    const words = [...name.split(' '), ...args, ...ledger.flags];
    const io = {
      columns: 140,
      nowMs: ledger.clock.nowMs,
      standIns: new Map([...standIns, ...others]),
      ...more,
    };
    const result = await runDesk(words, `${ledger.folder}/`, io);
    if (stillOpen !== 0) throw new Error(`${name} left a table open`);
    return result;
  };
  const json = async (name: string, ...args: readonly string[]) =>
    JSON.parse((await run(name, [...args, '--json'])).out);
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
    const policy = ['--policy', 'policy.yaml', '--directory', 'directory.yaml'];
    const words = ['limits', 'publish', 'limits.yaml', '--why', 'first', '--actor', 'seed', ...policy];
    const { code, err } = await runDesk(words, `${ledger.folder}/`, { nowMs: ledger.clock.nowMs, standIns });
    if (code !== 0) throw new Error(err);
  }
  return { ...ledger, table, tables, standIns, rollup, alerts, open, run, json, live, spend };
}

const dayText = (day: number): string => new Date(day * 86_400_000).toISOString().slice(0, 10);

import { type BacktestFigures, backtest } from '../../../functions/answers/backtest/backtest.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { type OpenLedger, openLedger } from '../ledger/open-ledger.ts';
import { groupFilter } from '../report/group-filter.ts';
import { readSpan, SPAN_HELP } from '../report/span.ts';
import { rollupZone } from '../rollup-zone.ts';
import { RULES_FLAGS, RULES_FLAGS_HELP, readRules } from '../rules-flags.ts';
import { progressOf } from '../truth/progress.ts';
import { type BacktestResult, backtestText, notesOf } from './backtest-text.ts';

const HELP = `tollgate backtest --limits <file> [flags]

What if these limits, or this policy and its prices, had been in force? Lives the ledger's jobs again in the order they
were decided, on counters of their own: which would have been rejected, by what, and what would all have cost. A job
that would not have run takes no room of those after it. Only reads: no counter is touched.

  --since <time>       14d, 36h, 8w ago, a day (2026-10-01) or an instant   (default: 60d)
  --until <time>       the same                                             (default: now)
                       ${SPAN_HELP}
  --group <id | path>  counts only jobs of this group and below
${RULES_FLAGS_HELP}
${LEDGER_FLAGS_HELP}
  --json               the result as one JSON object

Exit codes: 0 done, 1 the ledger does not answer, 3 wrong usage or invalid documents`;

/** @param open - tests open a ledger of their own. */
export const backtestCommandOn = (open: OpenLedger): Command => ({
  name: 'backtest',
  summary: 'What if other limits or prices had been in force? Replays the jobs of the last weeks',
  help: HELP,
  run: (args, io) => runBacktest(args, io, open),
});

export const backtestCommand: Command = backtestCommandOn(openLedger);

async function runBacktest(args: readonly string[], io: TerminalIo, open: OpenLedger): Promise<ExitCode> {
  const { values } = readFlags(args, {
    since: 'text',
    until: 'text',
    group: 'text',
    ...LEDGER_FLAGS,
    ...RULES_FLAGS,
  });
  const span = readSpan(values.since ?? '60d', values.until, io.nowMs(), rollupZone(io));
  const rules = readRules(values, io);
  const group = values.group === undefined ? undefined : groupFilter(values.group, rules.directory);
  const ledger = await open(values, io);
  const progress = progressOf('jobs replayed', io);
  let figures: BacktestFigures;
  try {
    figures = await backtest(ledger.store, {
      ...span,
      rules,
      counts: group?.counts ?? (() => true),
      onJob: progress.step,
    });
  } finally {
    progress.done();
    await ledger.close();
  }
  group?.check();
  const unknown = group?.unknown
    ? [`The directory does not know ${group.label}: groups below it may be missing.`]
    : [];
  const result: BacktestResult = {
    ...span,
    ...figures,
    ledger: ledger.description,
    ...(group !== undefined && { group: group.label }),
    currency: rules.policy.currency,
    policyVersion: rules.policy.version,
    limitsVersion: rules.limits.version,
    notes: [...unknown, ...notesOf(figures)],
  };
  if (values.json) io.out(`${JSON.stringify(result)}\n`);
  else io.out(backtestText(result, rules.directory, paintWhen(io.colours), io.columns));
  return EXIT.ok;
}

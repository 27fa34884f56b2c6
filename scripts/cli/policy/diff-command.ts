import { type ComparedRules, compareRules } from '../../../functions/answers/backtest/compare-rules.ts';
import type { BacktestRules } from '../../../functions/answers/backtest/question.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { type Paint, paintWhen, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP, type LedgerFlags } from '../ledger/ledger-flags.ts';
import type { OpenLedger } from '../ledger/open-ledger.ts';
import { readSpan, SPAN_HELP } from '../report/span.ts';
import { rollupZone } from '../rollup-zone.ts';
import { RULES_FLAGS, rulesFiles } from '../rules-flags.ts';
import { progressOf } from '../truth/progress.ts';
import type { PolicyChange, PolicyEffect } from './diff/change.ts';
import { betweenFiles, sinceBase } from './diff/diffed-documents.ts';
import { jumpText, type LaterPriceJump } from './diff/price-jumps-between.ts';
import { recordedText } from './diff/recorded-text.ts';

/** @param open - tests open a ledger of their own. */
export const diffCommandOn = (open: OpenLedger): Command => ({
  name: 'policy diff',
  summary: 'What changes between two policies, and does it tighten or loosen?',
  help: `Compares two policies by what they mean, not by their lines, and says of each change whether it tightens (more jobs
may be rejected), loosens, is neutral, or could loosen. A price that becomes many times another one is most likely a
typing error: it ends with exit 2 until it is corrected, confirmed in the prices (allow_jump: true), or --force is said.
Lists are compared by their entries: an entry more or less has a direction. A list in which entries came and others went, a
changed pattern and a field without a direction are reported as "could loosen". With --since the jobs that the ledger
recorded are decided by both policies, as far as rules decide without counters.

Usage
  tollgate policy diff <old.yaml> <new.yaml>              two policies, or two limits documents
  tollgate policy diff --base <commit, branch or tag>     policy and limits of that commit against those here

  --policy <file>      the policy here; names the runner classes of limits  (default: policies/policy.yaml)
  --limits <file>      the limits here                                      (default: policies/limits.yaml)
  --directory <file>   which groups have which defaults and rollouts        (default: policies/directory.yaml)
  --since <time>       also asks jobs recorded since then: 14d, 36h, 8w ago, a day or an instant
                       ${SPAN_HELP}
${LEDGER_FLAGS_HELP}
  --force              prices that jump are meant
  --exit-code          exit 2 if there is any difference
  --json               one JSON object

Exit codes: 0 compared, 2 a price jumps, or with --exit-code there is a difference, 3 wrong usage or an invalid document`,
  run: (args, io) => diff(args, io, open),
});

/** Nothing of a ledger is loaded unless `--since` is given. */
export const diffCommand: Command = diffCommandOn(async (...asked) =>
  (await import('../ledger/open-ledger.ts')).openLedger(...asked),
);

async function diff(args: readonly string[], io: TerminalIo, open: OpenLedger): Promise<ExitCode> {
  const { values, words } = readFlags(
    args,
    { base: 'text', since: 'text', ...LEDGER_FLAGS, ...RULES_FLAGS, force: 'switch', 'exit-code': 'switch' },
    { max: 2, what: 'two files, <old.yaml> <new.yaml>' },
  );
  const files = rulesFiles(values, io);
  const { changes, jumps, rules } =
    values.base === undefined ? betweenFiles(words, files, io) : sinceBase(values.base, words, files, io);
  const recorded =
    values.since === undefined ? undefined : await askAgain(values.since, values, rules(), io, open);
  const refused = jumps.length > 0 && !values.force;
  if (values.json)
    io.out(`${JSON.stringify({ different: changes.length > 0, changes, jumps, ...recorded })}\n`);
  else {
    tell(changes, io);
    if (recorded !== undefined)
      io.out(`\n${recordedText(recorded.recorded, recorded.ledger).map(printable).join('\n')}\n`);
    if (!values.force) tellJumps(jumps, io);
  }
  return refused || (values['exit-code'] && changes.length > 0) ? EXIT.wouldReject : EXIT.ok;
}

async function askAgain(
  since: string,
  flags: LedgerFlags,
  [from, to]: readonly [BacktestRules, BacktestRules],
  io: TerminalIo,
  open: OpenLedger,
): Promise<{ readonly recorded: ComparedRules; readonly ledger: string }> {
  const span = readSpan(since, undefined, io.nowMs(), rollupZone(io));
  const ledger = await open(flags, io);
  const progress = progressOf('jobs asked again', io);
  try {
    const recorded = await compareRules(ledger.store, { ...span, from, to, onJob: progress.step });
    return { recorded, ledger: ledger.description };
  } finally {
    progress.done();
    await ledger.close();
  }
}

const EFFECTS: readonly PolicyEffect[] = ['tightens', 'loosens', 'could loosen', 'neutral'];

function tell(changes: readonly PolicyChange[], io: TerminalIo): void {
  if (changes.length === 0) {
    io.out('no difference\n');
    return;
  }
  const paint = paintWhen(io.colours);
  const rows = changes.map(({ at, what, effect }) => [
    painted(effect, paint),
    printable(at),
    printable(what),
  ]);
  const counts = EFFECTS.flatMap((effect) => {
    const count = changes.filter((each) => each.effect === effect).length;
    return count === 0 ? [] : [`${count} ${effect}`];
  });
  const changed = changes.length === 1 ? '1 change' : `${changes.length} changes`;
  io.out(`${table([{}, {}, {}], rows, io.columns)}\n${changed}: ${counts.join(', ')}\n`);
}

function tellJumps(jumps: readonly LaterPriceJump[], io: TerminalIo): void {
  for (const jump of jumps)
    io.err(`${printable(jumpText(jump))}: correct it, write allow_jump: true there, or say --force\n`);
}

function painted(effect: PolicyEffect, paint: Paint): string {
  switch (effect) {
    case 'tightens':
      return paint.warn(effect);
    case 'loosens':
      return paint.bad(effect);
    case 'could loosen':
      return paint.strong(effect);
    case 'neutral':
      return paint.dim(effect);
  }
}

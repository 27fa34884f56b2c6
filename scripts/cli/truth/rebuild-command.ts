import { systemClock } from '../../../functions/core/environment/index.ts';
import { createLedger, type RebuildReport } from '../../../functions/core/ledger/index.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP, type LedgerFlags } from '../ledger/ledger-flags.ts';
import { type OpenLedger, openLedger, openToRepair } from '../ledger/open-ledger.ts';
import { type Confirmation, confirmOnTerminal } from './confirm.ts';
import { driftText, type RebuildResult, rebuildText } from './drift-text.ts';
import { progressOf, watched } from './progress.ts';
import { rebuildAllUsage } from './rebuild-usage.ts';

const HELP = `tollgate rebuild [flags]

Do the counters show what their jobs make? Counts every counter again from closing entries, job records and correction
entries, twice, and calls drift only what both counts agree on while nobody wrote the counter. There should be none.
A period that was never closed and whose records may have expired is neither compared nor repaired; nor is anything
while the table has items of a newer Tollgate.

  --repair             sets the counters that drift to what their records make; asks first
  --yes                does not ask
  --usage              counts every job record into the usage of groups and days once more, and adds what is missing there;
                       counters stay as they are, and it may run at any time
  --zone <zone>        with --usage: where days begin and end    (default: $TOLLGATE_ROLLUP_ZONE, else UTC)
${LEDGER_FLAGS_HELP}
  --json               the report as one JSON object

Exit codes: 0 no drift, all of it repaired, or usage complete, 1 the ledger does not answer, 2 something is left, 3 wrong usage`;

interface RebuildDeps {
  /** Tests open ledgers of their own. */
  readonly open: OpenLedger;
  /** The same ledger with the right to write. */
  readonly openToRepair: OpenLedger;
  readonly confirm: Confirmation;
}

export const rebuildCommandOn = (deps: RebuildDeps): Command => ({
  name: 'rebuild',
  summary: 'Do the counters show what their jobs make? Recounts all of them, and repairs if told to',
  help: HELP,
  run: (args, io) => rebuild(args, io, deps),
});

export const rebuildCommand: Command = rebuildCommandOn({
  open: openLedger,
  openToRepair,
  confirm: confirmOnTerminal,
});

async function rebuild(args: readonly string[], io: TerminalIo, deps: RebuildDeps): Promise<ExitCode> {
  const { values } = readFlags(args, {
    repair: 'switch',
    yes: 'switch',
    usage: 'switch',
    zone: 'text',
    ...LEDGER_FLAGS,
  });
  if (values.yes && !values.repair) throw new UsageError('--yes: belongs to --repair, which is not there');
  if (values.zone !== undefined && !values.usage)
    throw new UsageError('--zone: belongs to --usage, which is not there');
  if (values.usage) {
    if (values.repair) throw new UsageError('--usage: mends usage, --repair counters; expected one of them');
    return rebuildAllUsage(deps.openToRepair, values, io);
  }
  const found = await recount(deps.open, false, values, io);
  if (found.drift.length === 0 || !values.repair) return tell(found, values.json, io);
  if (!values.yes) {
    if (!values.json) io.out(driftText(found, paintWhen(io.colours), io.columns));
    const agreed = await deps.confirm(`Set ${found.drift.length} counters to what their records make?`);
    if (agreed === undefined)
      throw new UsageError('--repair: nobody can be asked here; add --yes to repair without asking');
    if (!agreed) {
      io.err('Nothing was written.\n');
      return EXIT.wouldReject;
    }
  }
  // It counts again: moved counters are no drift any more.
  return tell(await recount(deps.openToRepair, true, values, io), values.json, io);
}

async function recount(
  open: OpenLedger,
  repair: boolean,
  flags: LedgerFlags,
  io: TerminalIo,
): Promise<RebuildResult> {
  const opened = await open(flags, io);
  const progress = progressOf('items counted', io);
  try {
    const ledger = createLedger({
      store: watched(opened.store, progress),
      clock: { ...systemClock, nowMs: io.nowMs },
    });
    const report: RebuildReport = await ledger.rebuild({ repair });
    return { ledger: opened.description, ...report };
  } finally {
    await opened.close();
  }
}

function tell(result: RebuildResult, json: boolean, io: TerminalIo): ExitCode {
  if (json) io.out(`${JSON.stringify(result)}\n`);
  else io.out(rebuildText(result, paintWhen(io.colours), io.columns));
  return result.drift.length > result.repaired || result.passedOver > 0 ? EXIT.wouldReject : EXIT.ok;
}

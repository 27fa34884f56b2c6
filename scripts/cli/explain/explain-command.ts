import { parseJobReference } from '../../../functions/answers/job/recorded-job.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { answeredInProcess } from '../api/api-in-process.ts';
import { withApi } from '../api/open-api.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP, type LedgerFlags } from '../ledger/ledger-flags.ts';
import { type OpenLedger, openLedger } from '../ledger/open-ledger.ts';
import { rollupZone } from '../rollup-zone.ts';
import { RULES_FLAGS, RULES_FLAGS_HELP, type RulesFlags } from '../rules-flags.ts';
import { explanationText } from './explanation-text.ts';

const HELP = `tollgate explain <job id | decision id> [flags]

Why was this job decided as it was? Every rule: what it said then and what it says now; every counter: its numbers
then and now; price, versions and the text the developer read. Only reads: no counter is touched.
It says what the job's page says: limits, grants, freezes and groups are those that are live, unless a file is named or
nothing is live. With --console it shows what you may see; in a job of CI by its id_token in TOLLGATE_ID_TOKEN.
Times are those of $TOLLGATE_ROLLUP_ZONE, else of UTC; --json has Unix milliseconds.

  <job id>             4711, or the address of the job's page; explains the last decision about it
  <decision id>        d-4711-1, as on the job page and in the log
${LEDGER_FLAGS_HELP}
${RULES_FLAGS_HELP}
  --json               the whole explanation as one JSON object

Exit codes: 0 found, 1 the ledger or console does not answer, 3 no such decision, wrong usage or invalid documents`;

/** @param open - tests open a ledger of their own. */
export const explainCommandOn = (open: OpenLedger): Command => ({
  name: 'explain',
  summary: 'Why was this job decided as it was? Every rule, the numbers then and now',
  help: HELP,
  run: (args, io) => explain(args, io, open),
});

export const explainCommand: Command = explainCommandOn(openLedger);

async function explain(args: readonly string[], io: TerminalIo, open: OpenLedger): Promise<ExitCode> {
  const { values, words } = readFlags(
    args,
    { ...LEDGER_FLAGS, ...RULES_FLAGS },
    { max: 1, what: 'one job id or decision id' },
  );
  const [word] = words;
  if (word === undefined)
    throw new UsageError('which job? expected a job id (4711) or a decision id (d-4711-1)');
  const read = parseJobReference(word);
  if (!read.ok) throw new UsageError(read.problems.join('; '));
  const told = await withApi(open, withFiles(values), io, (api) =>
    answeredInProcess(api.jobs[':word'].$get({ param: { word } })),
  );
  const layout = { zone: rollupZone(io), columns: io.columns, paint: paintWhen(io.colours) };
  io.out(values.json ? `${JSON.stringify(told)}\n` : explanationText(told, layout));
  return EXIT.ok;
}

/** A file that is named is meant, and only a ledger is judged by it. @throws {UsageError} */
function withFiles(flags: LedgerFlags & RulesFlags): LedgerFlags & RulesFlags {
  const namesFile = [flags.policy, flags.limits, flags.directory].some((file) => file !== undefined);
  if (!namesFile) return flags;
  if (flags.console === undefined) return { ...flags, ledger: flags.ledger ?? 'local' };
  throw new UsageError(
    '--console: has rules and limits of its own; expected no --policy, --limits or --directory',
  );
}

import { askAgain } from '../../../functions/answers/job/asked-again.ts';
import { countersFor } from '../../../functions/answers/job/counters-read.ts';
import { type ExplanationContext, explanationOf } from '../../../functions/answers/job/explanation.ts';
import { type JobReference, parseJobReference } from '../../../functions/answers/job/job-reference.ts';
import { awaitedText, retriedOf } from '../../../functions/answers/job/retried.ts';
import { isAwaited, type JobRecord } from '../../../functions/core/ledger/index.ts';
import { timeoutEstimator } from '../../../policies/estimate.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { answeredInProcess } from '../api/api-in-process.ts';
import { consoleAsked, consoleClient } from '../api/console-client.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP, type LedgerFlags } from '../ledger/ledger-flags.ts';
import { type OpenLedger, openLedger } from '../ledger/open-ledger.ts';
import { rollupZone } from '../rollup-zone.ts';
import { RULES_FLAGS, RULES_FLAGS_HELP, type RulesFlags } from '../rules-flags.ts';
import { openRulesInForce } from '../rules-in-force.ts';
import { consoleExplanationText } from './console-explanation.ts';
import { explanationText } from './explanation-text.ts';

/** Far from the table and just signed in, the first read may take a while. */
const READ_TIMEOUT_MS = 15_000;

const HELP = `tollgate explain <job id | decision id> [flags]

Why was this job decided as it was? Every rule: what it said then and what it says now; every counter: its numbers
then and now; price, versions and the text the developer read. Only reads: no counter is touched.
Limits and groups are those that are live beside the ledger, unless a file is named or nothing is live.
With --console it tells what the job's page shows you; in a job of CI by its id_token in TOLLGATE_ID_TOKEN.
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
  const reference = read.value;
  const origin = consoleOf(values, io);
  if (origin !== undefined) return explainByConsole(word, origin, values.json, io);
  const ledger = await open(values, io);
  try {
    const [record] = await ledger.store.readRecords([reference.jobId], { timeoutMs: READ_TIMEOUT_MS });
    const nowMs = io.nowMs();
    const unknown = whyUnknown(reference, record, ledger.description, nowMs);
    if (record === undefined || unknown !== undefined) {
      if (values.json)
        io.out(`${JSON.stringify({ error: { code: 'unknown', message: unknown, problems: [] } })}\n`);
      else io.err(`${unknown}\n`);
      return EXIT.invalid;
    }
    const rules = { ...(await openRulesInForce(values, ledger, io)), estimator: timeoutEstimator };
    const again = askAgain(record, rules, nowMs);
    const counters = await countersFor(record, again, (keys) =>
      ledger.store.readCounters(keys, { timeoutMs: READ_TIMEOUT_MS }),
    );
    const using: ExplanationContext = { rules, again, nowMs, counters };
    const explanation = explanationOf(record, using);
    const retry = await retriedOf(record, {
      ...{ policy: rules.policy, requeue: ledger.requeue, nowMs },
      ledger: { readRecords: (ids) => ledger.store.readRecords(ids, { timeoutMs: READ_TIMEOUT_MS }) },
    });
    if (values.json) io.out(`${JSON.stringify({ ...explanation, ...withoutAbsent({ retry }) })}\n`);
    else io.out(explanationText(explanation, retry, rollupZone(io), paintWhen(io.colours), io.columns));
    return EXIT.ok;
  } finally {
    await ledger.close();
  }
}

/** Undefined: a ledger is read. A file that is named is meant, and only a ledger is judged by it. */
function consoleOf(flags: LedgerFlags & RulesFlags, io: TerminalIo): string | undefined {
  const namesFile = [flags.policy, flags.limits, flags.directory].some((file) => file !== undefined);
  if (!namesFile) return consoleAsked(flags, io);
  if (flags.console === undefined) return undefined;
  throw new UsageError(
    '--console: has rules and limits of its own; expected no --policy, --limits or --directory',
  );
}

async function explainByConsole(
  word: string,
  origin: string,
  asJson: boolean,
  io: TerminalIo,
): Promise<ExitCode> {
  const asking = consoleClient(origin, io).jobs[':word'].$get({ param: { word } });
  const told = await answeredInProcess(asking);
  const layout = { zone: rollupZone(io), columns: io.columns, paint: paintWhen(io.colours) };
  io.out(asJson ? `${JSON.stringify(told)}\n` : consoleExplanationText(told, layout));
  return EXIT.ok;
}

/** Undefined: it is the record that was asked for. */
function whyUnknown(
  { jobId, generation }: JobReference,
  record: JobRecord | undefined,
  where: string,
  nowMs: number,
): string | undefined {
  if (record === undefined) {
    return `${where} knows no job ${jobId}: it was never asked about, its record has expired, or it belongs to another GitLab (--instance)`;
  }
  if (isAwaited(record)) return awaitedText(record, nowMs);
  if (generation === undefined || generation === record.generation) return undefined;
  return `job ${jobId} was decided ${record.generation} times, the last time as d-${jobId}-${record.generation}; of d-${jobId}-${generation} nothing is kept`;
}

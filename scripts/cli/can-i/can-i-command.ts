import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { consoleAsked } from '../api/console-client.ts';
import { PLACE_FLAGS_HELP, readNow } from '../evaluation/place-flags.ts';
import { LEDGER_FLAGS, type LedgerFlags } from '../ledger/ledger-flags.ts';
import { type LedgerAccess, type OpenLedger, openLedger } from '../ledger/open-ledger.ts';
import { RULES_FLAGS, RULES_FLAGS_HELP, readRules } from '../rules-flags.ts';
import { answerCanI, type CanIAnswer } from './answer.ts';
import { answerJson } from './answer-json.ts';
import { answerText } from './answer-text.ts';
import { canIByConsole } from './console-can-i.ts';
import { REQUEST_FLAGS, type SyntheticRequest, syntheticRequest } from './synthetic-request.ts';

/** Far from the table and just signed in, the first read may take a while. */
const READ_TIMEOUT_MS = 15_000;

const SUMMARY = 'Would such a job be admitted now? Touches no counter';

const HELP = `${SUMMARY}

Usage
  tollgate can-i --project acme/payments/checkout --image node:24 --class large --minutes 20 [flags]

Evaluates one made-up request against the documents. What no flag says is taken as not sent by GitLab.

Where
${PLACE_FLAGS_HELP}

The job
  --image <image>         its container image
  --service <image>       one of its services; may come several times
  --class <name>          its runner class, or the tags of its runner: --tag <tag>, several times
  --minutes <n>           how long it will run (default: as the policy estimates)
  --timeout <duration>    its timeout: 1h, 90m
  --job <name>, --environment <name>, --pull-policy <policy>
  --variable <NAME=value> a variable; may come several times

Counters
  --ledger <local | table>  read what the counters show now: those of npm start on this machine, or of a DynamoDB
                          table (default: none is read, all are taken as empty)
  --instance <host>, --region <region>, --endpoint <url>   of the table
  --console <url>         ask a console, with the limits in force there; after tollgate login, or in a job of CI by its
                          id_token in TOLLGATE_ID_TOKEN, of whose own project it is then
  --rerun <job>           ask it about this job once more: 4711, or the address of its page   (console: $TOLLGATE_CONSOLE)

Documents
${RULES_FLAGS_HELP}

  --json                  one object with everything

Exit codes: 0 admitted, 1 the ledger or console does not answer, 2 would be rejected, 3 wrong usage or an invalid document`;

/** @param open - tests open a ledger of their own. */
export const canICommandOn = (open: OpenLedger): Command => ({
  name: 'can-i',
  summary: SUMMARY,
  help: HELP,
  run: (args, io) => canI(args, io, open),
});

export const canICommand: Command = canICommandOn(openLedger);

async function canI(args: readonly string[], io: TerminalIo, open: OpenLedger): Promise<ExitCode> {
  const { values } = readFlags(args, { ...REQUEST_FLAGS, ...RULES_FLAGS, ...LEDGER_FLAGS, rerun: 'text' });
  const nowMs = readNow(values.now, io.nowMs);
  const isForConsole = values.console !== undefined || values.rerun !== undefined;
  const origin = isForConsole ? consoleAsked(values, io) : undefined;
  if (origin !== undefined) return canIByConsole(values, origin, nowMs, io);
  if (values.rerun !== undefined)
    throw new UsageError('--rerun: is asked of a console; expected --console <url>, or $TOLLGATE_CONSOLE');
  const asked = syntheticRequest(values, readRules(values, io), nowMs);
  const { answer, ledger } = await withLedger(values, io, open, (books) => ask(asked, nowMs, books));
  if (values.json) {
    io.out(`${JSON.stringify(answerJson(answer, { nowMs, ledger, unseen: asked.unseen }))}\n`);
  } else {
    const paint = paintWhen(io.colours);
    io.out(answerText(answer, { columns: io.columns, paint, ledger, unseen: asked.unseen }));
  }
  return answer.verdict === 'rejected' ? EXIT.wouldReject : EXIT.ok;
}

interface Answered {
  readonly answer: CanIAnswer;
  readonly ledger: string | undefined;
}

async function ask(
  { request, rules }: SyntheticRequest,
  nowMs: number,
  books: LedgerAccess | undefined,
): Promise<Answered> {
  const answer = await answerCanI(request, rules, nowMs, async (keys) =>
    books === undefined ? [] : books.store.readCounters(keys, { timeoutMs: READ_TIMEOUT_MS }),
  );
  return { answer, ledger: books?.description };
}

async function withLedger<Result>(
  flags: LedgerFlags,
  io: TerminalIo,
  open: OpenLedger,
  use: (books: LedgerAccess | undefined) => Promise<Result>,
): Promise<Result> {
  if (flags.ledger === undefined) {
    for (const flag of ['instance', 'region', 'endpoint'] as const) {
      if (flags[flag] !== undefined) throw new UsageError(`--${flag} "${flags[flag]}": belongs to --ledger`);
    }
    return use(undefined);
  }
  const books = await open(flags, io);
  try {
    return await use(books);
  } finally {
    await books.close();
  }
}

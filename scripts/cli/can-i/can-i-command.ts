import type { AskedPipeline } from '../../../functions/answers/job/model.ts';
import { systemClock } from '../../../functions/core/environment/index.ts';
import { DynamoStore } from '../../../functions/core/ledger/index.ts';
import { MemoryTable } from '../../../functions/core/store/index.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { type FlagValues, readFlags, readWhole } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { answeredInProcess } from '../api/api-in-process.ts';
import { consoleAsked } from '../api/console-client.ts';
import { type BudgetContext, withApi } from '../api/open-api.ts';
import { jobAsked } from '../check/live-step.ts';
import { PLACE_FLAGS_HELP, placeInLedger, readNow } from '../evaluation/place-flags.ts';
import { LEDGER_FLAGS, type LedgerFlags, refuseTableFlags } from '../ledger/ledger-flags.ts';
import { type OpenLedger, openLedger } from '../ledger/open-ledger.ts';
import { RULES_FLAGS, RULES_FLAGS_HELP, type RulesFlags, readRules } from '../rules-flags.ts';
import { type CanIAnswer, canIText } from './can-i-text.ts';
import { minutesOf, REQUEST_FLAGS, syntheticRequest } from './synthetic-request.ts';

const SUMMARY = 'Would such a job be admitted now? Touches no counter';

const HELP = `${SUMMARY}

Usage
  tollgate can-i --project acme/payments/checkout --image node:24 --class large --minutes 20 [flags]

Gives the decision of the admit function on one made-up request: with --ledger or --console by the limits, grants, freezes,
rollout and counters of now; without, by the rules and limits of the documents alone, as if nothing was used. What no flag
says is taken as not sent by GitLab.

Where
${PLACE_FLAGS_HELP}

The job
  --image <image>         its container image
  --service <image>       one of its services; may come several times
  --class <name>          its runner class, or the tags of its runner: --tag <tag>, several times
  --minutes <n>           how long it will run (default: as its last runs and the policy say)
  --timeout <duration>    its timeout: 1h, 90m
  --job <name>, --environment <name>, --pull-policy <policy>
  --variable <NAME=value> a variable; may come several times
  --rerun <job>           in place of all these: this job once more, 4711 or the address of its page; of a ledger or a
                          console   (default: $TOLLGATE_CONSOLE)

Decided by
  --ledger <local | table>  what is in force now: beside npm start on this machine, or in a DynamoDB table
  --instance <host>, --region <region>, --endpoint <url>   of the table
  --console <url>         what is in force at a console; after tollgate login, or in a job of CI by its id_token in
                          TOLLGATE_ID_TOKEN, of whose own project it is then

Documents
${RULES_FLAGS_HELP}

  --json                  one object with everything

Exit codes: 0 admitted, 1 the ledger or console does not answer, 2 would be rejected or a rule needs to know more, 3 wrong usage or an invalid document`;

/** @param open - tests open a ledger of their own. */
export const canICommandOn = (open: OpenLedger): Command => ({
  name: 'can-i',
  summary: SUMMARY,
  help: HELP,
  run: (args, io) => canI(args, io, open),
});

export const canICommand: Command = canICommandOn(openLedger);

const FLAGS = { ...REQUEST_FLAGS, ...RULES_FLAGS, ...LEDGER_FLAGS, rerun: 'text' } as const;
type CanIFlags = FlagValues<typeof FLAGS>;

const ID_MAX = 999_999_999_999_999;

async function canI(args: readonly string[], io: TerminalIo, open: OpenLedger): Promise<ExitCode> {
  const { values } = readFlags(args, FLAGS);
  const nowMs = readNow(values.now, io.nowMs);
  let unseen: readonly string[] = [];
  const by = decidedBy(values, io, open);
  const told = await withApi(by.open, by.flags, { ...io, nowMs: () => nowMs }, async (api, books) => {
    if (books === undefined && values.now !== undefined)
      throw new UsageError('--now: a console tells of now');
    const asked = values.rerun === undefined ? madeUp(values, nowMs, io, books) : undefined;
    unseen = asked?.unseen ?? [];
    const json = asked?.json ?? { rerun: jobIdIn(values.rerun ?? '') };
    return answeredInProcess(api.check.$post({ json }));
  });
  const answer = { ...told, decidedBy: by.name, variablesNotSeen: unseen };
  const paint = paintWhen(io.colours);
  io.out(values.json ? `${JSON.stringify(answer)}\n` : canIText(answer, by.note, io.columns, paint));
  return told.jobs[0]?.outcome === 'admitted' ? EXIT.ok : EXIT.wouldReject;
}

interface DecidedBy {
  readonly name: CanIAnswer['decidedBy'];
  readonly open: OpenLedger;
  readonly flags: LedgerFlags & RulesFlags;
  /** For people. */
  readonly note: string;
}

/** @throws {UsageError} for flags of a table that is not named. */
function decidedBy(flags: CanIFlags, io: TerminalIo, open: OpenLedger): DecidedBy {
  const asksConsole =
    flags.console !== undefined || (flags.rerun !== undefined && flags.ledger === undefined);
  const origin = asksConsole ? consoleAsked(flags, io) : undefined;
  if (origin !== undefined)
    return { name: 'console', open, flags, note: `By what is in force at ${origin} now; nothing was held.` };
  if (flags.ledger !== undefined)
    return { name: 'ledger', open, flags, note: 'By what is in force in the ledger now; nothing was held.' };
  if (flags.rerun !== undefined)
    throw new UsageError('--rerun: expected --ledger, --console <url> or $TOLLGATE_CONSOLE');
  refuseTableFlags(flags);
  return {
    name: 'rules',
    open: noLedger,
    flags: { ...flags, ledger: 'none' },
    note: 'Only the rules and limits of the documents were judged, as if nothing was used. Grants, freezes and rollouts that are live were not read: --ledger or --console asks with what is in force now.',
  };
}

/** A ledger without limits, groups and counters: the documents stand in for them. */
const noLedger: OpenLedger = async () => ({
  store: new DynamoStore({
    ...{ table: new MemoryTable(), instance: 'none', clock: systemClock, random: Math.random },
  }),
  ...{ instance: 'none', description: 'no ledger', close: async () => {} },
});

interface MadeUp {
  readonly json: AskedPipeline;
  /** Names of variables that no rule sees. */
  readonly unseen: readonly string[];
}

/** The documents here say which tags a class has and which variables rules see. A console finds the place itself. */
function madeUp(flags: CanIFlags, nowMs: number, io: TerminalIo, books: BudgetContext | undefined): MadeUp {
  const { project, group } = flags;
  if (project !== undefined && group !== undefined)
    throw new UsageError('--project and --group: expected one of them, a project names its group');
  const { request, unseen } = syntheticRequest(flags, readRules(flags, io), nowMs);
  const { ref, refProtected, pipelineSource, userId } = request;
  const minutes = minutesOf(flags.minutes);
  const job = jobAsked({ ...request, jobName: request.jobName ?? 'job' }, []);
  return {
    json: {
      ...(books === undefined
        ? withoutAbsent({ project: idOrPath(project), group: idOrPath(group) })
        : placeInLedger(flags, books.directory)),
      ...withoutAbsent({ ref, refProtected, pipelineSource, userId }),
      jobs: [{ ...job, ...(minutes !== undefined && { estimateSeconds: minutes * 60 }) }],
    },
    unseen,
  };
}

const jobIdIn = (word: string): number =>
  readWhole('rerun', /\/-\/jobs\/(\d+)/.exec(word)?.[1] ?? word, 1, ID_MAX);

const idOrPath = (word: string | undefined): number | string | undefined =>
  word !== undefined && /^\d{1,15}$/.test(word) ? Number(word) : word;

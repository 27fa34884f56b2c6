import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { printable } from '../../terminal/paint.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { type OpenLedger, openToRepair } from '../ledger/open-ledger.ts';
import { shadowCount } from '../report/shadow-words.ts';
import { type Confirmation, confirmOnTerminal } from '../truth/confirm.ts';
import { type ForgetReport, forgetUser } from './forget-user.ts';

const HELP = `tollgate forget user <id> [flags]

Takes the id of a GitLab user out of what is kept about jobs, also where a pseudonym stands for it, ends the user's
sign-ins to the console and takes the rows of reports by user away. What was spent stays as it is.
It reads the whole table, may be interrupted and repeated, and asks first. Without it the recount puts pseudonyms for user ids 90 days after a job.

  --dry-run            only says what would be changed
  --yes                does not ask
${LEDGER_FLAGS_HELP}
  --json               the result as one JSON object

What stays is told: jobs that are not over, and counters of limits on the user, which go 90 days after their period. Limits,
grants and the change log of limits keep the names of those who made them.

Exit codes: 0 done, 1 the ledger does not answer or records changed meanwhile (run it again),
2 nothing is kept about this user, 3 wrong usage`;

interface ForgetUserDeps {
  /** Tests open ledgers of their own. */
  readonly open: OpenLedger;
  readonly confirm: Confirmation;
}

export const forgetUserCommandOn = (deps: ForgetUserDeps): Command => ({
  name: 'forget user',
  summary: 'Takes a user’s id out of all that is kept about jobs',
  help: HELP,
  run: (args, io) => forget(args, io, deps),
});

export const forgetUserCommand: Command = forgetUserCommandOn({
  open: openToRepair,
  confirm: confirmOnTerminal,
});

const FLAGS = { 'dry-run': 'switch', yes: 'switch', ...LEDGER_FLAGS } as const;

async function forget(
  args: readonly string[],
  io: TerminalIo,
  { open, confirm }: ForgetUserDeps,
): Promise<ExitCode> {
  const { values, words } = readFlags(args, FLAGS, { max: 1, what: 'the id of a user' });
  const userId = readUserId(words[0]);
  const dryRun = values['dry-run'];
  if (dryRun && values.yes)
    throw new UsageError('--yes: belongs to a run that changes something, not to --dry-run');
  const ledger = await open(values, io);
  try {
    const { names, description, store } = ledger;
    if (names === undefined) throw new Error(`${description} cannot be rewritten`);
    if (!dryRun && !values.yes) {
      const agreed = await confirm(`Forget user ${userId} in ${description} for good?`);
      if (agreed === undefined)
        throw new UsageError('forget user: nobody can be asked here; add --yes to forget without asking');
      if (!agreed) {
        io.err('Nothing was written.\n');
        return EXIT.ok;
      }
    }
    const { rewrite, keys, sessions, sheets } = names;
    const scanned = {
      scan: () => store.scan(),
      readEntries: store.readEntries.bind(store),
      rewrite: rewrite.rewrite.bind(rewrite),
    };
    const forgotten = await forgetUser(userId, {
      ...{ store: scanned, keys, sessions, sheets, dryRun },
      nowMs: io.nowMs(),
    });
    io.out(
      values.json
        ? `${JSON.stringify({ user: userId, dryRun, ...forgotten })}\n`
        : textOf(userId, dryRun, forgotten),
    );
    if (forgotten.left > 0) return EXIT.failed;
    return isNothing(forgotten) ? EXIT.wouldReject : EXIT.ok;
  } finally {
    await ledger.close();
  }
}

/** @throws {UsageError} */
function readUserId(word: string | undefined): number {
  if (word !== undefined && /^[1-9]\d{0,14}$/.test(word)) return Number(word);
  throw new UsageError(
    word === undefined
      ? 'the id of a user is missing: expected a number like 4711'
      : `"${printable(word)}": expected the id of a user, a number like 4711`,
  );
}

const isNothing = ({ records, sessions, reportDays, stays: { liveJobs, counters } }: ForgetReport): boolean =>
  records + sessions + reportDays + liveJobs + counters.length === 0;

function textOf(userId: number, dryRun: boolean, forgotten: ForgetReport): string {
  if (isNothing(forgotten)) return `Nothing is kept about user ${userId}.\n`;
  const { records, sessions, reportDays, left, stays } = forgotten;
  const [taken, ended] = dryRun ? ['would be taken', 'would be ended'] : ['was taken', 'were ended'];
  return [
    `The id of user ${userId} ${taken} out of ${shadowCount(records)} job records; ${shadowCount(sessions)} sign-ins ${ended}.`,
    ...(reportDays > 0
      ? [
          `Reports by user of ${shadowCount(reportDays)} days ${dryRun ? 'would lose their' : 'have lost their'} row.`,
        ]
      : []),
    ...(left > 0 ? [`${shadowCount(left)} records changed meanwhile: run it again.`] : []),
    ...(stays.liveJobs > 0
      ? [`${shadowCount(stays.liveJobs)} jobs are not over: run it again when they are.`]
      : []),
    ...(stays.counters.length > 0
      ? [
          'Counters of limits on the user, and what jobs count in them, stay until 90 days after their period:',
          ...stays.counters.map((name) => `  ${printable(name)}`),
        ]
      : []),
    '',
  ].join('\n');
}

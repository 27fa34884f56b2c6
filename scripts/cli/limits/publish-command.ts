import { basename, resolve } from 'node:path';
import {
  type LimitPointer,
  type LimitTable,
  type PublishOutcome,
  publishLimits,
} from '../../../functions/core/limits/index.ts';
import { selfLockout } from '../../../policies/self-lockout.ts';
import { DocumentError, limitsIn, readPolicy } from '../../policy/read-documents.ts';
import { readYaml } from '../../policy/yaml-document.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { flagLines } from '../../terminal/define-command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { answerOfDesk } from '../api/edit-answer.ts';
import { tellOutcome } from '../budget/tell-outcome.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { rollupZone } from '../rollup-zone.ts';
import { rulesFiles } from '../rules-flags.ts';
import { askSomebody } from './ask-somebody.ts';
import { baseIn } from './base-line.ts';
import { osUserName, whoAndWhy } from './change-flags.ts';
import { changesSince, changesText } from './changes.ts';

import { livePointer, readSetHistory, type SetView, setShown } from './live-set.ts';
import { limitsDirectoryOf, withOpenLimits } from './open-limits.ts';
import { setText } from './set-text.ts';
import { AGAINST_FLAGS } from './views.ts';

/** `--base` for the first set. */
const NONE = 'none';

const HELP = `tollgate limits publish <limits.yaml> --why <text> [flags]

Makes a limits document live: checked as a whole, written aside, and in force everywhere within five seconds by one flip
of a pointer. No deploy, and running jobs are left alone. An edit of a set that is not live any more changes nothing.
What makes a limit go more than half as far again waits for somebody else: tollgate budget approve <id>.

  --why <text>         the reason, for the change log
  --actor <name>       who changes them        (default: the user of this machine)
  --base <set>         the set this is an edit of; refused if another is live; ${NONE} for the first
                       (default: what the first line of tollgate limits show --document says, else whatever is live
                       now: then it replaces what others did since you wrote it)
  --dry-run            says what would change and writes nothing
  --force              publish although it would reject the jobs of those who run the controller
${flagLines(AGAINST_FLAGS)}
${LEDGER_FLAGS_HELP}
  --json               one JSON object

Exit codes: 0 live, 1 the table does not answer (ask tollgate limits show), 2 somebody else was first or
has to approve it, 3 invalid`;

interface PublishDeps {
  readonly userName: () => string | undefined;
}

export const publishCommandOn = (deps: PublishDeps): Command => ({
  name: 'limits publish',
  summary: 'Makes a limits document live, whole or not at all, without a deploy',
  help: HELP,
  run: (args, io) => publish(args, io, deps),
});

export const publishCommand: Command = publishCommandOn({ userName: osUserName });

async function publish(
  args: readonly string[],
  io: TerminalIo,
  { userName }: PublishDeps,
): Promise<ExitCode> {
  const { values, words } = readFlags(
    args,
    {
      why: 'text',
      actor: 'text',
      base: 'text',
      'dry-run': 'switch',
      force: 'switch',
      ...AGAINST_FLAGS,
      ...LEDGER_FLAGS,
    },
    { max: 1, what: 'one file, <limits.yaml>' },
  );
  const [word] = words;
  if (word === undefined) throw new UsageError('expected a file, <limits.yaml>');
  const who = whoAndWhy(values, userName);
  const files = rulesFiles(values, io);
  const policy = readPolicy(files.policy);
  const file = resolve(io.cwd, word);
  const yaml = readYaml(file);

  return withOpenLimits(values, io, async (opened) => {
    const { table, description } = opened;
    const directory = await limitsDirectoryOf(opened, values, io);
    const limits = limitsIn(yaml, policy, directory).model;
    const lockout = values.force ? [] : selfLockout(policy, limits, directory, io.nowMs());
    if (lockout.length > 0)
      throw new DocumentError(lockout.map((each) => `${file}: ${each}; mend it, or say --force`));
    const live = await livePointer(table);
    const said = values.base ?? baseIn(yaml.text) ?? live?.set;
    const base = said === NONE ? undefined : said;
    if (live?.set !== base) return tellStale(base, { outcome: 'stale', live }, table, values.json, io);
    const changes = await changesSince(live, limits, { table, policy, directory, nowMs: io.nowMs() });
    if (values['dry-run']) {
      if (values.json) io.out(`${JSON.stringify({ outcome: 'dry_run', base: base ?? null, changes })}\n`);
      else io.out(`${changesText(changes, io)}Nothing was written.\n`);
      return EXIT.ok;
    }
    const change = {
      ...who,
      source: `file ${basename(file)}`,
      atMs: io.nowMs(),
      ...(base !== undefined && { base }),
    };
    // A first set has nothing before it to be larger than.
    const asked =
      live &&
      (await askSomebody(
        yaml.value,
        { ...who, source: change.source, base, confirmed: true },
        { table, policy, directory, nowMs: io.nowMs },
      ));
    if (asked !== undefined)
      return tellOutcome(answerOfDesk(asked), base, { currency: policy.currency, json: values.json, io });
    const outcome = await publishLimits(yaml.value, change, { table, policy, directory });
    // The same document was valid a moment ago.
    if (outcome.outcome === 'invalid') throw new DocumentError(outcome.problems.map(yaml.locate));
    if (outcome.outcome === 'stale') return tellStale(base, outcome, table, values.json, io);
    const shown = setShown(outcome.pointer, change);
    if (values.json) io.out(`${JSON.stringify({ outcome: 'live', ...shown, changes })}\n`);
    else {
      const paint = paintWhen(io.colours);
      io.out(
        `${changesText(changes, io)}${paint.good('live')} in ${description}\n${setText(shown, rollupZone(io), paint)}`,
      );
    }
    return EXIT.ok;
  });
}

async function tellStale(
  base: string | undefined,
  { live }: Extract<PublishOutcome, { outcome: 'stale' }>,
  table: LimitTable,
  json: boolean,
  io: TerminalIo,
): Promise<ExitCode> {
  const [shown] = await readSetHistory(table, 1);
  if (json) io.out(`${JSON.stringify({ outcome: 'stale', base: base ?? null, live: shown ?? null })}\n`);
  else io.err(staleText(base, live, shown, io));
  return EXIT.wouldReject;
}

function staleText(
  base: string | undefined,
  live: LimitPointer | undefined,
  shown: SetView | undefined,
  io: TerminalIo,
): string {
  const mine = base === undefined ? 'a first set' : `an edit of set ${base}`;
  if (live === undefined || shown === undefined)
    return `Nothing was published: this is ${mine}, and no set was ever live. Say --base ${NONE}.\n`;
  return `Nothing was published: this is ${mine}, and another one is live.
${setText(shown, rollupZone(io), paintWhen(io.colours))}See it with tollgate limits show --document, put both together, and publish that with --base ${live.set}.
`;
}

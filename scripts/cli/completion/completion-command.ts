import { type Command, type CommandEntry, EXIT, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { completionText, flagsInHelp, SHELLS } from './completion-text.ts';

const HELP = `tollgate completion <${SHELLS.join(' | ')}>

Prints what lets a shell complete commands and flags, made from the commands there are.

  tollgate completion bash > /etc/bash_completion.d/tollgate
  tollgate completion zsh > "\${fpath[1]}/_tollgate"
  tollgate completion fish > ~/.config/fish/completions/tollgate.fish

  --json               commands with their flags as one JSON object

Exit codes: 0 told, 3 wrong usage`;

/** @param entries - all commands there are. */
export const completionCommandOf = (entries: readonly CommandEntry[]): Command => ({
  name: 'completion',
  summary: 'Lets bash, zsh or fish complete commands and flags',
  help: HELP,
  run: async (args, io) => {
    const { values, words } = readFlags(args, {}, { max: 1, what: 'one shell' });
    const [word] = words;
    if (word === undefined && !values.json) throw new UsageError(`expected a shell: ${SHELLS.join(', ')}`);
    const shell = word === undefined ? undefined : SHELLS.find((each) => each === word);
    if (word !== undefined && shell === undefined)
      throw new UsageError(`"${word}": expected a shell: ${SHELLS.join(', ')}`);
    const commands = await Promise.all(
      entries.map(async ({ name, summary, load }) => ({
        name,
        summary,
        flags: flagsInHelp((await load()).help),
      })),
    );
    io.out(
      values.json || shell === undefined
        ? `${JSON.stringify({ commands })}\n`
        : completionText(shell, commands),
    );
    return EXIT.ok;
  },
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandEntry, EXIT, type ExitCode, type TerminalIo } from '../terminal/command.ts';
import { chosenCommand } from './chosen-command.ts';
import { tellFailure } from './failure.ts';
import { commandsHelp } from './help.ts';
import { commandClock } from './ledger/command-clock.ts';

/** Runs one call of `tollgate`. Never throws: every failure becomes a message and an exit code. */
export async function runTollgate(
  args: readonly string[],
  io: TerminalIo,
  commands: readonly CommandEntry[],
): Promise<ExitCode> {
  let name = '';
  try {
    if (args[0] === '--version' || args[0] === '-V') {
      const version = versionIn(io.root);
      io.out(args.includes('--json') ? `${JSON.stringify({ version })}\n` : `tollgate ${version}\n`);
      return EXIT.ok;
    }
    const chosen = chosenCommand(args, commands);
    if (chosen.kind === 'list') {
      io.out(`${commandsHelp(commands, chosen.of)}\n`);
      return EXIT.ok;
    }
    name = chosen.entry.name;
    const command = await chosen.entry.load();
    if (!chosen.help) {
      const nowMs = commandClock(command, chosen.rest, io);
      return await command.run(chosen.rest, { ...io, nowMs });
    }
    io.out(`${command.help}\n`);
    return EXIT.ok;
  } catch (error) {
    return tellFailure(error, name, flagsOf(args).includes('--json'), io);
  }
}

/** Version of the package this runs from. @throws {Error} */
function versionIn(root: string): string {
  const { version }: { version?: unknown } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return String(version);
}

const flagsOf = (args: readonly string[]): readonly string[] => {
  const end = args.indexOf('--');
  return end === -1 ? args : args.slice(0, end);
};

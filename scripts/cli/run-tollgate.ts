import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { closest } from '../../policies/document/reading.ts';
import {
  type CommandEntry,
  DocumentError,
  EXIT,
  type ExitCode,
  type TerminalIo,
  UsageError,
} from '../terminal/command.ts';
import { printable, table } from '../terminal/table.ts';
import { shortPath, systemFailure } from '../terminal/user-file.ts';
import { PipelineError } from './pipeline/pipeline-error.ts';

export async function runTollgate(
  args: readonly string[],
  io: TerminalIo,
  commands: readonly CommandEntry[],
): Promise<ExitCode> {
  let name = '';
  try {
    if (args[0] === '--version' || args[0] === '-V') {
      const { version = JSON.parse(readFileSync(join(io.root, 'package.json'), 'utf8')).version } = io;
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
      if (command.flags.ledger === undefined) return await command.run(chosen.rest, io);
      const { commandClock } = await import('./command-clock.ts');
      return await command.run(chosen.rest, { ...io, nowMs: commandClock(command, chosen.rest, io) });
    }
    io.out(`${command.help(chosen.entry.summary)}\n`);
    return EXIT.ok;
  } catch (error) {
    return printFailure(error, name, argsBeforeDashes(args).includes('--json'), io);
  }
}

const argsBeforeDashes = (args: readonly string[]): readonly string[] => {
  const end = args.indexOf('--');
  return end === -1 ? args : args.slice(0, end);
};

const HELP: ReadonlySet<string> = new Set(['--help', '-h']);

export function chosenCommand(args: readonly string[], commands: readonly CommandEntry[]): Chosen {
  if (args[0] === 'help') return chosenCommand([...args.slice(1), '--help'], commands);
  const end = args.findIndex((arg) => arg.startsWith('-'));
  const words = end === -1 ? args : args.slice(0, end);
  const typed = `${words.join(' ')} `;
  const [entry] = commands
    .filter(({ name }) => typed.startsWith(`${name} `))
    .toSorted((a, b) => b.name.length - a.name.length);
  if (entry !== undefined) {
    const rest = args.slice(entry.name.split(' ').length);
    return { kind: 'command', entry, help: hasHelpFlag(rest), rest };
  }
  const [first] = words;
  if (first === undefined) {
    const stray = args.find((arg) => !HELP.has(arg));
    if (stray === undefined) return { kind: 'list', of: '' };
    throw new UsageError(`${stray}: expected a command before it, e.g. tollgate ${commands[0]?.name}`);
  }
  const family = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (family.length > 0 && words.length === 1 && hasHelpFlag(args)) return { kind: 'list', of: first };
  throw unknown(words, family, commands);
}

type Chosen =
  | { readonly kind: 'list'; readonly of: string }
  | {
      readonly kind: 'command';
      readonly entry: CommandEntry;
      readonly help: boolean;
      readonly rest: readonly string[];
    };

const hasHelpFlag = (args: readonly string[]): boolean => argsBeforeDashes(args).some((arg) => HELP.has(arg));

function unknown(
  words: readonly string[],
  family: readonly CommandEntry[],
  commands: readonly CommandEntry[],
): UsageError {
  const names = (family.length > 0 ? family : commands).map(({ name }) => name);
  const meant = closest(words.slice(0, 2).join(' '), names) ?? closest(words[0] ?? '', names);
  const length = meant?.split(' ').length ?? (family.length > 0 ? 2 : 1);
  const hint = meant === undefined ? `expected ${names.join(', ')}` : `did you mean tollgate ${meant}?`;
  return new UsageError(`tollgate ${words.slice(0, length).join(' ')}: is no command; ${hint}`);
}

function commandsHelp(commands: readonly CommandEntry[], family = ''): string {
  const shown = family === '' ? commands : commands.filter(({ name }) => name.startsWith(`${family} `));
  const rows = shown.map(({ name, summary }) => [`  ${name}`, summary]);
  return `Tollgate decides, before a GitLab CI job starts, whether its group can afford it and the fleet allows it.

Usage
  tollgate <command> [flags]       tollgate <command> --help says more; tollgate --version which one this is

Commands
${table([{}, {}], rows, Number.POSITIVE_INFINITY)}
Every command takes --json. Colours show on terminals only; NO_COLOR=1 turns them off.
Exit codes: 0 done, 1 a service does not answer, 2 a job would be rejected, a check failed or an edit waits for approval, 3 wrong usage or an invalid document`;
}

function printFailure(error: unknown, command: string, json: boolean, io: TerminalIo): ExitCode {
  const failure = describeFailure(error, io.cwd);
  const { code, message, problems } = failure;
  if (json) io.out(`${JSON.stringify({ error: failure })}\n`);
  else {
    io.err(`${printable(problems.length > 0 ? problems.join('\n') : message)}\n`);
    if (code !== 'failed') io.err(`See: tollgate ${command === '' ? '' : `${command} `}--help\n`);
    else if (io.env.TOLLGATE_DEBUG && error instanceof Error) io.err(`${error.stack}\n`);
  }
  return code === 'failed' ? EXIT.failed : EXIT.invalid;
}

function describeFailure(error: unknown, cwd: string) {
  if (error instanceof UsageError) return { code: 'usage', message: error.message, problems: [] };
  if (error instanceof PipelineError || error instanceof DocumentError) {
    const problems =
      error instanceof DocumentError ? error.problems.map((each) => shortPath(each, cwd)) : [error.message];
    const message = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    return { code: 'invalid', message, problems };
  }
  const message =
    systemFailure(error) ?? (error instanceof Error && error.message !== '' ? error.message : String(error));
  return { code: 'failed', message, problems: [] };
}

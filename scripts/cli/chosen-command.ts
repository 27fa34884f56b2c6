import { closest } from '../../policies/document/reading.ts';
import { type CommandEntry, UsageError } from '../terminal/command.ts';

type Chosen =
  /** Help about all commands, or those whose name begins with `of`. */
  | { readonly kind: 'list'; readonly of: string }
  | {
      readonly kind: 'command';
      readonly entry: CommandEntry;
      /** Only its help is wanted. */
      readonly help: boolean;
      /** Arguments after the command's name. */
      readonly rest: readonly string[];
    };

const HELP: ReadonlySet<string> = new Set(['--help', '-h']);
/** No name has more words. */
const NAME_WORDS_MAX = 3;

/** @throws {UsageError} if no command is called like this. */
export function chosenCommand(args: readonly string[], commands: readonly CommandEntry[]): Chosen {
  if (args[0] === 'help') return chosenCommand([...args.slice(1), '--help'], commands);
  const words = leadingWords(args);
  const entry = longestMatch(words, commands);
  if (entry !== undefined) {
    const rest = args.slice(entry.name.split(' ').length);
    return { kind: 'command', entry, help: asksHelp(rest), rest };
  }
  const [first] = words;
  if (first === undefined) {
    const stray = args.find((arg) => !HELP.has(arg));
    if (stray === undefined) return { kind: 'list', of: '' };
    throw new UsageError(`${stray}: expected a command before it, e.g. tollgate ${commands[0]?.name}`);
  }
  const family = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (family.length > 0 && words.length === 1 && asksHelp(args)) return { kind: 'list', of: first };
  throw unknown(words, family, commands);
}

function leadingWords(args: readonly string[]): readonly string[] {
  const end = args.findIndex((arg) => arg.startsWith('-'));
  return end === -1 ? args : args.slice(0, end);
}

/** Nothing after `--` is a flag. */
function asksHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end === -1 ? args : args.slice(0, end)).some((arg) => HELP.has(arg));
}

function longestMatch(words: readonly string[], commands: readonly CommandEntry[]): CommandEntry | undefined {
  for (let length = Math.min(words.length, NAME_WORDS_MAX); length > 0; length -= 1) {
    const name = words.slice(0, length).join(' ');
    const found = commands.find((each) => each.name === name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function unknown(
  words: readonly string[],
  family: readonly CommandEntry[],
  commands: readonly CommandEntry[],
): UsageError {
  const names = (family.length > 0 ? family : commands).map(({ name }) => name);
  const meant = [words.slice(0, 2).join(' '), words[0] ?? '']
    .map((text) => closest(text, names))
    .find((name) => name !== undefined);
  const length = meant?.split(' ').length ?? (family.length > 0 ? 2 : 1);
  const asked = `tollgate ${words.slice(0, length).join(' ')}`;
  const hint = meant === undefined ? `expected ${names.join(', ')}` : `did you mean tollgate ${meant}?`;
  return new UsageError(`${asked}: is no command; ${hint}`);
}

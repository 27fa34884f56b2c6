import { type ParseArgsOptionDescriptor, parseArgs } from 'node:util';
import { closest } from '../../policies/document/reading.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from './command.ts';
import { type Screen, screenOf, wrapped } from './table.ts';

/** A command as a row: what it takes, an example, and what it does. Parser, help and completion are made from it. */
export interface CommandRow<Flags extends FlagTable, Words extends WordTable> {
  /** Words after `tollgate`. Its summary stands in `commands.ts` and begins its help. */
  readonly name: string;
  /** The help after the summary. Lines of a paragraph are joined; those that are indented stay. */
  readonly about?: string;
  readonly words?: Words;
  /** The words in error messages: `a group and an amount such as +200`. @default the usage line's words */
  readonly expects?: string;
  readonly flags?: Flags;
  readonly json?: string;
  /** Whole lines, `tollgate …`; a test parses each. */
  readonly examples: readonly [string, ...string[]];
  readonly exits?: Partial<Readonly<Record<ExitCode, string>>>;
  readonly run: (input: Parsed<Flags, Words>, io: TerminalIo) => Promise<ExitCode>;
}

const EXITS: Partial<Readonly<Record<ExitCode, string>>> = {
  [EXIT.ok]: 'done',
  [EXIT.failed]: 'the table or the console does not answer',
  [EXIT.invalid]: 'wrong usage',
};
const COLUMNS = 110;
const LABEL_COLUMNS = 23;

export function command<const Flags extends FlagTable, const Words extends WordTable>(
  row: CommandRow<Flags, Words>,
): Command {
  const { name, examples, flags = {} as Flags, words = {} as Words } = row;
  const shown = Object.values(words).map((word) => word.shown);
  const expects = row.expects ?? (shown.join(' ') || 'no words');
  const parse = (args: readonly string[]): Parsed<Flags, Words> => parseInput(args, flags, words, expects);
  const run: Command['run'] = async (args, io) => row.run(parse(args), io);
  return { name, help: (summary) => commandHelp(row, summary), flags, examples, parse, run };
}

export function print(
  io: Pick<TerminalIo, 'out' | 'colours' | 'columns'>,
  { json }: { readonly json: boolean },
  value: unknown,
  shown: (screen: Screen) => string,
): ExitCode {
  io.out(json ? `${JSON.stringify(value)}\n` : shown(screenOf(io)));
  return EXIT.ok;
}

export function flagLines(flags: FlagTable): string {
  return Object.entries(flags)
    .map(([name, { takes, help }]) => helpLine(`--${name}${takes === '' ? '' : ` ${takes}`}`, help))
    .join('\n');
}

function commandHelp<Flags extends FlagTable, Words extends WordTable>(
  row: CommandRow<Flags, Words>,
  summary: string,
): string {
  const { name, about = '', examples } = row;
  const [flags, words]: [FlagTable, WordTable] = [row.flags ?? {}, row.words ?? {}];
  const needed = Object.entries(flags).flatMap(([flag, { takes, isRequired }]) =>
    isRequired ? [`--${flag} ${takes}`] : [],
  );
  const shown = Object.values(words).map((word) => word.shown);
  const rows = [
    ...Object.values(words).map((word) => helpLine(word.shown.replace(/^\[(.*)\]$/, '$1'), word.help)),
    flagLines({ ...flags, json: { ...JSON_FLAG.json, help: row.json ?? JSON_FLAG.json.help } }),
  ];
  const exits = Object.entries({ ...EXITS, ...row.exits }).map(([code, means]) => `${code} ${means}`);
  return [
    ['tollgate', name, ...shown, ...needed, '[flags]'].join(' '),
    paragraphs(`${summary}${/[?…]$/.test(summary) ? '' : '.'} ${about}`),
    rows.join('\n'),
    ['Examples', ...examples.map((example) => `  ${example}`)].join('\n'),
    wrapped(`Exit codes: ${exits.join(', ')}`, COLUMNS),
  ].join('\n\n');
}

function helpLine(label: string, help: string): string {
  const lines = wrapped(help, COLUMNS - LABEL_COLUMNS).split('\n');
  const first = `  ${label}`.padEnd(LABEL_COLUMNS - 2);
  return `${first}  ${lines.join(`\n${' '.repeat(LABEL_COLUMNS)}`)}`;
}

const paragraphs = (text: string): string =>
  text
    .trim()
    .split(/\n{2,}/)
    .map((each) => (/^ {2}/m.test(each) ? each : wrapped(each.replaceAll('\n', ' '), COLUMNS)))
    .join('\n\n');

/** One flag of a command. The parser, the help text and the completion read the same table of flags. */
export interface Flag<Value = unknown> {
  /** The value in help texts: `<day>`. Empty for a switch, which takes no value. */
  readonly takes: string;
  readonly help: string;
  readonly isRepeated: boolean;
  readonly isRequired: boolean;
  /** @param given - as typed; `['']` for a switch. @throws {UsageError} naming the flag, the value and what is expected. */
  readonly read: (given: readonly string[], name: string) => Value;
}

export type FlagTable = Readonly<Record<string, Flag>>;
export type ValuesOf<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends { readonly read: (...args: never) => infer Value }
    ? Value
    : never;
};

type Reader<Value> = (text: string, flag: string) => Value;

const ONCE = { isRepeated: false, isRequired: false } as const;

export const toggle = (help: string): Flag<boolean> => ({
  ...{ ...ONCE, takes: '', help, read: (given) => given.length > 0 },
});

export function text(takes: string, help: string): Flag<string | undefined>;
export function text<Value>(takes: string, help: string, read: Reader<Value>): Flag<Value | undefined>;
export function text(takes: string, help: string, read: Reader<unknown> = (given) => given): Flag {
  const readOne: Flag['read'] = ([given], name) => (given === undefined ? undefined : read(given, name));
  return { ...ONCE, takes, help, read: readOne };
}

export const texts = (takes: string, help: string): Flag<readonly string[]> => ({
  ...{ takes, help, isRepeated: true, isRequired: false, read: (given) => given },
});

export const choice = <const Choice extends string>(
  takes: string,
  help: string,
  choices: readonly Choice[],
): Flag<Choice | undefined> =>
  text(takes, `${help}${choices.join(', ')}`, (given, flag) => readChoice(flag, given, choices));

export const required = <Value>(flag: Flag<Value>): Flag<Exclude<Value, undefined>> => ({
  ...flag,
  help: `${flag.help} (needed)`,
  isRequired: true,
  read: (given, name) => {
    const value = flag.read(given, name);
    if (value !== undefined) return value as Exclude<Value, undefined>;
    throw new UsageError(`--${name} is missing: expected ${flag.help.split(/\. | \(|;/)[0]}`);
  },
});

export const orElse = <Value>(
  flag: Flag<Value>,
  value: Exclude<Value, undefined>,
): Flag<Exclude<Value, undefined>> => ({
  ...flag,
  help: `${flag.help} (default: ${value})`,
  read: (given, name) => (flag.read(given, name) as Exclude<Value, undefined> | undefined) ?? value,
});

export const whole = (min: number, max: number) => (given: string, flag: string) =>
  readWhole(flag, given, min, max);

interface Word<Value = unknown> {
  readonly shown: string;
  readonly help: string;
  readonly min: number;
  readonly max: number;
  readonly read: (given: readonly string[]) => Value;
}

export type WordTable = Readonly<Record<string, Word>>;

export const word = (shown: string, help: string): Word<string> => ({
  ...{ shown, help, min: 1, max: 1, read: ([given = '']) => given },
});

export const optionalWord = (shown: string, help: string): Word<string | undefined> => ({
  ...{ shown: `[${shown}]`, help, min: 0, max: 1, read: ([given]) => given },
});

export const severalWords = (
  shown: string,
  help: string,
  [min, max]: readonly [min: number, max: number],
): Word<readonly string[]> => ({ shown, help, min, max, read: (given) => given });

const JSON_FLAG = { json: toggle('one JSON object') };

export interface Parsed<Flags, Words> {
  readonly flags: ValuesOf<Flags> & { readonly json: boolean };
  readonly words: ValuesOf<Words>;
}

/** Flags and words come in any order; after `--` every argument is a word. @throws {UsageError} */
export function parseInput<Flags extends FlagTable, Words extends WordTable>(
  args: readonly string[],
  flags: Flags,
  words: Words,
  expects = 'no words',
): Parsed<Flags, Words> {
  const table: FlagTable = { ...flags, ...JSON_FLAG };
  const { given, rest } = readTokens(args, table);
  const read: Record<string, unknown> = {};
  let at = 0;
  for (const [name, { min, max, read: readWord }] of Object.entries(words)) {
    const own = rest.slice(at, at + max);
    if (own.length < min) throw new UsageError(`expected ${expects}`);
    read[name] = readWord(own);
    at += own.length;
  }
  const more = rest.slice(at).map((each) => `"${each}"`);
  if (more.length > 0) throw new UsageError(`${more.join(' ')}: expected ${expects}`);
  const values = Object.entries(table).map(([name, flag]) => [name, flag.read(given.get(name) ?? [], name)]);
  return { flags: Object.fromEntries(values), words: read } as Parsed<Flags, Words>;
}

export function readWhole(flag: string, given: string, min: number, max: number): number {
  const number = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new UsageError(`--${flag} "${given}": expected a whole number from ${min} to ${max}`);
}

export function readChoice<Choice extends string>(
  flag: string,
  given: string,
  choices: readonly Choice[],
): Choice {
  const found = choices.find((each) => each === given);
  if (found !== undefined) return found;
  throw new UsageError(`--${flag} "${given}": expected ${choices.join(', ')}`);
}

function readTokens(args: readonly string[], table: FlagTable) {
  const options = Object.fromEntries(
    Object.entries(table).map(([name, { takes }]): [string, ParseArgsOptionDescriptor] => [
      name,
      { type: takes === '' ? 'boolean' : 'string', multiple: true },
    ]),
  );
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  const given = new Map<string, readonly string[]>();
  const rest: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') rest.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value } = token;
    const flag = Object.hasOwn(table, name) ? table[name] : undefined;
    if (flag === undefined || rawName !== `--${name}`) throw unknownFlag(rawName, Object.keys(table));
    const before = given.get(name) ?? [];
    if (flag.takes === '') {
      if (value !== undefined) throw new UsageError(`${rawName}=${value}: ${rawName} takes no value`);
      given.set(name, ['']);
      continue;
    }
    // A forgotten value must not swallow the next flag; a value that begins with dashes is written with =.
    if (value === undefined || (token.inlineValue !== true && value.startsWith('--')))
      throw new UsageError(`${rawName}: expected a value after it`);
    if (value === '') throw new UsageError(`${rawName}: expected a value that is not empty`);
    if (before.length > 0 && !flag.isRepeated)
      throw new UsageError(`${rawName}: is given twice; expected it once`);
    given.set(name, [...before, value]);
  }
  return { given, rest };
}

function unknownFlag(flag: string, names: readonly string[]): UsageError {
  const like = closest(flag.replace(/^-+/, ''), names);
  const expected = `expected ${names.map((name) => `--${name}`).join(', ')}`;
  const hint = like === undefined ? expected : `did you mean --${like}?`;
  return new UsageError(`${flag}: is no flag of this command; ${hint}`);
}

import { type ParseArgsOptionDescriptor, parseArgs } from 'node:util';
import { closest } from '../../policies/document/reading.ts';
import { UsageError } from './command.ts';

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

export type Reader<Value> = (text: string, flag: string) => Value;

export const toggle = (help: string): Flag<boolean> => ({
  takes: '',
  help,
  isRepeated: false,
  isRequired: false,
  read: (given) => given.length > 0,
});

export function text(takes: string, help: string): Flag<string | undefined>;
export function text<Value>(takes: string, help: string, read: Reader<Value>): Flag<Value | undefined>;
export function text(takes: string, help: string, read: Reader<unknown> = (given) => given): Flag {
  return {
    takes,
    help,
    isRepeated: false,
    isRequired: false,
    read: ([given], name) => (given === undefined ? undefined : read(given, name)),
  };
}

export const texts = (takes: string, help: string): Flag<readonly string[]> => ({
  takes,
  help,
  isRepeated: true,
  isRequired: false,
  read: (given) => given,
});

export const choice = <const Choice extends string>(
  takes: string,
  help: string,
  choices: readonly Choice[],
): Flag<Choice | undefined> =>
  text(takes, `${help}${choices.join(', ')}`, (given, flag) => readChoice(flag, given, choices));

/** The flag must be given; the usage line shows it. */
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

export const whole =
  (min: number, max: number): Reader<number> =>
  (given, flag) =>
    readWhole(flag, given, min, max);

export interface Word<Value = unknown> {
  /** In the usage line: `<group>`, `[<edit>]`, `<group> …`. */
  readonly shown: string;
  readonly help: string;
  readonly min: number;
  readonly max: number;
  readonly read: (given: readonly string[]) => Value;
}

export type WordTable = Readonly<Record<string, Word>>;

export const word = (shown: string, help: string): Word<string> => ({
  shown,
  help,
  min: 1,
  max: 1,
  read: ([given = '']) => given,
});

export const optionalWord = (shown: string, help: string): Word<string | undefined> => ({
  shown: `[${shown}]`,
  help,
  min: 0,
  max: 1,
  read: ([given]) => given,
});

export const severalWords = (
  shown: string,
  help: string,
  [min, max]: readonly [min: number, max: number],
): Word<readonly string[]> => ({ shown, help, min, max, read: (given) => given });

export const JSON_FLAG = { json: toggle('one JSON object') };

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
  const { given, rest } = tokensOf(args, table);
  const read: Record<string, unknown> = {};
  let at = 0;
  for (const [name, { min, max, read: readWord }] of Object.entries(words)) {
    const own = rest.slice(at, at + max);
    if (own.length < min) throw new UsageError(`expected ${expects}`);
    read[name] = readWord(own);
    at += own.length;
  }
  refuseMore(rest.slice(at), expects);
  const values = Object.entries(table).map(([name, flag]) => [name, flag.read(given.get(name) ?? [], name)]);
  return { flags: Object.fromEntries(values), words: read } as Parsed<Flags, Words>;
}

/** @throws {UsageError} if `text` is no whole number from `min` to `max`. */
export function readWhole(flag: string, given: string, min: number, max: number): number {
  const number = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new UsageError(`--${flag} "${given}": expected a whole number from ${min} to ${max}`);
}

/** @throws {UsageError} if `given` is none of `choices`. */
export function readChoice<Choice extends string>(
  flag: string,
  given: string,
  choices: readonly Choice[],
): Choice {
  const found = choices.find((each) => each === given);
  if (found !== undefined) return found;
  throw new UsageError(`--${flag} "${given}": expected ${choices.join(', ')}`);
}

function tokensOf(args: readonly string[], table: FlagTable) {
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
  const hint =
    like === undefined
      ? `expected ${names.map((name) => `--${name}`).join(', ')}`
      : `did you mean --${like}?`;
  return new UsageError(`${flag}: is no flag of this command; ${hint}`);
}

function refuseMore(more: readonly string[], expects: string): void {
  if (more.length > 0)
    throw new UsageError(`${more.map((each) => `"${each}"`).join(' ')}: expected ${expects}`);
}

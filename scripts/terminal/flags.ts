import { type ParseArgsOptionDescriptor, parseArgs } from 'node:util';
import { closest } from '../../policies/document/reading.ts';
import { UsageError } from './command.ts';

/** `text` takes a value, `texts` takes one every time it is given, `switch` takes none. */
type FlagKind = 'text' | 'texts' | 'switch';

type FlagSpec = Readonly<Record<string, FlagKind>>;

type FlagValue<Kind extends FlagKind> = Kind extends 'text'
  ? string | undefined
  : Kind extends 'texts'
    ? readonly string[]
    : boolean;

export type FlagValues<Spec extends FlagSpec> = { readonly [Name in keyof Spec]: FlagValue<Spec[Name]> };

interface Flags<Spec extends FlagSpec> {
  readonly values: FlagValues<Spec>;
  /** Arguments that are not flags, in order. */
  readonly words: readonly string[];
}

/** Number of a command's words, and their name in messages. */
interface WordsAllowed {
  readonly max: number;
  /** E.g. `a folder or a .gitlab-ci.yml`. */
  readonly what: string;
}

const NO_WORDS: WordsAllowed = { max: 0, what: 'no words' };

/**
 * Reads flags as `--name value` or `--name=value`, in any order with words; after `--` all are words. Names are
 * written as they are typed, `coverage-min`. Every command takes `--json` besides, and knows whether it came.
 *
 * @throws {UsageError} for flags that are not known, come twice or lack their value, and for too many words.
 */
export function readFlags<const Spec extends FlagSpec>(
  args: readonly string[],
  spec: Spec,
  allowed: WordsAllowed = NO_WORDS,
): Flags<Spec & { readonly json: 'switch' }> {
  const kinds: Readonly<Record<string, FlagKind>> = { ...spec, json: 'switch' };
  const options = Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [name, optionOf(kind)]));
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  const values = emptyValues(kinds);
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind === 'option') take(token, kinds, values);
  }
  if (words.length > allowed.max) throw tooManyWords(words, allowed);
  return { values: Object.fromEntries(values) as FlagValues<Spec & { readonly json: 'switch' }>, words };
}

/** @throws {UsageError} if `text` is no whole number from `min` to `max`. */
export function readWhole(flag: string, text: string, min: number, max: number): number {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new UsageError(`--${flag} "${text}": expected a whole number from ${min} to ${max}`);
}

/** @throws {UsageError} if `text` is none of `choices`. */
export function readChoice<Choice extends string>(
  flag: string,
  text: string,
  choices: readonly Choice[],
): Choice {
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  throw new UsageError(`--${flag} "${text}": expected ${choices.join(', ')}`);
}

function optionOf(kind: FlagKind): ParseArgsOptionDescriptor {
  return { type: kind === 'switch' ? 'boolean' : 'string', multiple: true };
}

const emptyValues = (kinds: Readonly<Record<string, FlagKind>>): Map<string, unknown> =>
  new Map(
    Object.entries(kinds).map(([name, kind]) => [
      name,
      kind === 'switch' ? false : kind === 'texts' ? [] : undefined,
    ]),
  );

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
  /** Written as `--name=value`. */
  readonly inlineValue?: boolean | undefined;
}

function take(
  token: OptionToken,
  kinds: Readonly<Record<string, FlagKind>>,
  values: Map<string, unknown>,
): void {
  const { name, rawName, value } = token;
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
  if (kind === undefined || rawName !== `--${name}`) throw unknownFlag(rawName, Object.keys(kinds));
  if (kind === 'switch') {
    if (value !== undefined) throw new UsageError(`${rawName}=${value}: ${rawName} takes no value`);
    values.set(name, true);
    return;
  }
  // A forgotten value must not swallow the next flag; a value that begins with dashes is written with =.
  if (value === undefined || (token.inlineValue !== true && value.startsWith('--')))
    throw new UsageError(`${rawName}: expected a value after it`);
  if (value === '') throw new UsageError(`${rawName}: expected a value that is not empty`);
  if (kind === 'texts') values.set(name, [...(values.get(name) as readonly string[]), value]);
  else if (values.get(name) !== undefined)
    throw new UsageError(`${rawName}: is given twice; expected it once`);
  else values.set(name, value);
}

function unknownFlag(flag: string, names: readonly string[]): UsageError {
  const like = closest(flag.replace(/^-+/, ''), names);
  const hint =
    like === undefined
      ? `expected ${names.map((name) => `--${name}`).join(', ')}`
      : `did you mean --${like}?`;
  return new UsageError(`${flag}: is no flag of this command; ${hint}`);
}

function tooManyWords(words: readonly string[], { max, what }: WordsAllowed): UsageError {
  const extra = words.slice(max).map((word) => `"${word}"`);
  return new UsageError(`${extra.join(' ')}: expected ${what}`);
}

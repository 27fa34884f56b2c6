const PROBLEMS_MAX = 200;
const QUOTE_CHARACTERS_MAX = 60;

export type Read<Value> = (reading: Reading) => Value | undefined;

type Fields = Readonly<Record<string, Read<unknown>>>;
type Value<Of> = Of extends Read<infer Found> ? Exclude<Found, undefined> : never;
type Present<Of> = { readonly [Name in keyof Of]?: Value<Of[Name]> };
type Found<Needed, Optional> = { readonly [Name in keyof Needed]: Value<Needed[Name]> } & Present<Optional>;

/** `runnerIds` → `runner_ids`. Documents leave out a unit or `Id` at the end: `fromMs` → `from`, `groupId` → `group`. */
export const documentKey = (name: string): string =>
  name.replace(/(?:Ms|Seconds|Percent|Id)$/, '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export interface ReadingOptions {
  /** The document was accepted before, so that slow checks are skipped. */
  readonly wasAccepted?: boolean;
  /** A newer version may have written it: keys of its own are left alone. */
  readonly carriesUnknown?: boolean;
}

/**
 * One value of an unknown document and where it stands. Reading a wrong value notes the problem and gives `undefined`,
 * so that one pass finds every problem. Callers may go on with a default: a document with problems is never used.
 */
export class Reading {
  readonly value: unknown;
  readonly path: DocumentPath;
  readonly options: ReadingOptions;
  readonly problems: DocumentProblem[];

  private constructor(
    value: unknown,
    path: DocumentPath,
    problems: DocumentProblem[],
    options: ReadingOptions,
  ) {
    this.value = value;
    this.path = path;
    this.problems = problems;
    this.options = options;
  }

  static of(document: unknown, options: ReadingOptions = {}): Reading {
    return new Reading(document, [], [], options);
  }

  result<Value>(value: Value | undefined): ParseResult<Value, DocumentProblem> {
    return value === undefined || this.problems.length > 0
      ? { ok: false, problems: this.problems }
      : { ok: true, value };
  }

  get isThere(): boolean {
    return this.value !== undefined && this.value !== null;
  }

  get asText(): string {
    return typeof this.value === 'string' ? this.value : '';
  }

  get keys(): readonly string[] {
    return isRecord(this.value) ? Object.keys(this.value) : [];
  }

  refuse(message: string): undefined {
    this.note({ path: this.path, message });
    return undefined;
  }

  expected(what: string): undefined {
    return this.refuse(this.isThere ? `${quote(this.value)}; expected ${what}` : `missing; expected ${what}`);
  }

  /** The value under a key; a missing one is read as absent. Only own keys count: `__proto__` is a key like any other. */
  at(key: string): Reading {
    const value = isRecord(this.value) && Object.hasOwn(this.value, key) ? this.value[key] : undefined;
    return new Reading(value, [...this.path, key], this.problems, this.options);
  }

  optional<Value>(key: string, read: Read<Value>): Value | undefined {
    const reading = this.at(key);
    return reading.isThere ? read(reading) : undefined;
  }

  flag(key: string): boolean {
    return this.optional(key, (each) => each.boolean()) === true;
  }

  fields<Needed extends Fields, Optional extends Fields = Record<never, never>>(
    needed: Needed,
    optional = {} as Optional,
    more: readonly string[] = [],
  ): Found<Needed, Optional> | undefined {
    const names = [...Object.keys(needed), ...Object.keys(optional)];
    if (!this.object([...names.map(documentKey), ...more])) return undefined;
    const found: Record<string, unknown> = {};
    for (const [name, read] of Object.entries(needed)) found[name] = read(this.at(documentKey(name)));
    const isWhole = !Object.values(found).includes(undefined);
    const present = this.present(optional);
    return isWhole ? ({ ...found, ...present } as Found<Needed, Optional>) : undefined;
  }

  /** Reads those that are there, and leaves other keys alone. */
  present<Optional extends Fields>(fields: Optional): Present<Optional> {
    const found: Record<string, unknown> = {};
    for (const [name, read] of Object.entries(fields)) {
      const value = this.optional(documentKey(name), read);
      if (value !== undefined) found[name] = value;
    }
    return found as Present<Optional>;
  }

  object(keys: readonly string[]): boolean {
    if (!isRecord(this.value)) {
      this.expected(`an object with ${keys.join(', ')}`);
      return false;
    }
    for (const key of this.options.carriesUnknown ? [] : this.keys) {
      if (keys.includes(key)) continue;
      const guess = closest(key, keys);
      const hint = guess === undefined ? `expected one of ${keys.join(', ')}` : `did you mean ${guess}?`;
      this.note({ path: [...this.path, key], message: `unknown key; ${hint}`, atKey: true });
    }
    return true;
  }

  list(what: string, max: number): readonly Reading[] {
    if (!this.isThere) return [];
    if (!Array.isArray(this.value)) {
      this.expected(`a list of ${what}`);
      return [];
    }
    if (this.value.length > max) {
      this.refuse(`has ${this.value.length} entries; expected at most ${max}`);
      return [];
    }
    // `from` visits holes, too, which no document has but a caller's value may.
    return Array.from(
      this.value,
      (entry: unknown, index) => new Reading(entry, [...this.path, index], this.problems, this.options),
    );
  }

  each<Value>(what: string, max: number, read: Read<Value>): readonly Value[] {
    return this.list(what, max).flatMap((each) => read(each) ?? []);
  }

  unique<Key extends string, Value extends { readonly [Name in Key]: unknown }>(
    what: string,
    max: number,
    key: Key,
    read: Read<Value>,
  ): readonly Value[] {
    const names = new Set<unknown>();
    return this.each(what, max, (each) => {
      const entry = read(each);
      if (entry === undefined) return undefined;
      if (names.has(entry[key])) each.at(documentKey(key)).expected(`${documentKey(key)} to be named once`);
      names.add(entry[key]);
      return entry;
    });
  }

  refuseEmpty(problem: string): void {
    if (Array.isArray(this.value) && this.value.length === 0) this.refuse(problem);
  }

  text(what: string, fits: (text: string) => boolean = (text) => text !== ''): string | undefined {
    return typeof this.value === 'string' && fits(this.value) ? this.value : this.expected(what);
  }

  integer(what: string, min: number, max: number = Number.MAX_SAFE_INTEGER): number | undefined {
    const value = this.value;
    const fits = typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max;
    return fits ? value : this.expected(what);
  }

  boolean(): boolean | undefined {
    return typeof this.value === 'boolean' ? this.value : this.expected('true or false');
  }

  oneOf<Word extends string>(what: string, words: readonly Word[]): Word | undefined {
    const word = words.find((each) => each === this.value);
    if (word !== undefined) return word;
    const guess = typeof this.value === 'string' ? closest(this.value, words) : undefined;
    return this.expected(
      `${what}: ${words.join(', ')}${guess === undefined ? '' : `; did you mean ${guess}?`}`,
    );
  }

  private note(problem: DocumentProblem): void {
    if (this.problems.length < PROBLEMS_MAX) this.problems.push(problem);
  }
}

/** Undefined: it is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function quote(value: unknown): string {
  if (typeof value === 'string') return `'${cut(value)}'`;
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (isRecord(value)) return `an object with ${cut(Object.keys(value).join(', '))}`;
  return cut(String(value));
}

const cut = (text: string): string =>
  text.length > QUOTE_CHARACTERS_MAX ? `${text.slice(0, QUOTE_CHARACTERS_MAX)}…` : text;

const EDITS_MAX = 2;
const CHARACTERS_MAX = 40;

export function closest(word: string, words: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestEdits = EDITS_MAX + 1;
  for (const each of words) {
    // Half of a short word is not a typing error either: `on` is not `id`.
    const edits = editDistance(word.toLowerCase(), each);
    if (edits < bestEdits && edits * 2 < each.length) [best, bestEdits] = [each, edits];
  }
  return best;
}

function editDistance(from: string, to: string): number {
  if (from.length > CHARACTERS_MAX) return Number.POSITIVE_INFINITY;
  let before: readonly number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let up = 0; up < from.length; up += 1) {
    const next = [up + 1];
    for (let at = 0; at < to.length; at += 1) {
      const change = (row[at] ?? 0) + (from[up] === to[at] ? 0 : 1);
      const swapped = up > 0 && at > 0 && from[up] === to[at - 1] && from[up - 1] === to[at];
      const swap = swapped ? (before[at - 1] ?? 0) + 1 : change;
      next.push(Math.min(change, swap, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[to.length] ?? 0;
}

export type ParseResult<Value, Problem = string> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export interface DocumentProblem {
  readonly path: DocumentPath;
  readonly message: string;
  readonly atKey?: boolean;
}

export type DocumentPath = readonly (string | number)[];

const KEY_CHARACTERS_MAX = 60;

function documentPathText(path: DocumentPath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[\w-]{1,60}$/.test(step)) text += text === '' ? step : `.${step}`;
    // A key that is no word is set apart, so that it cannot be taken for the rest of the sentence.
    else text += `[${JSON.stringify(step.slice(0, KEY_CHARACTERS_MAX))}]`;
  }
  return text === '' ? 'document' : text;
}

export const problemText = (problem: DocumentProblem): string =>
  `${documentPathText(problem.path)}: ${problem.message}`;

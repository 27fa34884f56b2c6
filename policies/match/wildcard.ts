import { RE2JS } from 're2js';

/**
 * Image patterns as GitLab Runner's `allowed_images` reads them (doublestar v4 `Match`): `*` is any run without `/`,
 * `**` as a whole path component crosses `/`, `?` is one character but `/`, `[a-z]` and `[^a-z]` or `[!a-z]` are
 * classes, `{a,b}` alternatives, `\` takes the next character as it is. The text is matched as written: no registry,
 * tag or `library/` is put in. Matching takes at most pattern × text steps.
 *
 * @see https://docs.gitlab.com/runner/executors/kubernetes/#restrict-docker-images-and-services
 */
export interface Wildcard {
  readonly pattern: string;
  /** Compares strings alone; another takes a microsecond or more for each text, so that its results are worth remembering. */
  readonly isPlain: boolean;
  matches(text: string): boolean;
}

const PATTERN_CHARACTERS_MAX = 512;
/** Each pair of braces multiplies the alternatives, as in `{a,b}{c,d}`. */
const ALTERNATIVES_MAX = 64;

type CompiledWildcard =
  | { readonly ok: true; readonly wildcard: Wildcard }
  | { readonly ok: false; readonly problem: string };

class WildcardProblem extends Error {}

function refuse(problem: string): never {
  throw new WildcardProblem(problem);
}

/** Checks the pattern now, and compiles it to RE2 when a text first asks: most patterns meet no text. */
export function compileWildcard(pattern: string): CompiledWildcard {
  try {
    if (pattern.length > PATTERN_CHARACTERS_MAX)
      refuse(`has ${pattern.length} characters; expected at most ${PATTERN_CHARACTERS_MAX}`);
    // For plain patterns too, because writing it finds mistakes in a pattern.
    const source = `(?s)^(?:${expandAlternatives(pattern).map(writeRegex).join('|')})$`;
    const plain = matchPlain(pattern);
    if (plain !== undefined) return { ok: true, wildcard: { pattern, isPlain: true, matches: plain } };
    // Every match starts with it, so that most texts are refused early. `a/**` matches `a`, without the slash.
    const prefix = (/^[^*?[{\\]*/.exec(pattern)?.[0] ?? '').replace(/\/$/, '');
    let compiled: RE2JS | undefined;
    const matches = (text: string): boolean => {
      if (!text.startsWith(prefix)) return false;
      compiled ??= RE2JS.compile(source);
      return compiled.test(text);
    };
    return { ok: true, wildcard: { pattern, isPlain: false, matches } };
  } catch (error) {
    if (error instanceof WildcardProblem) return { ok: false, problem: error.message };
    throw error;
  }
}

/** Folders without wildcards, then all below (`**`), or a last component with `*` in it, perhaps at any depth. */
const PLAIN = /^((?:[\w.:@-]*\/)*)(\*\*\/)?([\w.:@*-]*)$/;

function matchPlain(pattern: string): Wildcard['matches'] | undefined {
  const [, folders, anyDepth, last = ''] = PLAIN.exec(pattern) ?? [];
  if (folders === undefined || (anyDepth !== undefined && last === '')) return undefined;
  if (last === '**') return (text) => text.startsWith(folders) || text === folders.slice(0, -1);
  if (last.includes('**')) return undefined;
  const [head = '', ...pieces] = last.split('*');
  const tail = pieces.pop();
  return (text) => {
    const start = text.lastIndexOf('/') + 1;
    if (anyDepth === undefined && start !== folders.length) return false;
    if (!text.startsWith(folders) || !text.startsWith(head, start)) return false;
    let at = start + head.length;
    for (const piece of pieces) {
      const found = text.indexOf(piece, at);
      if (found < 0) return false;
      at = found + piece.length;
    }
    return tail === undefined ? at === text.length : at + tail.length <= text.length && text.endsWith(tail);
  };
}

type Unit = string;

/** Stands where an alternative begins: `**` counts as a component there, and stars that meet there are no `**`. */
const BEGIN: Unit = '';

function expandAlternatives(pattern: string): readonly (readonly Unit[])[] {
  let current: Unit[][] = [[]];
  const open: { readonly before: Unit[][]; readonly parts: Unit[][] }[] = [];
  for (const unit of pattern.match(/\\?./gsu) ?? []) {
    const inner = open.at(-1);
    if (unit === '{') {
      open.push({ before: current, parts: [] });
      current = [[BEGIN]];
    } else if (unit === ',' && inner !== undefined) {
      inner.parts.push(...current);
      current = [[BEGIN]];
    } else if (unit === '}') {
      if (inner === undefined)
        return refuse(String.raw`has a '}' without its '{'; write '\}' for the character itself`);
      open.pop();
      const parts = [...inner.parts, ...current];
      current = inner.before.flatMap((before) => parts.map((part) => [...before, ...part]));
      if (current.length > ALTERNATIVES_MAX)
        refuse(`stands for more than ${ALTERNATIVES_MAX} patterns; split it into several`);
    } else for (const each of current) each.push(unit);
  }
  return open.length === 0
    ? current
    : refuse(String.raw`has a '{' without its '}'; write '\{' for the character itself`);
}

const RUN = '[^/]*';
/** `**` with the `/` behind it: none or more whole components. */
const COMPONENTS = '(?:[^/]*/)*';
const REST = '.*';

function writeRegex(units: readonly Unit[]): string {
  const tokens: string[] = [];
  let startsComponent = true;
  for (let at = 0; at < units.length; at += 1) {
    const unit = units[at] ?? BEGIN;
    if (unit === BEGIN) {
      startsComponent = true;
      continue;
    }
    if (unit === '*') {
      let stars = 1;
      while (units[at + stars] === '*') stars += 1;
      if (stars > 2) refuse("has three or more '*' in a row; write '*' or '**'");
      at += stars - 1;
      let next = at + 1;
      while (units[next] === BEGIN) next += 1;
      const isComponent = stars === 2 && startsComponent;
      if (isComponent && tokens.at(-1) === COMPONENTS) refuse("has '**/**'; write '**' once");
      if (isComponent && units[next] === '/') {
        tokens.push(COMPONENTS);
        at = next;
        continue;
      }
      tokens.push(isComponent && next >= units.length ? REST : RUN);
    } else if (unit === '[') {
      const end = units.indexOf(']', at);
      if (end < 0) refuse(String.raw`has a '[' without its ']'; write '\[' for the character itself`);
      tokens.push(writeClass(units.slice(at + 1, end).filter((each) => each !== BEGIN)));
      at = end;
    } else tokens.push(unit === '?' ? '[^/]' : literal(unit));
    startsComponent = tokens.at(-1) === '/';
  }
  const last = tokens.at(-1) ?? '';
  const isFolder = tokens.at(-2) === '/' && (last === REST || last === COMPONENTS);
  // `a/**` matches `a` as well, with and without a `/` at its end.
  return isFolder ? `${tokens.slice(0, -2).join('')}(?:/${last})?` : tokens.join('');
}

/** `a-z0` of `[a-z0]`: ranges of code points, both ends included. It may hold `/`, as in doublestar. */
function writeClass(written: readonly Unit[]): string {
  const negated = written[0] === '^' || written[0] === '!';
  const members = negated ? written.slice(1) : written;
  if (members.length === 0) refuse("has an empty class '[]'; write what it should hold");
  let ranges = '';
  for (let at = 0; at < members.length; at += 1) {
    const isRange = members[at + 1] === '-' && at + 2 < members.length;
    const [from, to] = [bare(members[at]), bare(members[isRange ? at + 2 : at])];
    if ((from.codePointAt(0) ?? 0) > (to.codePointAt(0) ?? 0))
      refuse(`has the range '${from}-${to}'; write the smaller character first`);
    ranges += `${literal(from)}-${literal(to)}`;
    if (isRange) at += 2;
  }
  return `[${negated ? '^' : ''}${ranges}]`;
}

const bare = (unit: Unit = ''): string => (unit.length > 1 && unit.startsWith('\\') ? unit.slice(1) : unit);

function literal(unit: Unit): string {
  if (unit === '\\') refuse(String.raw`ends with '\'; write '\\' for the character itself`);
  return bare(unit).replace(/[\\^$.*+?()[\]{}|-]/, '\\$&');
}

import type { KnownLookup } from './known-run.ts';
import { knownValuesIn } from './rules.ts';
import { expandKnown } from './variables.ts';

/** Says why a function cannot be applied. Never returns. */
type Refuse = (what: string) => never;

const NAMES = "expand_vars, truncate(from, length), posix_escape, split('separator')";

/**
 * Applies one function of a block: `expand_vars`, `truncate(from, length)`, `posix_escape` or `split('…')`,
 * in GitLab's exact syntax.
 *
 * @see https://docs.gitlab.com/ci/inputs/#specify-functions-to-manipulate-input-values
 */
export function inputFunction(call: string, value: unknown, lookUp: KnownLookup, refuse: Refuse): unknown {
  const apply = functionOf(call, lookUp, refuse);
  return typeof value === 'string'
    ? apply(value)
    : refuse(`${call} takes a text, not ${JSON.stringify(value)}`);
}

function functionOf(call: string, lookUp: KnownLookup, refuse: Refuse): (text: string) => unknown {
  if (call === 'expand_vars') return (text) => expandedOnce(text, lookUp);
  if (call === 'posix_escape') return posixEscaped;
  const [, from, length] = /^truncate\(\s*(\d+)\s*,\s*(\d+)\s*\)?$/.exec(call) ?? [];
  if (from !== undefined && length !== undefined) {
    const start = Number(from);
    return (text) => [...text].slice(start, start + Number(length)).join('');
  }
  const separator = /^split\('([^']*)'\)$/.exec(call)?.[1];
  if (separator === '') return refuse(`${call} needs a separator`);
  if (separator !== undefined) return (text) => partsOf(text, separator);
  return refuse(
    call === 'posix_quote'
      ? '"posix_quote" is called posix_escape'
      : `"${call}" is no function; expected ${NAMES}`,
  );
}

/** References in the values stay. */
function expandedOnce(text: string, lookUp: KnownLookup): string {
  const known = knownValuesIn(text, lookUp);
  return expandKnown(text, known, new Set(Object.keys(known)));
}

const partsOf = (text: string, separator: string): readonly string[] =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** As Ruby's `Shellwords.shellescape`. */
const posixEscaped = (text: string): string =>
  text === '' ? "''" : text.replaceAll(/[^\w\-.,:+/@\n]/gu, '\\$&').replaceAll('\n', "'\n'");

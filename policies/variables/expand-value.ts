/** The value a name stands for; `undefined`: it cannot be told. */
export type VariableLookup = (name: string) => string | undefined;

/** Longer than any image name, user or quantity; bounds what values upon values can grow to. */
const EXPANDED_CHARACTERS_MAX = 1_024;

const SPECIAL = /^[*#$@!?\-0-9]/;
const NAME = /\w+/y;

/**
 * Puts values in the place of `$NAME` and `${NAME}` exactly as the runner does (Go's `os.Expand`): a name may begin with a
 * digit only where it is that digit alone, `${}` and an unclosed `${` are dropped, a `$` before anything else stays.
 * `undefined`: a value cannot be told, or the result is longer than {@link EXPANDED_CHARACTERS_MAX}.
 *
 * @see https://pkg.go.dev/os#Expand
 */
export function expandValue(text: string, lookUp: VariableLookup): string | undefined {
  let expanded = '';
  for (let at = 0; at < text.length; ) {
    const dollar = text.indexOf('$', at);
    if (dollar === -1 || dollar === text.length - 1) {
      expanded += text.slice(at);
      break;
    }
    const { name, end } = referenceAt(text, dollar + 1);
    const value = name === undefined ? '' : name === '' ? '$' : lookUp(name);
    if (value === undefined) return undefined;
    expanded += text.slice(at, dollar) + value;
    if (expanded.length > EXPANDED_CHARACTERS_MAX) return undefined;
    at = end;
  }
  return expanded.length > EXPANDED_CHARACTERS_MAX ? undefined : expanded;
}

/** `undefined` as a name: bad syntax, which is dropped. `''`: there is none, so the dollar stays. */
interface Reference {
  readonly name: string | undefined;
  readonly end: number;
}

function referenceAt(text: string, start: number): Reference {
  if (text[start] === '{') {
    const special = text[start + 1] ?? '';
    if (SPECIAL.test(special) && text[start + 2] === '}') return { name: special, end: start + 3 };
    const close = text.indexOf('}', start + 1);
    if (close === -1) return { name: undefined, end: start + 1 };
    const name = text.slice(start + 1, close);
    return { name: name === '' ? undefined : name, end: close + 1 };
  }
  const first = text[start] ?? '';
  if (SPECIAL.test(first)) return { name: first, end: start + 1 };
  NAME.lastIndex = start;
  const name = NAME.exec(text)?.[0] ?? '';
  return { name, end: start + name.length };
}

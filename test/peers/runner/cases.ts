// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the way variables are written in GitLab
import { readImageReference } from '../../../policies/images/image-judge.ts';
import { parseQuantity } from '../../../policies/kubernetes/quantity.ts';
import { compileRegex } from '../../../policies/match/regex.ts';
import { compileWildcard } from '../../../policies/match/wildcard.ts';
import { expandValue } from '../../../policies/variables/runner-variables.ts';

export const LIBRARIES = ['doublestar', 'regexp', 'quantity', 'reference', 'expand'] as const;

export type Library = (typeof LIBRARIES)[number];

export interface Question {
  readonly library: Library;
  readonly pattern?: string;
  readonly text: string;
  readonly variables?: Readonly<Record<string, string>>;
}

/** What one of the runner's libraries says, as `main.go` writes it. */
export interface RunnersAnswer {
  readonly error?: boolean;
  readonly matches?: boolean;
  readonly nanos?: string;
  readonly tag?: string;
  readonly digest?: string;
  readonly text?: string;
}

/**
 * `agrees`: both say the same. `stricter`: Tollgate refuses what the runner takes, which it may: patterns that are too
 * large, quantities below 0 or without a digit. `unspecified`: they differ where doublestar promises nothing, on an empty
 * text or a `**` that is no whole path component. `differs`: a defect.
 */
export type Comparison = 'agrees' | 'stricter' | 'unspecified' | 'differs';

const PART_OF_COMPONENT = /[^/]\*\*|\*\*[^/]/;

const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`;
const pieces = (text: string, ...more: readonly string[]): readonly string[] => [...text.split(' '), ...more];
const PIECES: Readonly<
  Record<Library, { readonly pattern?: readonly string[]; readonly text: readonly string[] }>
> = {
  doublestar: {
    pattern: pieces(
      'a b a / / : . * * ** /**/ **/ ? [ab] [^a] [!a] [a-c] {a,b} {a,b/c} {,a} {a*,**} \\* \\a é 😀 [ ] { } , - ^',
    ),
    text: pieces('a b c a b / / : . * é 😀 - , [ {'),
  },
  regexp: {
    pattern: pieces(
      'a b A - 1 . .* ^ $ | ( ) (?: (?i) (?m) (?s) (?U) * + ? {2} {0,2} {1,} *? +? [ab] [^ab] [a-c] [[:alpha:]] [[:^digit:]]',
      ...pieces(
        '\\d \\D \\w \\W \\s \\b \\B \\A \\z \\pL \\p{Lu} \\P{Greek} \\x41 (?P<n>a) (?<m>b) (?=a) (?i:k) \\1',
      ),
      ...pieces('\\Qa.\\E é 😀 [\\d-] \\n \\.'),
    ),
    text: pieces('a b c A K k - 1 . é É α 😀 _', ' ', '\n', '\u212a'),
  },
  quantity: {
    text: pieces(
      '0 1 2 5 9 00 10 1024 . .5 - + e E e3 E-2 e+1 n u m k K M G T P E Ki Mi Gi Ti Pi Ei i 000 123456789',
      ' ',
    ),
  },
  reference: {
    text: pieces(
      `a ruby A / / : : . - -- _ __ ___ @ @${DIGEST} @sha256:0 latest 3.2 5000 localhost registry.example.com`,
      ...pieces('host:5000 [::1] $ é library', ' '),
    ),
  },
  expand: {
    text: pieces(
      '$ $ { } ${ $A $B ${A} ${B} $AB $1 ${1} ${} ${A $$ ${$} a _ - * # @ ! ? 0 . é / ${a-b}',
      ...[' ', '${A B}'],
    ),
  },
};
const PIECES_MAX = 8;
/** Kubernetes' parser reckons with an exponent of nine digits for minutes; Tollgate refuses more than 99. */
const LONG_EXPONENT = /([eE][+-]?\d{2})\d+/g;

export function newQuestion(library: Library, random: () => number): Question {
  const { pattern, text } = PIECES[library];
  const some = (from: readonly string[]): string =>
    Array.from(
      { length: Math.floor(random() * (PIECES_MAX + 1)) },
      () => from[Math.floor(random() * from.length)] ?? '',
    ).join('');
  return {
    library,
    ...(pattern !== undefined && { pattern: some(pattern) }),
    text: library === 'quantity' ? some(text).replace(LONG_EXPONENT, '$1') : some(text),
    ...(library === 'expand' && { variables: { A: some(text), B: 'b', 'a-b': 'odd', '-': 'minus' } }),
  };
}

export function compare(question: Question, runners: RunnersAnswer): Comparison {
  const { library, pattern = '', text, variables = {} } = question;
  switch (library) {
    case 'doublestar': {
      const compiled = compileWildcard(pattern);
      const ours = compiled.ok ? compiled.wildcard.matches(text) : undefined;
      const comparison = compared(ours, runners.matches ?? false, runners);
      const isUnspecified = text === '' || PART_OF_COMPONENT.test(pattern);
      return comparison === 'differs' && isUnspecified ? 'unspecified' : comparison;
    }
    case 'regexp': {
      const compiled = compileRegex(pattern);
      if (compiled.ok && runners.error) return 'differs';
      return compared(
        compiled.ok ? compiled.regex.matches(text) : undefined,
        runners.matches ?? false,
        runners,
      );
    }
    case 'quantity': {
      const nanos = parseQuantity(text)?.nanos.toString();
      if (nanos !== undefined && runners.error) return 'differs';
      return compared(nanos, runners.nanos, runners);
    }
    case 'reference': {
      const read = readImageReference(text);
      const ours = read && `${read.tag ?? ''}@${read.digest ?? ''}`;
      if (read !== undefined && runners.error) return text.includes('$') ? 'agrees' : 'differs';
      return compared(ours, `${runners.tag ?? ''}@${runners.digest ?? ''}`, runners);
    }
    case 'expand':
      return compared(
        expandValue(text, (name) => variables[name] ?? ''),
        runners.text,
        runners,
      );
  }
}

/** `undefined` here: refused. */
function compared<Value>(ours: Value | undefined, theirs: Value, { error }: RunnersAnswer): Comparison {
  if (ours === undefined) return error ? 'agrees' : 'stricter';
  if (error) return ours === false ? 'agrees' : 'differs';
  return ours === theirs ? 'agrees' : 'differs';
}

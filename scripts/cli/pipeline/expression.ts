/** A condition of `rules:if`, read. */
export type Expression =
  | { readonly kind: 'variable'; readonly name: string }
  /** `$[[ inputs.name ]]`, which only the rules of an input have. */
  | { readonly kind: 'input'; readonly name: string }
  | { readonly kind: 'constant'; readonly value: string | boolean | null }
  | { readonly kind: 'pattern'; readonly pattern: string }
  | { readonly kind: 'not'; readonly of: Expression }
  | {
      readonly kind: 'operator';
      readonly operator: Operator;
      readonly left: Expression;
      readonly right: Expression;
    };

export type Operator = '&&' | '||' | '==' | '!=' | '=~' | '!~';

/** GitLab's own bound of words and signs in one expression. */
const TOKENS_MAX = 100;

const TOKEN =
  /\s*(?:(?<sign>\(|\)|==|=~|!=|!~|&&|\|\||!)|\$\[\[\s*inputs\.(?<input>\w+)\s*\]\]|\$(?<variable>\w+)|"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<pattern>\/(?:\\.|[^/\\])+\/[ismU]*)|\b(?<word>null|true|false)\b)/y;

/** The higher binds the closer. */
const PRECEDENCE: Readonly<Record<Operator, number>> = {
  '||': 1,
  '&&': 2,
  '==': 3,
  '!=': 3,
  '=~': 3,
  '!~': 3,
};

type Token = { readonly sign: string } | { readonly operand: Expression };

/** `undefined`: GitLab calls it invalid. */
export type ReadExpression = (text: string) => Expression | undefined;

/** Reads each expression once: a rule that many jobs share is judged a thousand times. */
export function expressionReader(): ReadExpression {
  const read = new Map<string, Expression | undefined>();
  return (text) => {
    if (!read.has(text)) read.set(text, parseExpression(text));
    return read.get(text);
  };
}

/** `undefined`: GitLab calls it invalid. */
export function parseExpression(text: string): Expression | undefined {
  const tokens = tokensOf(text);
  if (tokens === undefined) return undefined;
  let at = 0;
  const whole = binary(1);
  return at === tokens.length ? whole : undefined;

  function binary(precedence: number): Expression | undefined {
    let left = unary();
    for (;;) {
      const operator = operatorAt(at);
      if (left === undefined || operator === undefined || PRECEDENCE[operator] < precedence) return left;
      at += 1;
      const right = binary(PRECEDENCE[operator] + 1);
      if (right === undefined) return undefined;
      left = { kind: 'operator', operator, left, right };
    }
  }

  function unary(): Expression | undefined {
    const token = tokens?.[at];
    at += 1;
    if (token === undefined) return undefined;
    if ('operand' in token) return token.operand;
    if (token.sign === '!') {
      const of = unary();
      return of && { kind: 'not', of };
    }
    if (token.sign !== '(') return undefined;
    const inner = binary(1);
    const close = tokens?.[at];
    at += 1;
    return close !== undefined && 'sign' in close && close.sign === ')' ? inner : undefined;
  }

  function operatorAt(index: number): Operator | undefined {
    const token = tokens?.[index];
    return token !== undefined && 'sign' in token && token.sign in PRECEDENCE
      ? (token.sign as Operator)
      : undefined;
  }
}

function tokensOf(text: string): readonly Token[] | undefined {
  const tokens: Token[] = [];
  const trimmed = text.trim();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < trimmed.length) {
    const groups = TOKEN.exec(trimmed)?.groups;
    if (groups === undefined || tokens.length >= TOKENS_MAX) return undefined;
    tokens.push(tokenOf(groups));
  }
  return tokens;
}

function tokenOf({
  sign,
  input,
  variable,
  double,
  single,
  pattern,
  word,
}: Record<string, string | undefined>): Token {
  if (sign !== undefined) return { sign };
  if (input !== undefined) return { operand: { kind: 'input', name: input } };
  if (variable !== undefined) return { operand: { kind: 'variable', name: variable } };
  if (pattern !== undefined) return { operand: { kind: 'pattern', pattern } };
  const text = double ?? single;
  const value = text ?? (word === 'null' ? null : word === 'true');
  return { operand: { kind: 'constant', value } };
}

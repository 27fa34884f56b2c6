/** The ways in which the conditions of a source file can be a little wrong. */
import { parseAst } from 'vitest/node';

/** One place of a file, written otherwise. */
export interface ConditionChange {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** From 1. */
  readonly line: number;
  /** `seen + amount <= bound` → `seen + amount < bound`. */
  readonly from: string;
  readonly to: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly operator?: string;
  readonly left?: Node;
  readonly argument?: Node;
  readonly test?: Node;
  readonly callee?: Node;
  readonly arguments?: readonly Node[];
  readonly name?: string;
  readonly value?: unknown;
}

type Edit = Pick<ConditionChange, 'start' | 'end' | 'text'>;

/** Off by one, or the contrary. */
const OTHER_OPERATOR: Readonly<Record<string, string>> = {
  ...{ '<': '<=', '<=': '<', '>': '>=', '>=': '>' },
  ...{ '===': '!==', '!==': '===', '&&': '||', '||': '&&' },
};
/** How the store writes a condition of the table: a call with the operator as text. */
const TABLE_CONDITION = 'numberIs';
const OTHER_TABLE_OPERATOR: Readonly<Record<string, string>> = { '=': '>=', '<=': '<', '>=': '>' };
const TEXT_MAX = 70;

/** @param source - TypeScript. @returns in the order of the file. */
export function conditionChanges(source: string): readonly ConditionChange[] {
  const found: ConditionChange[] = [];
  visit(parseAst(source, { lang: 'ts' }) as unknown as Node, (node) => {
    for (const { start, end, text } of editsOf(node, source)) {
      const whole = source.slice(node.start, node.end);
      const changed = source.slice(node.start, start) + text + source.slice(end, node.end);
      const line = source.slice(0, start).split('\n').length;
      const at = start - node.start;
      found.push({ start, end, text, line, from: shortText(whole, at), to: shortText(changed, at) });
    }
  });
  return found.toSorted((one, other) => one.start - other.start);
}

export const changedSource = (source: string, { start, end, text }: ConditionChange): string =>
  source.slice(0, start) + text + source.slice(end);

function editsOf(node: Node, source: string): readonly Edit[] {
  const { type, start, operator, left, argument, test } = node;
  switch (type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
      return left === undefined ? [] : otherOperator(operator ?? '', left.end, source);
    case 'UnaryExpression':
      return operator === '!' && argument !== undefined ? [{ start, end: argument.start, text: '' }] : [];
    case 'IfStatement':
    case 'ConditionalExpression':
      return test !== undefined && isWord(test) ? [{ start: test.start, end: test.start, text: '!' }] : [];
    case 'CallExpression':
      return otherTableOperator(node);
    default:
      return [];
  }
}

/** A name, a property or a call: no operator in it could be another. */
const isWord = ({ type }: Node): boolean =>
  type === 'Identifier' || type === 'MemberExpression' || type === 'CallExpression';

function otherOperator(operator: string, from: number, source: string): readonly Edit[] {
  const text = OTHER_OPERATOR[operator];
  const start = source.indexOf(operator, from);
  return text === undefined ? [] : [{ start, end: start + operator.length, text }];
}

function otherTableOperator({ callee, arguments: given = [] }: Node): readonly Edit[] {
  if (callee?.name !== TABLE_CONDITION) return [];
  return given.flatMap(({ type, start, end, value }) => {
    const other = OTHER_TABLE_OPERATOR[String(value)];
    return type === 'Literal' && other !== undefined ? [{ start, end, text: `'${other}'` }] : [];
  });
}

function visit(node: Node, see: (node: Node) => void): void {
  see(node);
  for (const value of Object.values(node)) {
    const below: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const each of below) if (isNode(each)) visit(each, see);
  }
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';

/** One line, and of a long text what is around the change. */
function shortText(text: string, at: number): string {
  const line = text.replaceAll(/\s+/g, ' ');
  if (line.length <= TEXT_MAX) return line;
  const before = text.slice(0, at).replaceAll(/\s+/g, ' ').length;
  const from = Math.max(0, Math.min(before - TEXT_MAX / 2, line.length - TEXT_MAX));
  const shown = line.slice(from, from + TEXT_MAX);
  return `${from > 0 ? '…' : ''}${shown}${from + TEXT_MAX < line.length ? '…' : ''}`;
}

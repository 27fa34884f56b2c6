/**
 * What IAM says to a call, by the statements of a synthesized role: an explicit deny wins, then an allow, else it is
 * denied. Knows the operators that the templates use and throws at any other, so that nothing passes unread.
 */

export interface Statement {
  readonly Effect: 'Allow' | 'Deny';
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface Call {
  readonly action: string;
  /** JSON of the resource as the template writes it. */
  readonly resource: string;
  /** Keys of the request; a key with several values is a list. */
  readonly context: Readonly<Record<string, readonly string[]>>;
}

export function isAllowed(call: Call, statements: readonly Statement[]): boolean {
  const fitting = statements.filter((statement) => fits(statement, call));
  return fitting.length > 0 && fitting.every(({ Effect }) => Effect === 'Allow');
}

function fits({ Action, Resource, Condition = {} }: Statement, call: Call): boolean {
  if (!asList(Action).some((pattern) => isLike(call.action, String(pattern)))) return false;
  const resources = asList(Resource).map((each) => JSON.stringify(each));
  if (!resources.some((each) => each === '"*"' || each === call.resource)) return false;
  return Object.entries(Condition).every(([operator, keys]) =>
    Object.entries(keys).every(([key, wanted]) =>
      holds(operator, call.context[key], asList(wanted).map(text)),
    ),
  );
}

function holds(operator: string, values: readonly string[] | undefined, wanted: readonly string[]): boolean {
  const [, quantifier, comparison = ''] = /^(?:(ForAllValues|ForAnyValue):)?(\w+)$/.exec(operator) ?? [];
  const matches = (value: string): boolean => matchesOne(comparison, value, wanted);
  // A key that is not in the request satisfies "all values" and no "any value".
  if (quantifier === 'ForAllValues') return (values ?? []).every(matches);
  if (quantifier === 'ForAnyValue') return (values ?? []).some(matches);
  const [value] = values ?? [];
  return value !== undefined && matches(value);
}

function matchesOne(comparison: string, value: string, wanted: readonly string[]): boolean {
  switch (comparison) {
    case 'StringEquals':
    case 'Bool':
      return wanted.includes(value);
    case 'StringLike':
      return wanted.some((pattern) => isLike(value, pattern));
    case 'StringNotLike':
      return !wanted.some((pattern) => isLike(value, pattern));
    default:
      throw new Error(`no such operator here: ${comparison}`);
  }
}

/** `*` is any text, `?` one character. */
const isLike = (value: string, pattern: string): boolean =>
  new RegExp(
    `^${pattern
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
    'su',
  ).test(value);

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

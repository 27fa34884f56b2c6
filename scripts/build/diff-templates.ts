/** Compares two sets of CloudFormation templates, property by property. */
import { isDeepStrictEqual } from 'node:util';
import { type Paint, printable } from '../terminal/paint.ts';

/** By the name of the stack. */
export type Templates = Readonly<Record<string, unknown>>;

export interface PropertyChange {
  /** `Properties.Timeout`; of a list without names `Properties.Tags[2]`. Empty: the element itself. */
  readonly path: string;
  /** Undefined: there was none. */
  readonly before?: unknown;
  /** Undefined: there is none any more. */
  readonly after?: unknown;
}

export interface ElementChange {
  readonly stack: string;
  /** `Resources`, `Outputs` … */
  readonly section: string;
  readonly id: string;
  /** Only resources have one. */
  readonly type?: string | undefined;
  readonly kind: 'added' | 'removed' | 'changed';
  readonly properties: readonly PropertyChange[];
}

/** Assets are named by their content; what is in them is not the templates' matter. */
const withoutHashes = (templates: Templates): Templates =>
  JSON.parse(JSON.stringify(templates).replace(/\b[0-9a-f]{64}\b/g, 'HASH'));

/** In the order of stacks and of their elements; empty if a deployment would change nothing but code. */
export function diffTemplates(before: Templates, after: Templates): readonly ElementChange[] {
  const [old, now] = [withoutHashes(before), withoutHashes(after)];
  return keysOf(old, now).flatMap((stack) => {
    const [oldSections, nowSections] = [named(old[stack]), named(now[stack])];
    return keysOf(oldSections, nowSections).flatMap((section) => {
      const [oldElements, nowElements] = [named(oldSections[section]), named(nowSections[section])];
      return keysOf(oldElements, nowElements).flatMap((id) =>
        elementChange({ stack, section, id }, oldElements[id], nowElements[id]),
      );
    });
  });
}

function elementChange(
  where: Pick<ElementChange, 'stack' | 'section' | 'id'>,
  before: unknown,
  after: unknown,
): readonly ElementChange[] {
  if (isDeepStrictEqual(before, after)) return [];
  const kind = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  const { Type: type } = named(after ?? before);
  const properties =
    kind === 'changed'
      ? propertyChanges('', before, after)
      : // A whole element is told by its properties, one by one.
        propertyChanges(
          '',
          bare(before ?? after, kind === 'removed'),
          bare(after ?? before, kind === 'added'),
        );
  return [{ ...where, type: typeof type === 'string' ? type : undefined, kind, properties }];
}

function bare(element: unknown, whole: boolean): unknown {
  if (!isRecord(element)) return whole ? element : undefined;
  const { Type: _told, ...rest } = element;
  if (whole) return rest;
  return isRecord(rest.Properties) ? { Properties: {} } : {};
}

function propertyChanges(path: string, before: unknown, after: unknown): readonly PropertyChange[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) return listChanges(path, before, after);
  if (!isRecord(before) || !isRecord(after)) return [{ path, before, after }];
  return keysOf(before, after).flatMap((key) =>
    propertyChanges(path === '' ? key : `${path}.${key}`, before[key], after[key]),
  );
}

/** Items that both have are no change, wherever they stand; the others are compared in their order. */
function listChanges(
  path: string,
  before: readonly unknown[],
  after: readonly unknown[],
): readonly PropertyChange[] {
  const gone = without(before, after);
  const come = without(after, before);
  if (gone.length === 0 && come.length === 0) return [{ path: `${path} (order)`, before, after }];
  if (gone.length === come.length) {
    return gone.flatMap(({ index, item }, pair) =>
      propertyChanges(`${path}[${index}]`, item, come[pair]?.item),
    );
  }
  return [
    ...gone.map(({ index, item }) => ({ path: `${path}[${index}]`, before: item })),
    ...come.map(({ index, item }) => ({ path: `${path}[${index}]`, after: item })),
  ];
}

interface Item {
  readonly index: number;
  readonly item: unknown;
}

/** Each item of `others` stands for one of `items`. */
function without(items: readonly unknown[], others: readonly unknown[]): readonly Item[] {
  const left = others.map((other) => JSON.stringify(other));
  return items.flatMap((item, index) => {
    const found = left.indexOf(JSON.stringify(item));
    if (found < 0) return [{ index, item }];
    left.splice(found, 1);
    return [];
  });
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A section that is one text, `Description`, is an element without a name. */
const named = (value: unknown): Readonly<Record<string, unknown>> =>
  value === undefined ? {} : isRecord(value) ? value : { '': value };

const keysOf = (before: object, after: object): readonly string[] => [
  ...new Set([...Object.keys(before), ...Object.keys(after)]),
];

/** Longer values are shown around their first difference; `--json` has them whole. */
const SHOWN_CHARACTERS_MAX = 120;
/** Longest values of a one-line change. */
const LINE_CHARACTERS_MAX = 60;

/** For people: stack by stack, one line for each element, one or two for each property. */
export function diffText(changes: readonly ElementChange[], paint: Paint): string {
  const stacks = [...new Set(changes.map(({ stack }) => stack))];
  const blocks = stacks.map((stack) => {
    const elements = changes.filter((change) => change.stack === stack);
    return `${paint.strong(stack)}\n${elements.map((each) => elementText(each, paint)).join('')}`;
  });
  const count = (kind: ElementChange['kind']): number => changes.filter((each) => each.kind === kind).length;
  const sum = `${count('changed')} changed, ${count('added')} added, ${count('removed')} removed`;
  return changes.length === 0 ? 'no difference\n' : `${blocks.join('\n')}\n${sum}\n`;
}

function elementText({ kind, section, id, type, properties }: ElementChange, paint: Paint): string {
  const sign = { added: paint.good('+'), removed: paint.bad('-'), changed: paint.warn('~') }[kind];
  const what = [printable(id), paint.dim(type ?? section)].filter((part) => part !== '').join('  ');
  return `  ${sign} ${what}\n${properties.map((each) => propertyText(each, paint)).join('')}`;
}

function propertyText({ path, before, after }: PropertyChange, paint: Paint): string {
  const [old, now] = shownPair(textOf(before), textOf(after));
  const name = path === '' ? '' : `${printable(path)}  `;
  if (old === '') return `      ${name}${paint.good(now)}\n`;
  if (now === '') return `      ${name}${paint.bad(old)}\n`;
  if (old.length + now.length <= LINE_CHARACTERS_MAX)
    return `      ${name}${paint.bad(old)} → ${paint.good(now)}\n`;
  return `      ${name.trimEnd()}\n        ${paint.bad(`- ${old}`)}\n        ${paint.good(`+ ${now}`)}\n`;
}

const textOf = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value));

/** The differing parts of both, with some common text before. */
function shownPair(before: string, after: string): readonly [string, string] {
  let same = 0;
  while (same < before.length && before[same] === after[same]) same += 1;
  const longest = Math.max(before.length, after.length);
  const start = longest <= SHOWN_CHARACTERS_MAX ? 0 : Math.max(0, same - SHOWN_CHARACTERS_MAX / 4);
  return [stretch(before, start), stretch(after, start)];
}

function stretch(text: string, start: number): string {
  const end = start + SHOWN_CHARACTERS_MAX;
  const shown = text.slice(start, end);
  return printable(`${start > 0 && shown !== '' ? '…' : ''}${shown}${text.length > end ? '…' : ''}`);
}

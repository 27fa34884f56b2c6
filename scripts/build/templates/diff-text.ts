import { type Paint, printable } from '../../terminal/paint.ts';
import type { ElementChange, PropertyChange } from './diff-templates.ts';

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

import { readDecimal } from '../../../../policies/document/decimal.ts';
import { entriesAt, entryOf } from '../warnings/warning.ts';
import type { Change, Effect } from './change.ts';
import { ruleChanges, type Side } from './diff-rules.ts';
import { type Direction, durationCap, list, neutral, ranked } from './directions.ts';
import { type Leaf, leafText, leaves } from './leaves.ts';

export type { Side } from './diff-rules.ts';

const MICROS = 1_000_000;

/** Everything that differs between two policies, prices first, then rules, then the rest. */
export function policyChanges(from: Side, to: Side, nowMs: number): readonly Change[] {
  return [
    ...sectionChanges('currency', from, to),
    ...priceChanges(from, to),
    ...sectionChanges('estimate', from, to),
    ...sectionChanges('platform', from, to),
    ...ruleChanges(from, to, nowMs),
    ...['variables', 'trust_variables', 'disclose'].flatMap((section) => sectionChanges(section, from, to)),
  ];
}

/** A longer estimate holds more money, so that fewer jobs fit. */
const longerHoldsMore: Direction = (from, to) => {
  const effect = durationCap(from ?? '1h', to ?? '1h');
  return effect === 'loosens' ? 'tightens' : effect === 'tightens' ? 'loosens' : effect;
};

/** By the path of the changed value. */
const SECTIONS: Readonly<Record<string, Direction>> = {
  'estimate.default': longerHoldsMore,
  'estimate.timeout': longerHoldsMore,
  'platform.groups': list('loosens'),
  'platform.projects': list('loosens'),
  variables: neutral,
  trust_variables: ranked(true, false),
};

function sectionChanges(section: string, from: Side, to: Side): readonly Change[] {
  return leaves(entryOf(from.document)[section], entryOf(to.document)[section], [section]).map((leaf) => ({
    at: leaf.path.join('.'),
    what: leafText(leaf),
    effect: sectionEffect(leaf),
  }));
}

function sectionEffect({ path, from, to }: Leaf): Effect {
  const [section] = path;
  const direction = SECTIONS[path.join('.')];
  if (direction !== undefined)
    return direction(
      from ?? (section === 'trust_variables' ? false : undefined),
      to ?? (section === 'trust_variables' ? false : undefined),
    );
  if (section === 'disclose') return 'neutral';
  if (path.join('.') === 'platform') return from === undefined ? 'loosens' : 'tightens';
  return section === 'platform' ? 'neutral' : 'unclear';
}

function priceChanges(from: Side, to: Side): readonly Change[] {
  const [before, after] = [pricesOf(from), pricesOf(to)];
  const changes: Change[] = leaves(
    { ...before.prices, classes: undefined },
    { ...after.prices, classes: undefined },
    ['prices'],
  ).map((leaf) => ({
    at: leaf.path.join('.'),
    what: leafText(leaf),
    effect: leaf.path[1] === 'version' ? 'neutral' : 'unclear',
  }));
  for (const name of before.classes.keys())
    if (!after.classes.has(name)) changes.push({ at: `prices.${name}`, what: 'removed', effect: 'unclear' });
  for (const [name, written] of after.classes) {
    const earlier = before.classes.get(name);
    if (earlier === undefined) changes.push({ at: `prices.${name}`, what: 'added', effect: 'unclear' });
    else
      for (const leaf of leaves(earlier, written))
        changes.push({
          at: `prices.${name}.${leaf.path.join('.')}`,
          what: leafText(leaf),
          effect: leaf.path[0] === 'rate_per_minute' ? rateEffect(leaf.from, leaf.to) : 'unclear',
        });
  }
  return [...changes, ...classOrder([...before.classes.keys()], [...after.classes.keys()])];
}

/** The first class that matches wins. */
function classOrder(before: readonly string[], after: readonly string[]): readonly Change[] {
  const left = before.filter((name) => after.includes(name));
  const kept = after.filter((name) => before.includes(name));
  if (left.join('\n') === kept.join('\n')) return [];
  return [{ at: 'prices.classes', what: `${left.join(', ')} → ${kept.join(', ')}`, effect: 'unclear' }];
}

function pricesOf({ document }: Side) {
  const prices = entryOf(entryOf(document).prices);
  return { prices, classes: new Map(entriesAt(prices, 'classes').map((each) => [String(each.name), each])) };
}

/** The same budget buys fewer minutes of what costs more. */
function rateEffect(from: unknown, to: unknown): Effect {
  const [before, after] = [readDecimal(from, MICROS), readDecimal(to, MICROS)];
  if (!before.ok || !after.ok) return 'unclear';
  return after.amount === before.amount ? 'neutral' : after.amount > before.amount ? 'tightens' : 'loosens';
}

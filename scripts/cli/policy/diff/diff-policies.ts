import { entryOf } from '../warnings/warning.ts';
import type { PolicyChange, PolicyEffect } from './change.ts';
import { priceChanges } from './diff-prices.ts';
import { ruleChanges, type Side } from './diff-rules.ts';
import { type Direction, durationCap, entriesDirection, neutral, ranked } from './directions.ts';
import { type Leaf, leafText, leaves } from './leaves.ts';

export type { Side } from './diff-rules.ts';

/** Everything that differs between two policies, prices first, then rules, then the rest. */
export function policyChanges(from: Side, to: Side, nowMs: number): readonly PolicyChange[] {
  return [
    ...sectionChanges('currency', from, to),
    ...sectionChanges('zone', from, to),
    ...priceChanges(from, to, nowMs),
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

/** Keyed by the path of the changed value. */
const SECTIONS: Readonly<Record<string, Direction>> = {
  'estimate.default': longerHoldsMore,
  'estimate.timeout': longerHoldsMore,
  'platform.groups': entriesDirection('loosens'),
  'platform.projects': entriesDirection('loosens'),
  variables: neutral,
  trust_variables: ranked(true, false),
};

function sectionChanges(section: string, from: Side, to: Side): readonly PolicyChange[] {
  return leaves(entryOf(from.document)[section], entryOf(to.document)[section], [section]).map((leaf) => ({
    at: leaf.path.join('.'),
    what: leafText(leaf),
    effect: sectionEffect(leaf),
  }));
}

function sectionEffect({ path, from, to }: Leaf): PolicyEffect {
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

import type { RolloutSettings } from '../../../../policies/rollout-step.ts';
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
    ...rolloutChanges(from.policy.rollout, to.policy.rollout),
    ...otherSections(from, to).flatMap((section) => sectionChanges(section, from, to)),
  ];
}

/** Reported above, each in its own way. */
const TOLD = ['currency', 'zone', 'prices', 'estimate', 'platform', 'rules', 'rollout'];

const otherSections = (from: Side, to: Side): readonly string[] =>
  [...new Set([from, to].flatMap(({ document }) => Object.keys(entryOf(document))))].filter(
    (section) => !TOLD.includes(section),
  );

/** As the policy spells them, and whether a larger number makes a step ask for more. */
const ROLLOUT_FIELDS = [
  { name: 'days', field: 'days', more: true },
  { name: 'report_days', field: 'reportDays', more: true },
  { name: 'coverage', field: 'coveragePercent', more: true },
  { name: 'would_fail', field: 'wouldFailPercent', more: false },
] as const;

/**
 * Compares effective values, so that an explicit default is no change. Steps are moved by people: no job
 * changes by them.
 */
const rolloutChanges = (from: RolloutSettings, to: RolloutSettings): readonly PolicyChange[] =>
  ROLLOUT_FIELDS.flatMap(({ name, field, more }): readonly PolicyChange[] => {
    const [before, after] = [from[field], to[field]];
    if (before === after) return [];
    const asks = after > before === more ? 'more' : 'less';
    return [
      { at: `rollout.${name}`, what: `${before} → ${after} (a step asks for ${asks})`, effect: 'neutral' },
    ];
  });

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
  return section === 'platform' ? 'neutral' : 'could loosen';
}

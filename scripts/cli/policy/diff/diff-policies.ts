import { readDecimal, readInstant } from '../../../../policies/document/values.ts';
import type { Policy } from '../../../../policies/policy.ts';
import { pricesAt, priceVersions } from '../../../../policies/price.ts';
import type { RolloutSettings } from '../../../../policies/rollout-step.ts';
import type { Rule } from '../../../../policies/rule.ts';
import { entriesAt, entriesOf, entryOf, rulesZone, type WrittenEntry } from '../written-document.ts';
import { ruleEffect } from './rule-directions.ts';
import {
  added,
  type Direction,
  durationCap,
  entriesDirection,
  type Leaf,
  leafText,
  leaves,
  neutral,
  type PolicyChange,
  type PolicyEffect,
  ranked,
  removed,
  valueText,
} from './values.ts';

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

/** A policy, and as it was written. */
export interface Side {
  readonly policy: Policy;
  readonly document: unknown;
}

/** Rules that came, went, changed or moved, by id, in the order of the new document. */
function ruleChanges(from: Side, to: Side, nowMs: number): readonly PolicyChange[] {
  const [before, after] = [rulesOf(from), rulesOf(to)];
  const zones = { from: rulesZone(from.document), to: rulesZone(to.document) };
  const gone = [...before.values()]
    .filter(({ rule }) => !after.has(rule.id))
    .map(
      ({ rule }): PolicyChange => ({
        at: `rules.${rule.id}`,
        what: `removed (${labelOf(rule)})`,
        effect: goneEffect(rule),
      }),
    );
  const there = [...after.values()].flatMap((each): readonly PolicyChange[] => {
    const earlier = before.get(each.rule.id);
    if (earlier !== undefined) return changed(earlier, each, { nowMs, zones });
    const effect = each.rule.mode === 'enforce' ? 'tightens' : 'neutral';
    return [{ at: `rules.${each.rule.id}`, what: `added (${labelOf(each.rule)})`, effect }];
  });
  return [...gone, ...there, ...orderChange([...before.keys()], [...after.keys()])];
}

interface WrittenRule {
  readonly rule: Rule;
  readonly written: WrittenEntry;
}

function rulesOf({ policy, document }: Side): ReadonlyMap<string, WrittenRule> {
  const written = entriesAt(document, 'rules');
  return new Map(policy.rules.map((rule) => [rule.id, { rule, written: written[rule.order] ?? {} }]));
}

const labelOf = ({ kind, mode }: Rule): string => `${kind}, ${mode}`;

const goneEffect = ({ mode }: Rule): PolicyEffect => (mode === 'enforce' ? 'loosens' : 'neutral');

function changed(
  from: WrittenRule,
  to: WrittenRule,
  using: Omit<ExemptionsContext, 'enforced'>,
): readonly PolicyChange[] {
  const at = `rules.${to.rule.id}`;
  if (from.rule.kind !== to.rule.kind)
    return [{ at: `${at}.kind`, what: `${from.rule.kind} → ${to.rule.kind}`, effect: 'could loosen' }];
  const enforced = from.rule.mode === 'enforce' || to.rule.mode === 'enforce';
  const fields = leaves({ ...from.written, exempt: undefined }, { ...to.written, exempt: undefined });
  return [
    ...fields.map((leaf): PolicyChange => {
      const isMode = leaf.path[0] === 'mode';
      // A rule in shadow mode before and after has no effect on jobs.
      const effect = isMode || enforced ? ruleEffect(to.rule.kind, leaf, to.written) : 'neutral';
      return { at: [at, ...leaf.path].join('.'), what: leafText(leaf), effect };
    }),
    ...exemptionChanges(at, exemptOf(from), exemptOf(to), { ...using, enforced }),
  ];
}

const exemptOf = ({ written }: WrittenRule): readonly unknown[] => entriesOf(written.exempt);

/** All violations are reported, so the order only affects which is first. */
function orderChange(before: readonly string[], after: readonly string[]): readonly PolicyChange[] {
  const common = (ids: readonly string[], others: readonly string[]): string => {
    const known = new Set(others);
    return ids.filter((id) => known.has(id)).join('\n');
  };
  if (common(before, after) === common(after, before)) return [];
  return [{ at: 'rules', what: 'stand in another order', effect: 'neutral' }];
}

/** Keys about duration and reason, not about jobs. */
const ABOUT: ReadonlySet<string> = new Set(['reason', 'until', 'zone', 'ticket']);

interface ExemptionsContext {
  /** The rule rejects before or after the change. */
  readonly enforced: boolean;
  readonly nowMs: number;
  /** IANA zones of the two policies. */
  readonly zones: { readonly from: string; readonly to: string };
}

/** Exemptions that came, went, or last longer or shorter; one is the same if it is for the same jobs. */
function exemptionChanges(
  rule: string,
  from: readonly unknown[],
  to: readonly unknown[],
  { enforced, nowMs, zones }: ExemptionsContext,
): readonly PolicyChange[] {
  const at = `${rule}.exempt`;
  const gone = removed(from, to).map(entryOf);
  const came = added(from, to).map(entryOf);
  const told = (effect: PolicyEffect): PolicyEffect => (enforced ? effect : 'neutral');
  const changes: PolicyChange[] = [];
  for (const each of came) {
    const index = gone.findIndex((other) => leaves(forWhom(each), forWhom(other)).length === 0);
    const [earlier] = index === -1 ? [] : gone.splice(index, 1);
    if (earlier === undefined) {
      const effect = told(endMs(each, zones.to) <= nowMs ? 'neutral' : 'loosens');
      changes.push({ at, what: `+ ${valueText(each)}`, effect });
    } else {
      for (const leaf of leaves(earlier, each)) {
        const isEnd = leaf.path[0] === 'until' || leaf.path[0] === 'zone';
        const effect = isEnd
          ? told(untilEffect(endMs(earlier, zones.from), endMs(each, zones.to), nowMs))
          : 'neutral';
        changes.push({
          at: `${at}[${valueText(forWhom(each))}].${leaf.path.join('.')}`,
          what: leafText(leaf),
          effect,
        });
      }
    }
  }
  for (const each of gone) {
    const over = endMs(each, zones.from) <= nowMs;
    const what = `- ${valueText(each)}${over ? ' (was over)' : ''}`;
    changes.push({ at, what, effect: told(over ? 'neutral' : 'tightens') });
  }
  return changes;
}

const forWhom = (exemption: WrittenEntry): WrittenEntry =>
  Object.fromEntries(Object.entries(exemption).filter(([key]) => !ABOUT.has(key)));

function untilEffect(before: number, after: number, nowMs: number): PolicyEffect {
  if (before === after || (before <= nowMs && after <= nowMs)) return 'neutral';
  return after > before ? 'loosens' : 'tightens';
}

const endMs = ({ until, zone }: WrittenEntry, ofPolicy: string): number =>
  (typeof until === 'string'
    ? readInstant(until, 'end', typeof zone === 'string' ? zone : ofPolicy)
    : undefined) ?? Number.POSITIVE_INFINITY;

/**
 * Compares two price tables, version by version. A new version is compared with its predecessor, so that
 * future changes are reported like current ones.
 */
function priceChanges(from: Side, to: Side, nowMs: number): readonly PolicyChange[] {
  const [before, after] = [versionsOf(from), versionsOf(to)];
  const [one, other] = [before[0], after[0]];
  if (one !== undefined && other !== undefined && before.length === 1 && after.length === 1)
    return versionChanges('prices', one, other);
  const inForce = priceVersions(from.policy.prices).indexOf(pricesAt(from.policy.prices, nowMs));
  const gone = before.flatMap((each, index): PolicyChange[] => {
    if (after.some(({ version }) => version === each.version)) return [];
    const over = index < inForce;
    const what = over ? 'removed (was over)' : 'removed';
    return [{ at: placeOf(each), what, effect: over ? 'neutral' : 'could loosen' }];
  });
  return [...gone, ...after.flatMap((each, index) => comparedOf(each, after[index - 1], before))];
}

function comparedOf(
  each: Version,
  precedes: Version | undefined,
  before: readonly Version[],
): readonly PolicyChange[] {
  const at = placeOf(each);
  const same = before.find(({ version }) => version === each.version);
  if (same !== undefined) return versionChanges(at, same, each);
  const from = each.written.from === undefined ? '' : ` (from ${String(each.written.from)})`;
  const added: PolicyChange = { at, what: `added${from}`, effect: 'neutral' };
  const follows = precedes ?? before[0];
  return follows === undefined ? [added] : [added, ...classChanges(at, follows, each)];
}

/** One version of the prices, as it was written. */
interface Version {
  readonly version: string;
  readonly written: WrittenEntry;
  readonly classes: ReadonlyMap<string, WrittenEntry>;
}

function versionsOf({ document }: Side): readonly Version[] {
  const { prices } = entryOf(document);
  return (Array.isArray(prices) ? entriesOf(prices) : [prices]).map(entryOf).map((written) => ({
    version: String(written.version),
    written,
    classes: new Map(entriesAt(written, 'classes').map((each) => [String(each.name), each])),
  }));
}

const placeOf = ({ version }: Version): string => `prices[${version}]`;

const versionChanges = (at: string, from: Version, to: Version): readonly PolicyChange[] => [
  ...leaves({ ...from.written, classes: undefined }, { ...to.written, classes: undefined }, [at]).map(
    (leaf): PolicyChange => ({
      at: leaf.path.join('.'),
      what: leafText(leaf),
      effect: ['version', 'allow_jump'].includes(leaf.path[1] ?? '') ? 'neutral' : 'could loosen',
    }),
  ),
  ...classChanges(at, from, to),
];

function classChanges(at: string, from: Version, to: Version): readonly PolicyChange[] {
  const gone = [...from.classes.keys()].filter((name) => !to.classes.has(name));
  const changed = [...to.classes].flatMap(([name, written]): readonly PolicyChange[] => {
    const earlier = from.classes.get(name);
    if (earlier === undefined) return [{ at: `${at}.${name}`, what: 'added', effect: 'could loosen' }];
    return leaves(earlier, written).map((leaf) => ({
      at: `${at}.${name}.${leaf.path.join('.')}`,
      what: leafText(leaf),
      effect: classEffect(leaf),
    }));
  });
  return [
    ...gone.map((name): PolicyChange => ({ at: `${at}.${name}`, what: 'removed', effect: 'could loosen' })),
    ...changed,
    ...classOrder(at, [...from.classes.keys()], [...to.classes.keys()]),
  ];
}

/** The first class that matches wins. */
function classOrder(
  at: string,
  before: readonly string[],
  after: readonly string[],
): readonly PolicyChange[] {
  const left = before.filter((name) => after.includes(name));
  const kept = after.filter((name) => before.includes(name));
  if (left.join('\n') === kept.join('\n')) return [];
  return [{ at: `${at}.classes`, what: `${left.join(', ')} → ${kept.join(', ')}`, effect: 'could loosen' }];
}

const MICROS = 1_000_000;

/** A higher price buys fewer minutes. */
const rate: Direction = (from = 0, to = 0) => {
  const [before, after] = [readDecimal(from, MICROS), readDecimal(to, MICROS)];
  if (!before.ok || !after.ok) return 'could loosen';
  return after.amount === before.amount ? 'neutral' : after.amount > before.amount ? 'tightens' : 'loosens';
};

const OF_CLASS: Readonly<Record<string, Direction>> = {
  rate_per_minute: rate,
  rate_per_cpu_hour: rate,
  rate_per_gib_hour: rate,
  round: ranked('second', 'minute'),
};

const classEffect = ({ path, from, to }: Leaf): PolicyEffect =>
  (OF_CLASS[path[0] ?? ''] ?? (() => 'could loosen' as const))(from, to);

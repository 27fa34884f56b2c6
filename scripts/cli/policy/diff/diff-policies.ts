import { readDecimal } from '../../../../policies/document/values.ts';
import type { Policy } from '../../../../policies/policy.ts';
import {
  type PriceJump,
  type PriceTable,
  priceJumps,
  pricesAt,
  priceVersions,
} from '../../../../policies/price.ts';
import type { Rule } from '../../../../policies/rule.ts';
import { moneyText } from '../../../../policies/unit-texts.ts';
import { entriesAt, entriesOf, entryOf, type WrittenEntry } from '../written-document.ts';
import { ruleEffect } from './rule-directions.ts';
import {
  amountDirection,
  type Direction,
  durationIn,
  entriesDirection,
  type Leaf,
  leafText,
  leaves,
  neutral,
  type PolicyChange,
  type PolicyEffect,
  present,
  ranked,
  valueText,
} from './values.ts';

/** A policy, and as it was written. */
export interface Side {
  readonly policy: Policy;
  readonly document: unknown;
}

/** Everything that differs between two policies: prices, rules, then the rest. */
export const policyChanges = (from: Side, to: Side, nowMs: number): readonly PolicyChange[] => [
  ...priceChanges(from, to, nowMs),
  ...ruleChanges(from, to, nowMs),
  ...changesOf(
    leaves(withoutParts(from.document), withoutParts(to.document)),
    '',
    ({ path }) => SECTIONS[path.join('.')] ?? SECTIONS[`${path[0]}.*`],
  ),
];

const withoutParts = (document: unknown): WrittenEntry => ({
  ...entryOf(document),
  prices: undefined,
  rules: undefined,
});

const changesOf = (
  differing: readonly Leaf[],
  at: string,
  directionOf: (leaf: Leaf) => Direction | undefined,
): readonly PolicyChange[] =>
  differing.map((leaf) => ({
    at: `${at}${leaf.path.join('.')}`,
    what: leafText(leaf),
    effect: directionOf(leaf)?.(leaf.from, leaf.to) ?? 'could loosen',
  }));

/** A longer estimate holds more money, so that fewer jobs fit. */
const longerHoldsMore = amountDirection(durationIn, 'tightens', 'could loosen');

/** By path; `*` is everything in a section. */
const SECTIONS: Readonly<Record<string, Direction>> = {
  'estimate.default': longerHoldsMore,
  'estimate.timeout': longerHoldsMore,
  platform: present('loosens'),
  'platform.groups': entriesDirection('loosens'),
  'platform.projects': entriesDirection('loosens'),
  'platform.*': neutral,
  variables: neutral,
  trust_variables: (from = false, to = false) => ranked(true, false)(from, to),
  'disclose.*': neutral,
  // Steps are moved by people: no job changes by them.
  'rollout.*': neutral,
};

/** Rules that came, went or changed, by id, in the order of the new document. */
function ruleChanges(from: Side, to: Side, nowMs: number): readonly PolicyChange[] {
  const [before, after] = [rulesOf(from), rulesOf(to)];
  const whole = ({ id, kind, mode }: Rule, word: string, effect: PolicyEffect): PolicyChange => ({
    at: `rules.${id}`,
    what: `${word} (${kind}, ${mode})`,
    effect: mode === 'enforce' ? effect : 'neutral',
  });
  return [
    ...[...before.values()].flatMap(({ rule }) =>
      after.has(rule.id) ? [] : whole(rule, 'removed', 'loosens'),
    ),
    ...[...after.values()].flatMap((each) => {
      const earlier = before.get(each.rule.id);
      return earlier === undefined
        ? whole(each.rule, 'added', 'tightens')
        : changedRule(earlier, each, nowMs);
    }),
  ];
}

interface WrittenRule {
  readonly rule: Rule;
  readonly written: WrittenEntry;
}

function rulesOf({ policy, document }: Side): ReadonlyMap<string, WrittenRule> {
  const written = entriesAt(document, 'rules');
  return new Map(policy.rules.map((rule) => [rule.id, { rule, written: written[rule.order] ?? {} }]));
}

function changedRule(from: WrittenRule, to: WrittenRule, nowMs: number): readonly PolicyChange[] {
  const { id, kind } = to.rule;
  if (from.rule.kind !== kind)
    return [{ at: `rules.${id}.kind`, what: `${from.rule.kind} → ${kind}`, effect: 'could loosen' }];
  const fields = leaves({ ...from.written, exempt: undefined }, { ...to.written, exempt: undefined });
  const changes = [
    ...changesOf(fields, `rules.${id}.`, (leaf) => () => ruleEffect(kind, leaf)),
    ...exemptionChanges(`rules.${id}.exempt`, exemptionsOf(from), exemptionsOf(to), nowMs),
  ];
  if (from.rule.mode === 'enforce' || to.rule.mode === 'enforce') return changes;
  // A rule that does not reject before and after has no effect on jobs; its mode is listed all the same.
  return changes.map((each) => (each.at.endsWith('.mode') ? each : { ...each, effect: 'neutral' }));
}

interface Exemption {
  readonly written: WrittenEntry;
  readonly untilMs: number;
}

/** By the jobs that are exempt; of several for the same jobs, the one that ends last. */
function exemptionsOf({ rule, written }: WrittenRule): ReadonlyMap<string, Exemption> {
  const all = entriesOf(written.exempt).map(entryOf);
  // The platform's own exemptions stand before those of the document.
  const parsed = rule.exempt.slice(rule.exempt.length - all.length);
  const exemptions = all.map((each, index) => ({
    written: each,
    untilMs: parsed[index]?.untilMs ?? Number.POSITIVE_INFINITY,
  }));
  return new Map(
    exemptions
      .toSorted((one, other) => one.untilMs - other.untilMs)
      .map((each) => {
        const { reason: _, until: __, zone: ___, ticket: ____, ...whom } = each.written;
        return [valueText(whom), each];
      }),
  );
}

function exemptionChanges(
  at: string,
  from: ReadonlyMap<string, Exemption>,
  to: ReadonlyMap<string, Exemption>,
  nowMs: number,
): readonly PolicyChange[] {
  return [...new Set([...from.keys(), ...to.keys()])].flatMap((whom) => {
    const [before, after] = [from.get(whom), to.get(whom)];
    // What is over exempts no job.
    const [was, is] = [before, after].map((each) => Math.max(each?.untilMs ?? 0, nowMs));
    const effect = was === is ? 'neutral' : Number(is) > Number(was) ? 'loosens' : 'tightens';
    if (before !== undefined && after !== undefined)
      return changesOf(leaves(before.written, after.written), `${at}[${whom}].`, ({ path: [key] }) =>
        key === 'until' || key === 'zone' ? () => effect : neutral,
      );
    const came = after?.written;
    return { at, what: leafText({ from: before && [before.written], to: came && [came] }), effect };
  });
}

/** One version of the prices, as it was written. */
interface Version {
  readonly name: string;
  readonly written: WrittenEntry;
  readonly classes: ReadonlyMap<string, WrittenEntry>;
}

function versionsOf({ document }: Side): readonly [Version, ...Version[]] {
  const { prices } = entryOf(document);
  const [first, ...later] = (Array.isArray(prices) ? entriesOf(prices) : [prices]).map((each): Version => {
    const { classes: _, ...written } = entryOf(each);
    const classes = entriesAt(each, 'classes').map((one) => [String(one.name), one] as const);
    return { name: String(written.version), written, classes: new Map(classes) };
  });
  return [first ?? { name: '', written: {}, classes: new Map() }, ...later];
}

/**
 * Compares two price tables, version by version. A new version is compared with its predecessor, so that
 * future changes are reported like current ones.
 */
function priceChanges(from: Side, to: Side, nowMs: number): readonly PolicyChange[] {
  const [before, after] = [versionsOf(from), versionsOf(to)];
  if (before.length === 1 && after.length === 1) return versionChanges('prices', before[0], after[0]);
  const inForce = priceVersions(from.policy.prices).indexOf(pricesAt(from.policy.prices, nowMs));
  const gone = before.flatMap(({ name }, index): PolicyChange[] => {
    if (after.some((each) => each.name === name)) return [];
    const effect = index < inForce ? 'neutral' : 'could loosen';
    return [{ at: `prices[${name}]`, what: 'removed', effect }];
  });
  const there = after.flatMap((each, index): readonly PolicyChange[] => {
    const at = `prices[${each.name}]`;
    const same = before.find(({ name }) => name === each.name);
    if (same !== undefined) return versionChanges(at, same, each);
    const what = each.written.from === undefined ? 'added' : `added (from ${String(each.written.from)})`;
    const follows = after[index - 1] ?? before[0];
    return [{ at, what, effect: 'neutral' }, ...classChanges(at, follows, each)];
  });
  return [...gone, ...there];
}

const versionChanges = (at: string, from: Version, to: Version): readonly PolicyChange[] => [
  ...changesOf(leaves(from.written, to.written), `${at}.`, ({ path: [key] }) =>
    key === 'version' || key === 'allow_jump' ? neutral : undefined,
  ),
  ...classChanges(at, from, to),
];

const MICROS = 1_000_000;

/** A higher price buys fewer minutes, and none is one of 0. */
const rate: Direction = (from = 0, to = 0) =>
  amountDirection((value) => {
    const read = readDecimal(value, MICROS);
    return read.ok ? read.amount : undefined;
  }, 'tightens')(from, to);

const OF_CLASS: Readonly<Record<string, Direction>> = {
  rate_per_minute: rate,
  rate_per_cpu_hour: rate,
  rate_per_gib_hour: rate,
  round: ranked('second', 'minute'),
};

function classChanges(at: string, from: Version, to: Version): readonly PolicyChange[] {
  const names = [...new Set([...from.classes.keys(), ...to.classes.keys()])];
  const changed = names.flatMap((name): readonly PolicyChange[] => {
    const [before, after] = [from.classes.get(name), to.classes.get(name)];
    if (before === undefined || after === undefined)
      return [{ at: `${at}.${name}`, what: before ? 'removed' : 'added', effect: 'could loosen' }];
    return changesOf(leaves(before, after), `${at}.${name}.`, ({ path: [key = ''] }) => OF_CLASS[key]);
  });
  // The first class that matches wins.
  const [left, kept] = [from, to].map(({ classes }) =>
    [...classes.keys()].filter((name) => from.classes.has(name) && to.classes.has(name)).join(', '),
  );
  if (left === kept) return changed;
  return [...changed, { at: `${at}.classes`, what: `${left} → ${kept}`, effect: 'could loosen' }];
}

/** A rate that would be many times another one the moment the new policy is in force, or later. */
export interface LaterPriceJump extends PriceJump {
  /** Version of the new prices. */
  readonly version: string;
}

/**
 * The jumps from what a job pays by one policy to what it pays by another, now and whenever later prices begin, unless
 * the new prices confirm them with `allow_jump`.
 */
export function jumpsBetween(from: Side, to: Side, nowMs: number): readonly LaterPriceJump[] {
  const [before, after] = [from.policy.prices, to.policy.prices];
  const confirmed = versionsOf(to).filter(({ written }) => written.allow_jump === true);
  const startsIn = ({ later = [] }: PriceTable) => later.map(({ fromMs }) => fromMs);
  const starts = [...startsIn(before), ...startsIn(after)].filter((atMs) => atMs > nowMs);
  const found = [nowMs, ...starts].flatMap((atMs) => {
    const { version, ...recent } = pricesAt(after, atMs);
    if (confirmed.some(({ name }) => name === version)) return [];
    return priceJumps(pricesAt(before, atMs), { ...recent, version }).map((jump) => ({ ...jump, version }));
  });
  return [...new Map(found.map((jump) => [jumpText(jump), jump])).values()];
}

/** `rate_per_minute of class large goes from 0.60 to 600.00 (prices 1)`. */
export const jumpText = ({ rate: of, runnerClass, fromMicros, toMicros, version }: LaterPriceJump): string =>
  `${of} of class ${runnerClass} goes from ${moneyText(fromMicros)} to ${moneyText(toMicros)} (prices ${version})`;

import { readDecimal } from '../../../../policies/document/values.ts';
import { pricesAt, priceVersions } from '../../../../policies/prices/price.ts';
import { entriesAt, entriesOf, entryOf, type WrittenEntry } from '../warnings/warning.ts';
import type { PolicyChange, PolicyEffect } from './change.ts';
import type { Side } from './diff-rules.ts';
import { type Direction, ranked } from './directions.ts';
import { type Leaf, leafText, leaves } from './leaves.ts';

/**
 * Compares two price tables, version by version. A new version is compared with its predecessor, so that
 * future changes are reported like current ones.
 */
export function priceChanges(from: Side, to: Side, nowMs: number): readonly PolicyChange[] {
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

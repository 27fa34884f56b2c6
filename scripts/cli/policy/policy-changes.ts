import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../../policies/document/reading.ts';
import { readDurationSeconds } from '../../../policies/document/values.ts';
import { parseQuantity } from '../../../policies/kubernetes/quantity.ts';
import { CAP_SUBJECTS } from '../../../policies/kubernetes/resource-caps.ts';
import { MODES } from '../../../policies/mode.ts';
import { entriesAt, entriesOf, entryOf } from './written-document.ts';

/** Effect on jobs. `changes`: the fields do not show a direction, so a reviewer must look. */
type PolicyEffect = 'tightens' | 'loosens' | 'changes';

export interface PolicyChange {
  /** Place by name instead of index: `rules.trusted-images.mode`. */
  readonly at: string;
  /** `shadow → enforce`, `+ docker:*`, `- docker:*`. */
  readonly what: string;
  readonly effect: PolicyEffect;
}

export const policyChanges = (from: unknown, to: unknown): readonly PolicyChange[] =>
  leaves(byName(from), byName(to)).map((leaf) => ({
    at: leaf.path.join('.'),
    what: leafText(leaf),
    effect: effectOf(leaf, entryOf(from), entryOf(to)),
  }));

/** A value that differs: a scalar, a list as a whole, or an entry that was added or removed. */
interface Leaf {
  readonly path: readonly string[];
  readonly from: unknown;
  readonly to: unknown;
}

/** Rules, prices and classes are lists of named entries: they are compared by name. */
function byName(value: unknown): unknown {
  if (Array.isArray(value) && value.length > 0 && value.every((each) => nameOf(each) !== undefined))
    return Object.fromEntries(value.map((each) => [nameOf(each), byName(each)]));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, byName(each)]));
}

function nameOf(value: unknown): string | undefined {
  const { id, name, version, kind, rate_per_minute: rate, classes } = entryOf(value);
  if (kind !== undefined) return String(id);
  if (rate !== undefined) return String(name);
  return classes === undefined ? undefined : String(version);
}

/** Lists are compared as sets. */
function leaves(from: unknown, to: unknown, path: readonly string[] = []): readonly Leaf[] {
  if (isRecord(from) && isRecord(to)) {
    const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])];
    // The first class that matches wins. Numbers as names have an order of their own.
    const [left, right] = [from, to].map((each) =>
      Object.keys(each).filter((key) => key in from && key in to),
    );
    const order = path.at(-1) === 'classes' && !isDeepStrictEqual(left, right);
    return [
      ...(order ? [{ path: [...path, 'order'], from: left?.join(', '), to: right?.join(', ') }] : []),
      ...keys.flatMap((key) => leaves(from[key], to[key], [...path, key])),
    ];
  }
  const isSame = Array.isArray(from) && Array.isArray(to) ? isSameSet(from, to) : isDeepStrictEqual(from, to);
  return isSame ? [] : [{ path, from, to }];
}

const added = (from: unknown, to: unknown): readonly unknown[] =>
  entriesOf(to).filter((each) => !entriesOf(from).some((other) => isDeepStrictEqual(each, other)));

const isSameSet = (one: unknown, other: unknown): boolean =>
  added(one, other).length === 0 && added(other, one).length === 0;

function leafText({ from, to }: Leaf): string {
  const parts = [
    ...added(to, from).map((each) => `- ${valueText(each)}`),
    ...added(from, to).map((each) => `+ ${valueText(each)}`),
  ];
  return parts.length > 0 ? parts.join(', ') : `${valueText(from)} → ${valueText(to)}`;
}

const TEXT_CHARACTERS_MAX = 120;

function valueText(value: unknown): string {
  if (value === undefined || value === null) return 'absent';
  const text = written(value);
  return text.length > TEXT_CHARACTERS_MAX ? `${text.slice(0, TEXT_CHARACTERS_MAX - 1)}…` : text;
}

function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(written).join(', ')}]`;
  if (!isRecord(value)) return String(value);
  const keys = Object.entries(value).map(([key, each]) => `${key}: ${written(each)}`);
  return `{${keys.join(', ')}}`;
}

type Direction = 'tightens' | 'loosens';

const OPPOSITE = { tightens: 'loosens', loosens: 'tightens' } as const;

/** Words from the mildest to the strictest; a word that is not listed and an absent one count as the first. */
const RANKED: Readonly<Record<string, readonly unknown[]>> = {
  mode: MODES,
  on_missing: ['skip', 'reject'],
  on_error: ['open', 'closed'],
  tags: [undefined, 'fixed', 'digest'],
  docker_in_docker: [true, false],
  required: [false, true],
  binds_platform: [false, true],
  anchored: [false, true],
  others: ['allow', 'deny'],
  trust_variables: [true, false],
};

/** Effect of more: of a longer list or a higher amount. */
const MORE: Readonly<Record<string, Direction>> = {
  ...{ allow: 'loosens', exempt: 'loosens', max: 'loosens' },
  ...{ deny: 'tightens', require: 'tightens', windows: 'tightens' },
  ...{ runner_classes: 'tightens', executors: 'tightens' },
};

function effectOf({ path, from, to }: Leaf, before: Entry, after: Entry): PolicyEffect {
  const [section, id = '', key = '', ...below] = path;
  if (section === 'platform')
    return id === 'groups' || id === 'projects' ? more(from, to, 'loosens') : 'changes';
  if (section === 'trust_variables') return ranked(section, from ?? false, to ?? false);
  if (section === 'prices')
    return path.at(-1)?.startsWith('rate_') ? amount(from ?? 0, to ?? 0, 'tightens') : 'changes';
  if (section !== 'rules') return 'changes';
  const [earlier, later] = [before, after].map((policy) =>
    entriesAt(policy, 'rules').find((rule) => String(rule.id) === id),
  );
  // A rule that does not reject before and after has no effect on jobs.
  const isEnforced = earlier?.mode === 'enforce' || later?.mode === 'enforce';
  if (key in RANKED && below.length === 0) return ranked(key, from, to);
  if (!isEnforced) return 'changes';
  if (key === '') return from === undefined ? 'tightens' : 'loosens';
  // A rule about more jobs is a tighter one: a condition narrows it, an entry more of the same condition widens it.
  if (key === 'match')
    return more(from, to, below[0] === 'not' || isEmpty(from) || isEmpty(to) ? 'loosens' : 'tightens');
  if (later?.kind === 'resources' && (key === 'min' || CAP_SUBJECTS.some((subject) => subject === key)))
    return amount(from, to, key === 'min' ? 'tightens' : 'loosens');
  const direction = MORE[key];
  if (direction === undefined) return 'changes';
  if (key === 'max')
    return amount(from, to, direction, later?.kind === 'timeout' ? readDurationSeconds : quantity);
  // An empty list of allowed values restricts nothing, except that of runner access: it closes the classes.
  const isNew = later?.kind !== 'runner-access' && (isEmpty(from) || isEmpty(to));
  return more(from, to, key === 'allow' && isNew ? OPPOSITE[direction] : direction);
}

type Entry = ReturnType<typeof entryOf>;

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

/** If entries came and others went, more may be matched or less: patterns are not compared by what they match. */
function more(from: unknown, to: unknown, direction: Direction): PolicyEffect {
  if (isEmpty(from)) return direction;
  if (isEmpty(to)) return OPPOSITE[direction];
  const [came, went] = [added(from, to).length > 0, added(to, from).length > 0];
  if (came === went) return 'changes';
  return came ? direction : OPPOSITE[direction];
}

function ranked(key: string, from: unknown, to: unknown): PolicyEffect {
  const [before = 0, after = 0] = [from, to].map((word) => Math.max(0, RANKED[key]?.indexOf(word) ?? 0));
  if (before === after) return 'changes';
  return after > before ? 'tightens' : 'loosens';
}

type ReadAmount = (text: string) => number | bigint | undefined;

const quantity: ReadAmount = (text) => parseQuantity(text)?.nanos;

function amount(from: unknown, to: unknown, direction: Direction, read: ReadAmount = quantity): PolicyEffect {
  if (from === undefined) return 'tightens';
  if (to === undefined) return 'loosens';
  const [before, after] = [from, to].map((value) => read(String(value)));
  if (before === undefined || after === undefined) return 'changes';
  return after > before ? direction : OPPOSITE[direction];
}

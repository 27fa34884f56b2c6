import { CONDITION_KEYS } from '../../../../policies/document/parse-match.ts';
import type { RuleKind } from '../../../../policies/kinds/kinds.ts';
import { MODES } from '../../../../policies/mode.ts';
import type { WrittenEntry } from '../written-document.ts';
import {
  conditions,
  type Direction,
  durationCap,
  entriesDirection,
  type Leaf,
  neutral,
  numberCap,
  type PolicyEffect,
  quantityCap,
  ranked,
} from './values.ts';

/** Keys every rule has. */
const OF_EVERY_RULE: Readonly<Record<string, Direction>> = {
  mode: ranked(...MODES),
  on_missing: (from, to) => (isSilent(from) && isSilent(to) ? 'neutral' : ranked('skip', 'reject')(from, to)),
  on_error: ranked('open', 'closed'),
  binds_platform: ranked(false, true),
  message: neutral,
  exempt: entriesDirection('loosens'),
};

const OF_IMAGES: Readonly<Record<string, Direction>> = {
  allow: conditions('loosens'),
  deny: entriesDirection('tightens'),
  tags: ranked(undefined, 'fixed', 'digest'),
  docker_in_docker: ranked(true, false),
};

/** Keys of one kind; what is not here is unclear. */
const OF_KIND: Readonly<Partial<Record<RuleKind, Readonly<Record<string, Direction>>>>> = {
  image: OF_IMAGES,
  services: { ...OF_IMAGES, max: numberCap },
  'pull-policy': { allow: entriesDirection('loosens'), required: ranked(false, true) },
  timeout: { max: durationCap },
  'container-user': {
    users: anyButRoot,
    groups: anyButRoot,
    executors: entriesDirection('tightens'),
    required: ranked(false, true),
  },
  'runner-access': { runner_classes: entriesDirection('tightens'), allow: entriesDirection('loosens') },
  freeze: { windows: conditions('tightens'), why: neutral },
  overwrites: { anchored: ranked(false, true), others: ranked('allow', 'deny') },
};

/** An empty list of users allows any but root. */
function anyButRoot(from: unknown, to: unknown): PolicyEffect {
  const [before, after] = [lengthOf(from), lengthOf(to)];
  if (before > 0 && after > 0) return entriesDirection('loosens')(from, to);
  return before === after ? 'neutral' : 'could loosen';
}

const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0);

const isSilent = (value: unknown): boolean => value === undefined || value === 'skip' || value === 'admit';

/**
 * Returns the effect of one changed key on the jobs that a rule is about.
 *
 * @param written - the changed rule as it is written.
 */
export function ruleEffect(kind: RuleKind, leaf: Leaf, written: WrittenEntry): PolicyEffect {
  const { path, from, to } = leaf;
  const [key = '', second = ''] = path;
  if (key === 'match') return matchEffect(path.slice(1), from, to);
  if (key in OF_EVERY_RULE)
    return second === '' ? (OF_EVERY_RULE[key]?.(from, to) ?? 'could loosen') : 'could loosen';
  const isRaised = key === 'min' && from !== undefined && to !== undefined;
  if (kind === 'resources') return isRaised ? quantityCap(to, from) : quantityCap(from, to);
  if (kind === 'variables') return variableEffect(path, from, to);
  if (key === 'compare') return compareEffect(to, written);
  const direction = OF_KIND[kind]?.[key];
  if (kind === 'overwrites' && direction === undefined) return overwriteEffect(from, to);
  return direction === undefined || second !== '' ? 'could loosen' : direction(from, to);
}

/** More spellings are as much more to deny as to allow. */
function compareEffect(to: unknown, { allow, deny }: WrittenEntry): PolicyEffect {
  const [allows, denies] = [lengthOf(allow) > 0, lengthOf(deny) > 0];
  if (allows && denies) return 'could loosen';
  const [more, less]: readonly PolicyEffect[] = denies ? ['tightens', 'loosens'] : ['loosens', 'tightens'];
  return (to === 'normalised' ? more : less) ?? 'could loosen';
}

/** Compares what may be overwritten: `false` and an empty text nothing, a pattern something, `true` anything. */
function overwriteEffect(from: unknown, to: unknown): PolicyEffect {
  const [before, after] = [freedom(from), freedom(to)];
  if (before !== after) return after > before ? 'loosens' : 'tightens';
  return before === 1 && from !== to ? 'could loosen' : 'neutral';
}

function freedom(value: unknown): number {
  if (value === false || value === '') return 0;
  return typeof value === 'string' ? 1 : 2;
}

/** `allow` and `deny` have a list per variable; a variable without one is not looked at. */
function variableEffect([key, name]: readonly string[], from: unknown, to: unknown): PolicyEffect {
  if (key === 'require') return entriesDirection('tightens')(from, to);
  if (from === undefined) return 'tightens';
  if (to === undefined) return 'loosens';
  if (name === undefined || (key !== 'allow' && key !== 'deny')) return 'could loosen';
  return entriesDirection(key === 'allow' ? 'loosens' : 'tightens')(from, to);
}

/** A rule about more jobs is a tighter one. */
function matchEffect(path: readonly string[], from: unknown, to: unknown): PolicyEffect {
  const [key] = path;
  if (key === undefined)
    return from === undefined ? 'loosens' : to === undefined ? 'tightens' : 'could loosen';
  const isNot = key === 'not';
  const [condition, variable] = isNot ? path.slice(1) : path;
  if (condition === undefined) return from === undefined ? 'loosens' : 'tightens';
  if (condition === 'variables') return variableConditionEffect(isNot, variable, from, to);
  if (!CONDITION_KEYS.includes(condition)) return 'could loosen';
  if (isNot) {
    if (from === undefined) return 'loosens';
    return to === undefined ? 'tightens' : entriesDirection('loosens')(from, to);
  }
  return conditions('tightens')(from, to);
}

/** One variable more is one condition more: the rule is about fewer jobs, or, in `not`, leaves fewer alone. */
function variableConditionEffect(
  isNot: boolean,
  name: string | undefined,
  from: unknown,
  to: unknown,
): PolicyEffect {
  const isFirst = name === undefined && isNot;
  const [fewer, more]: readonly [PolicyEffect, PolicyEffect] =
    isNot && !isFirst ? ['tightens', 'loosens'] : ['loosens', 'tightens'];
  if (from === undefined) return fewer;
  if (to === undefined) return more;
  if (typeof from === 'boolean' || typeof to === 'boolean') {
    if (from === true && Array.isArray(to)) return fewer;
    return to === true && Array.isArray(from) ? more : 'could loosen';
  }
  return entriesDirection(more)(from, to);
}

import { CONDITION_KEYS } from '../../../../policies/document/parse-match.ts';
import { MODES } from '../../../../policies/mode.ts';
import type { RuleKind } from '../../../../policies/rule.ts';
import type { Effect } from './change.ts';
import {
  allowList,
  conditions,
  type Direction,
  durationCap,
  list,
  neutral,
  numberCap,
  overwrite,
  quantityCap,
  ranked,
} from './directions.ts';
import type { Leaf } from './leaves.ts';

/** Keys every rule has. */
const OF_EVERY_RULE: Readonly<Record<string, Direction>> = {
  mode: ranked(...MODES),
  on_missing: (from, to) => (isSilent(from) && isSilent(to) ? 'neutral' : ranked('skip', 'reject')(from, to)),
  on_error: ranked('open', 'closed'),
  binds_platform: ranked(false, true),
  message: neutral,
  exempt: list('loosens'),
};

const OF_IMAGES: Readonly<Record<string, Direction>> = {
  allow: allowList,
  deny: list('tightens'),
  tags: ranked(undefined, 'fixed', 'digest'),
  docker_in_docker: ranked(true, false),
};

/** Keys of one kind; what is not here is unclear. */
const OF_KIND: Readonly<Partial<Record<RuleKind, Readonly<Record<string, Direction>>>>> = {
  image: OF_IMAGES,
  services: { ...OF_IMAGES, max: numberCap },
  'pull-policy': { allow: list('loosens'), required: ranked(false, true) },
  timeout: { max: durationCap },
  'container-user': {
    users: anyButRoot,
    groups: anyButRoot,
    executors: list('tightens'),
    required: ranked(false, true),
  },
  'runner-access': { runner_classes: list('tightens'), allow: list('loosens') },
  freeze: { windows: conditions('tightens'), why: neutral },
  overwrites: { anchored: ranked(false, true), others: ranked('allow', 'deny') },
};

/** An empty list of users allows any but root. */
function anyButRoot(from: unknown, to: unknown): Effect {
  const [before, after] = [lengthOf(from), lengthOf(to)];
  if (before > 0 && after > 0) return list('loosens')(from, to);
  return before === after ? 'neutral' : 'unclear';
}

const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0);

const isSilent = (value: unknown): boolean => value === undefined || value === 'skip' || value === 'admit';

/** What a change of a rule's key means for the jobs it is about. */
export function ruleEffect(kind: RuleKind, { path, from, to }: Leaf): Effect {
  const [key = '', second = ''] = path;
  if (key === 'match') return matchEffect(path.slice(1), from, to);
  if (kind === 'resources' && !(key in OF_EVERY_RULE)) return quantityCap(from, to);
  if (kind === 'overwrites' && !(key in OF_EVERY_RULE) && OF_KIND.overwrites?.[key] === undefined)
    return overwrite(from, to);
  const direction = OF_EVERY_RULE[key] ?? OF_KIND[kind]?.[key];
  return direction === undefined || second !== '' ? 'unclear' : direction(from, to);
}

/** A rule about more jobs is a tighter one. */
function matchEffect(path: readonly string[], from: unknown, to: unknown): Effect {
  const [key] = path;
  if (key === undefined) return from === undefined ? 'loosens' : to === undefined ? 'tightens' : 'unclear';
  const isNot = key === 'not';
  const condition = isNot ? path[1] : key;
  if (isNot && condition === undefined) return from === undefined ? 'loosens' : 'tightens';
  if (condition === undefined || !CONDITION_KEYS.includes(condition)) return 'unclear';
  if (isNot)
    return from === undefined ? 'loosens' : to === undefined ? 'tightens' : list('loosens')(from, to);
  return conditions('tightens')(from, to);
}

import type { RuleKind } from '../../../../policies/kinds/kinds.ts';
import { parseQuantity } from '../../../../policies/kubernetes/quantity.ts';
import { MODES } from '../../../../policies/mode.ts';
import {
  amountDirection,
  conditions,
  type Direction,
  durationIn,
  entriesDirection,
  type Leaf,
  neutral,
  type PolicyEffect,
  present,
  ranked,
} from './values.ts';

/** By path; `*` is any one key, and the path `*` all the others. */
type Directions = Readonly<Record<string, Direction>>;

/** A rule about more jobs is a tighter one. */
const OF_EVERY_RULE: Directions = {
  match: present('loosens'),
  'match.*': conditions('tightens'),
  'match.variables.*': present('loosens'),
  'match.not': present('loosens'),
  'match.not.*': entriesDirection('loosens'),
  mode: ranked(...MODES),
  on_missing: ranked('skip', 'reject'),
  on_error: ranked('open', 'closed'),
  binds_platform: ranked(false, true),
  message: neutral,
};

const OF_IMAGES: Directions = {
  allow: conditions('loosens'),
  deny: entriesDirection('tightens'),
  tags: ranked(undefined, 'fixed', 'digest'),
  docker_in_docker: ranked(true, false),
};

const quantityIn = (value: unknown) => parseQuantity(String(value))?.nanos;
const numberIn = (value: unknown) => (typeof value === 'number' ? value : undefined);

/** An empty list of users allows any but root. */
const anyButRoot: Direction = (from, to) => {
  const isAny = ![from, to].every((list) => Array.isArray(list) && list.length > 0);
  return isAny ? 'could loosen' : entriesDirection('loosens')(from, to);
};

/** What may be overwritten: `false` and an empty text nothing, a pattern something, `true` anything. */
const freedom: Direction = (from, to) => {
  const [before = 2, after = 2] = [from, to].map((value) => {
    if (value === false || value === '') return 0;
    return typeof value === 'string' ? 1 : 2;
  });
  if (before === after) return before === 1 ? 'could loosen' : 'neutral';
  return after > before ? 'loosens' : 'tightens';
};

/** Keys of one kind; what is not here is unclear. */
const OF_KIND: Readonly<Partial<Record<RuleKind, Directions>>> = {
  image: OF_IMAGES,
  services: { ...OF_IMAGES, max: amountDirection(numberIn, 'loosens') },
  'pull-policy': { allow: entriesDirection('loosens'), required: ranked(false, true) },
  timeout: { max: amountDirection(durationIn, 'loosens') },
  resources: {
    'min.*': amountDirection(quantityIn, 'tightens'),
    '*': amountDirection(quantityIn, 'loosens'),
  },
  'container-user': {
    users: anyButRoot,
    groups: anyButRoot,
    executors: entriesDirection('tightens'),
    required: ranked(false, true),
  },
  'runner-access': { runner_classes: entriesDirection('tightens'), allow: entriesDirection('loosens') },
  freeze: { windows: conditions('tightens'), why: neutral },
  overwrites: { anchored: ranked(false, true), others: ranked('allow', 'deny'), '*': freedom },
  variables: {
    require: entriesDirection('tightens'),
    allow: present('tightens'),
    'allow.*': conditions('loosens'),
    deny: present('tightens'),
    'deny.*': entriesDirection('tightens'),
  },
};

/** Returns the effect of one changed key on the jobs that a rule is about. */
export function ruleEffect(kind: RuleKind, { path, from, to }: Leaf): PolicyEffect {
  const all: Directions = { ...OF_EVERY_RULE, ...OF_KIND[kind] };
  const others = path[0] === 'match' ? undefined : all['*'];
  const direction = all[path.join('.')] ?? all[[...path.slice(0, -1), '*'].join('.')] ?? others;
  return direction?.(from, to) ?? 'could loosen';
}

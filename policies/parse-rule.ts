import { imageJudge } from './image-judge.ts';
import { MODES, type RuleClass } from './mode.ts';
import { isName, NAME_EXPECTED } from './name.ts';
import { readMatch, readWildcard } from './parse-match.ts';
import type { Reading } from './reading.ts';
import {
  IMAGE_FIELDS,
  type ImageRule,
  type OnError,
  type OnMissing,
  RULE_KINDS,
  type Rule,
  type RuleKind,
} from './rule.ts';

const PATTERNS_MAX = 1_000;
const MESSAGE_CHARACTERS_MAX = 500;
const BASE_KEYS = ['id', 'kind', 'class', 'match', 'mode', 'on_missing', 'on_error', 'message'];
const KEYS: Readonly<Record<RuleKind, readonly string[]>> = {
  budget: BASE_KEYS,
  concurrency: BASE_KEYS,
  image: [...BASE_KEYS, 'allow', 'deny', 'check'],
};
const CLASS: Readonly<Record<RuleKind, RuleClass>> = {
  budget: 'cost',
  concurrency: 'capacity',
  image: 'security',
};
/** Limits are for finance to edit, and nothing finance can edit may weaken a security rule. */
const CLASSES: Readonly<Record<RuleKind, readonly RuleClass[]>> = {
  budget: ['cost', 'capacity'],
  concurrency: ['cost', 'capacity'],
  image: ['cost', 'capacity', 'security'],
};
const ON_MISSING: readonly OnMissing[] = ['admit', 'reject', 'skip'];
const ON_ERROR: readonly OnError[] = ['open', 'closed'];

/** Reads one entry of `rules`. */
export function readRule(
  reading: Reading,
  order: number,
  runnerClasses: readonly string[],
): Rule | undefined {
  // Keys depend on the kind: without one, every key a rule can have is let through.
  const kind = reading.at('kind').oneOf('a kind of rule', RULE_KINDS);
  if (!reading.object(kind === undefined ? KEYS.image : KEYS[kind])) return undefined;
  const id = reading.at('id').text(NAME_EXPECTED, isName);
  const mode = reading.at('mode').oneOf('a mode', MODES);
  const match = readMatch(reading.at('match'), runnerClasses);
  const message = reading.at('message');
  const text = message.isThere
    ? message.text(`a text of at most ${MESSAGE_CHARACTERS_MAX} characters`, isMessage)
    : undefined;
  const ruleClass = readClass(reading.at('class'), kind);
  const onMissing = optional(reading.at('on_missing'), 'what an absent field means', ON_MISSING) ?? 'skip';
  const onError =
    optional(reading.at('on_error'), 'what an error means', ON_ERROR) ??
    (ruleClass === 'security' ? 'closed' : 'open');
  const images = kind === 'image' ? readImages(reading) : undefined;
  if (id === undefined || mode === undefined || kind === undefined) return undefined;
  const base = {
    id,
    class: ruleClass,
    match,
    mode,
    onMissing,
    onError,
    order,
    ...(text !== undefined && { message: text }),
  };
  if (kind !== 'image') return { ...base, kind };
  return images && { ...base, ...images, kind };
}

function readClass(reading: Reading, kind: RuleKind | undefined): RuleClass {
  const fallback = CLASS[kind ?? 'budget'];
  if (!reading.isThere || kind === undefined) return fallback;
  return reading.oneOf(`a class for kind ${kind}`, CLASSES[kind]) ?? fallback;
}

function readImages(reading: Reading): Pick<ImageRule, 'refuse' | 'check'> {
  const allow = reading.at('allow').list('image patterns', PATTERNS_MAX);
  const deny = reading.at('deny').list('image patterns', PATTERNS_MAX);
  if (allow.length + deny.length === 0) reading.refuse('has no patterns; expected allow, deny or both');
  const check = reading.at('check');
  const fields = check
    .list('image, services', IMAGE_FIELDS.length)
    .flatMap((each) => each.oneOf('what to check', IMAGE_FIELDS) ?? []);
  if (check.isThere && Array.isArray(check.value) && check.value.length === 0)
    check.expected('image, services or both');
  return {
    refuse: imageJudge(
      allow.flatMap((each) => readWildcard(each) ?? []),
      deny.flatMap((each) => readWildcard(each) ?? []),
    ),
    check: check.isThere ? fields : IMAGE_FIELDS,
  };
}

const optional = <Word extends string>(
  reading: Reading,
  what: string,
  words: readonly Word[],
): Word | undefined => (reading.isThere ? reading.oneOf(what, words) : undefined);

const isMessage = (text: string): boolean => text.trim() !== '' && text.length <= MESSAGE_CHARACTERS_MAX;

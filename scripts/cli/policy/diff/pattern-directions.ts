import { isRecord } from '../../../../policies/document/reading.ts';
import { OPPOSITE, type PolicyEffect } from './change.ts';
import { type Automaton, isIncluded } from './inclusion/automaton.ts';
import { regexAutomaton } from './inclusion/regex-automaton.ts';
import { wildcardAutomaton } from './inclusion/wildcard-automaton.ts';
import { added } from './leaves.ts';

/** Tells what it means that one list became another. */
type ListDirection = (from: unknown, to: unknown) => PolicyEffect;

/**
 * Lists of wildcards, perhaps among ids: by what they match, whatever entries came and went. A list that matches all
 * that the other did, and more, does `more`.
 */
export const patterns =
  (more: PolicyEffect): ListDirection =>
  (from, to) =>
    effectOf(covers(to, from), covers(from, to), more);

/** A list of what is allowed in which nothing at all means: everything. */
export const allowedPatterns: ListDirection = (from, to) => {
  if (isEmpty(from)) return isEmpty(to) ? 'neutral' : 'tightens';
  return isEmpty(to) ? 'loosens' : patterns('loosens')(from, to);
};

/** Conditions: what a list matches is meant, and with none at all every job is. */
export const patternConditions =
  (more: PolicyEffect): ListDirection =>
  (from, to) => {
    if (isEmpty(from)) return isEmpty(to) ? 'neutral' : OPPOSITE[more];
    return isEmpty(to) ? more : patterns(more)(from, to);
  };

/** Two expressions, each matched somewhere in the text, or with the whole of it. */
export function regexEffect(from: WrittenRegex, to: WrittenRegex): PolicyEffect {
  const [before, after] = [automatonOf(from), automatonOf(to)];
  if (before === undefined || after === undefined) return 'unclear';
  return effectOf(isIncluded(before, after), isIncluded(after, before), 'loosens');
}

interface WrittenRegex {
  readonly pattern: string;
  readonly anchored: boolean;
}

const automatonOf = ({ pattern, anchored }: WrittenRegex): Automaton | undefined =>
  regexAutomaton(anchored ? `^(?:${pattern})$` : pattern);

function effectOf(
  isLarger: boolean | undefined,
  isSmaller: boolean | undefined,
  more: PolicyEffect,
): PolicyEffect {
  if (isLarger === true) return isSmaller === true ? 'neutral' : more;
  return isSmaller === true ? OPPOSITE[more] : 'unclear';
}

/** Whether a list has all that the other has; `undefined`: a path may or may not be the group of an id. */
function covers(list: unknown, others: unknown): boolean | undefined {
  const [texts, ids] = [textsOf(list), idsOf(list)];
  const came = added(list, others);
  const cameTexts = textsOf(came);
  const known = idsOf(came).every((each) => ids.some((id) => isSame(id, each)));
  const matched = cameTexts.length === 0 ? true : coversTexts(texts, cameTexts);
  if (known && matched === true) return true;
  return ids.length > 0 && texts.length > 0 ? undefined : known ? matched : false;
}

function coversTexts(texts: readonly string[], others: readonly string[]): boolean | undefined {
  const [one, other] = [wildcardAutomaton(others), wildcardAutomaton(texts)];
  return one === undefined || other === undefined ? undefined : isIncluded(one, other);
}

/** A group by its id alone is meant with everything below it. */
function isSame(id: unknown, other: unknown): boolean {
  const [one, another] = [idOf(id), idOf(other)];
  return one.id === another.id && (one.subtree || !another.subtree);
}

const idOf = (value: unknown): { readonly id: unknown; readonly subtree: boolean } =>
  isRecord(value) ? { id: value.id, subtree: value.subtree !== false } : { id: value, subtree: true };

const entries = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const textsOf = (value: unknown): readonly string[] =>
  entries(value).filter((each) => typeof each === 'string');

const idsOf = (value: unknown): readonly unknown[] =>
  entries(value).filter((each) => typeof each !== 'string');

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || entries(value).length === 0;

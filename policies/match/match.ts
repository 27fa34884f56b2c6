import type { Reading } from '../document/reading.ts';
import { type ConditionResult, GROUP, type MatchInput } from './compare.ts';
import { type Conditions, holds, MATCH_KEYS, readConditions } from './conditions.ts';

export interface Match extends Conditions {
  readonly not?: Conditions;
}

export function readMatch(reading: Reading, runnerClasses: readonly string[]): Match {
  if (!reading.isThere || !reading.object([...MATCH_KEYS, 'not'])) return {};
  const conditions = readConditions(reading, runnerClasses);
  const not = reading.at('not');
  if (!not.isThere || !not.object(MATCH_KEYS)) return conditions;
  return { ...conditions, not: readConditions(not, runnerClasses) };
}

/**
 * `missing`: it depends on a field that GitLab did not send, or on a group the directory does not know. `unproven`: it
 * matches, but might be named by `not` if that field were known: an exemption has to be certain.
 */
type MatchResult =
  | { readonly matches: true; readonly unproven?: string }
  | { readonly matches: false }
  | { readonly matches: 'missing'; readonly field: string };

const YES: MatchResult = { matches: true };
const NO: MatchResult = { matches: false };

export function matchOf(match: Match, job: MatchInput): MatchResult {
  const held = allHold(match, job);
  if (held === false) return NO;
  const left = match.not === undefined ? false : combine(match.not, job, true);
  if (left === true) return NO;
  if (held !== true) return { matches: 'missing', field: held };
  return left === false ? YES : { matches: true, unproven: left };
}

/** Returns `groups` if that excludes the job, `not.groups` if it is excepted. */
export function failedCondition(match: Match, job: MatchInput): string | undefined {
  const named = (conditions: Conditions, wanted: boolean): string | undefined =>
    Object.keys(conditions).find(
      (name) => name !== 'not' && holds(name as keyof Conditions, conditions, job) === wanted,
    );
  const failed = named(match, false);
  if (failed !== undefined) return failed;
  const excluding = match.not === undefined ? undefined : named(match.not, true);
  return excluding === undefined ? undefined : `not.${excluding}`;
}

export const allHold = (conditions: Conditions, job: MatchInput): ConditionResult =>
  combine(conditions, job, false);

/** Returns `decisive` if a condition has that result, else the other one or a missing field. */
function combine(conditions: Conditions, job: MatchInput, decisive: boolean): ConditionResult {
  let result: ConditionResult = !decisive;
  for (const name in conditions) {
    if (name === 'not') continue;
    const held = holds(name as keyof Conditions, conditions, job);
    if (held === decisive) return held;
    if (typeof held === 'string') result = typeof result === 'string' ? placeFirst(result, held) : held;
  }
  return result;
}

/** Prefers a field that a directory could provide, so that a relay without one knows that it cannot decide. */
function placeFirst(one: string, other: string): string {
  if (one === GROUP || other === GROUP) return GROUP;
  return isPlace(other) ? other : one;
}

export const isPlace = (field: string | undefined): boolean => field === GROUP || field === 'projectPath';

export const missingFields = (conditions: Conditions, job: MatchInput): readonly string[] =>
  Object.keys(conditions)
    .filter((name) => name !== 'not')
    .map((name) => holds(name as keyof Conditions, conditions, job))
    .filter((held) => typeof held === 'string');

/** Jobs that a rule lets pass: all conditions must hold, for certain, until the time is over. */
export interface Exemption {
  readonly conditions: Conditions;
  readonly reason: string;
  readonly untilMs?: number;
  readonly ticket?: string;
}

interface ExemptionFound {
  readonly exemption?: Exemption;
  readonly unproven?: string;
}

const NONE: ExemptionFound = {};

/** Returns the first exemption that holds now. An undecided exemption does not exempt. */
export function exemptionOf(exempt: readonly Exemption[], job: MatchInput, nowMs: number): ExemptionFound {
  if (exempt.length === 0) return NONE;
  let unproven: string | undefined;
  for (const exemption of exempt) {
    if (exemption.untilMs !== undefined && nowMs >= exemption.untilMs) continue;
    const held = allHold(exemption.conditions, job);
    if (held === true) return { exemption };
    if (held !== false) unproven = unproven === undefined ? held : placeFirst(unproven, held);
  }
  return unproven === undefined ? NONE : { unproven };
}

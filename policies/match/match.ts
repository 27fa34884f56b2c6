import { type ConditionResult, GROUP, holds } from './condition.ts';
import type { Conditions, MatchInput } from './conditions.ts';

/** All conditions that are there must hold; within one, any entry. No condition: every job. */
export interface Match extends Conditions {
  /** The rule leaves a job alone that any of these conditions names. */
  readonly not?: Conditions;
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
  const left = match.not === undefined ? false : anyHolds(match.not, job);
  if (left === true) return NO;
  if (held !== true) return { matches: 'missing', field: held };
  return left === false ? YES : { matches: true, unproven: left };
}

/**
 * The condition because of which a job is left alone: `groups` if it fails, `not.groups` if it names the job.
 * `undefined` where the match holds or cannot be told.
 */
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

/** What is not known outweighs what holds, and what fails outweighs both. */
export function allHold(conditions: Conditions, job: MatchInput): ConditionResult {
  let all: string | true = true;
  for (const name in conditions) {
    if (name === 'not') continue;
    const held = holds(name as keyof Conditions, conditions, job);
    if (held === false) return false;
    if (held !== true) all = all === true ? held : placeFirst(all, held);
  }
  return all;
}

/**
 * Names a field that a directory could tell before any other that is unknown: then security rules hold all the same, and
 * the relay, which may have none, knows that it cannot tell.
 */
export function placeFirst(one: string, other: string): string {
  if (one === GROUP || other === GROUP) return GROUP;
  return isPlace(other) ? other : one;
}

/** Fields that a directory fills in. */
export const isPlace = (field: string | undefined): boolean => field === GROUP || field === 'projectPath';

/** Every field it would take to tell whether these conditions hold. */
export function missingFields(conditions: Conditions, job: MatchInput): readonly string[] {
  const fields: string[] = [];
  for (const name in conditions) {
    if (name === 'not') continue;
    const held = holds(name as keyof Conditions, conditions, job);
    if (typeof held === 'string') fields.push(held);
  }
  return fields;
}

/** One that holds is enough. */
function anyHolds(conditions: Conditions, job: MatchInput): ConditionResult {
  let any: string | false = false;
  for (const name in conditions) {
    const held = holds(name as keyof Conditions, conditions, job);
    if (held === true) return true;
    if (held !== false) any = any === false ? held : placeFirst(any, held);
  }
  return any;
}

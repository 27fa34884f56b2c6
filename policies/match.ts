import type { Placement } from './placement.ts';
import type { Wildcard } from './wildcard.ts';

/** All conditions that are there must hold; within one, any entry. No condition: every job. */
export interface Match extends Conditions {
  /** The rule leaves a job alone that any of these conditions names. */
  readonly not?: Conditions;
}

export interface Conditions {
  readonly groups?: readonly GroupCondition[];
  readonly projects?: readonly ProjectCondition[];
  readonly runnerClasses?: ReadonlySet<string>;
}

/** By id, or by wildcard on the full path of the job's own group. */
export type GroupCondition = { readonly id: number; readonly subtree: boolean } | { readonly path: Wildcard };

export type ProjectCondition = { readonly id: number } | { readonly path: Wildcard };

/**
 * `missing`: it depends on a field that GitLab did not send, or on a group the directory does not know. `unproven`: it
 * matches, but might be named by `not` if that field were known: an exemption has to be certain.
 */
export type MatchResult =
  | { readonly matches: true; readonly unproven?: string }
  | { readonly matches: false }
  | { readonly matches: 'missing'; readonly field: string };

const YES: MatchResult = { matches: true };
const NO: MatchResult = { matches: false };
const GROUP_MISSING: MatchResult = { matches: 'missing', field: 'namespaceId' };
const PROJECT_MISSING: MatchResult = { matches: 'missing', field: 'projectId' };
const PATH_MISSING: MatchResult = { matches: 'missing', field: 'projectPath' };

export function matchOf(match: Match, placement: Placement, runnerClass: string): MatchResult {
  const { groups, projects, runnerClasses, not } = match;
  if (runnerClasses !== undefined && !runnerClasses.has(runnerClass)) return NO;
  const project = projects === undefined ? YES : anyOf(projects, placement, projectHolds);
  if (project.matches === false) return NO;
  const group = groups === undefined ? YES : anyOf(groups, placement, groupHolds);
  if (group.matches === false) return NO;
  const left = not === undefined ? NO : named(not, placement, runnerClass);
  if (left.matches === true) return NO;
  // What is not known outweighs what holds.
  const result = group.matches === 'missing' ? group : project;
  return result.matches === true && left.matches === 'missing'
    ? { matches: true, unproven: left.field }
    : result;
}

/** Whether any of the conditions holds. */
function named(conditions: Conditions, placement: Placement, runnerClass: string): MatchResult {
  const { groups, projects, runnerClasses } = conditions;
  if (runnerClasses?.has(runnerClass)) return YES;
  const project = projects === undefined ? NO : anyOf(projects, placement, projectHolds);
  if (project.matches === true) return YES;
  const group = groups === undefined ? NO : anyOf(groups, placement, groupHolds);
  return group.matches === false ? project : group;
}

function anyOf<Condition>(
  conditions: readonly Condition[],
  placement: Placement,
  holds: (condition: Condition, placement: Placement) => MatchResult,
): MatchResult {
  let result = NO;
  for (const condition of conditions) {
    const held = holds(condition, placement);
    if (held.matches === true) return YES;
    if (held.matches === 'missing') result = held;
  }
  return result;
}

function groupHolds(condition: GroupCondition, placement: Placement): MatchResult {
  if ('path' in condition) {
    const path = placement.groupPath;
    if (path === undefined) return PATH_MISSING;
    return condition.path.matches(path) ? YES : NO;
  }
  const { ancestors, known } = placement;
  if (condition.subtree) {
    for (const group of ancestors) if (group.id === condition.id) return YES;
    return known ? NO : GROUP_MISSING;
  }
  if (placement.groupId === undefined) return GROUP_MISSING;
  return placement.groupId === condition.id ? YES : NO;
}

function projectHolds(condition: ProjectCondition, placement: Placement): MatchResult {
  if ('path' in condition) {
    const path = placement.projectPath;
    if (path === undefined) return PATH_MISSING;
    return condition.path.matches(path) ? YES : NO;
  }
  if (placement.projectId === undefined) return PROJECT_MISSING;
  return placement.projectId === condition.id ? YES : NO;
}

import type { Placement } from '../place/placement.ts';
import type { AdmissionRequest } from '../request/request.ts';
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
  /** The runner has one of them. */
  readonly runnerTags?: ReadonlySet<string>;
  readonly runnerIds?: ReadonlySet<number>;
  readonly users?: ReadonlySet<number>;
  readonly refs?: readonly Wildcard[];
  /** Whether the ref is protected. */
  readonly protected?: boolean;
  /** `push`, `schedule`, `merge_request_event` … */
  readonly sources?: ReadonlySet<string>;
  readonly environments?: readonly Wildcard[];
  readonly jobs?: readonly Wildcard[];
}

/** By id, or by wildcard on the full path of the job's own group. */
export type GroupCondition = { readonly id: number; readonly subtree: boolean } | { readonly path: Wildcard };

export type ProjectCondition = { readonly id: number } | { readonly path: Wildcard };

/** What conditions are compared with. */
export interface Matched {
  readonly request: AdmissionRequest;
  readonly placement: Placement;
  readonly runnerClass: { readonly name: string };
}

/**
 * `missing`: it depends on a field that GitLab did not send, or on a group the directory does not know. `unproven`: it
 * matches, but might be named by `not` if that field were known: an exemption has to be certain.
 */
export type MatchResult =
  | { readonly matches: true; readonly unproven?: string }
  | { readonly matches: false }
  | { readonly matches: 'missing'; readonly field: string };

/** Whether a condition holds, or the field it would take to tell. */
type Held = boolean | string;

const YES: MatchResult = { matches: true };
const NO: MatchResult = { matches: false };

export function matchOf(match: Match, job: Matched): MatchResult {
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
export function failedCondition(match: Match, job: Matched): string | undefined {
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
export function allHold(conditions: Conditions, job: Matched): Held {
  let all: Held = true;
  for (const name in conditions) {
    if (name === 'not') continue;
    const held = holds(name as keyof Conditions, conditions, job);
    if (held === false) return false;
    // Of several unknown fields a group that is not known goes first: security rules then hold all the same.
    if (held !== true && (all === true || held === GROUP)) all = held;
  }
  return all;
}

/** One that holds is enough. */
function anyHolds(conditions: Conditions, job: Matched): Held {
  let any: Held = false;
  for (const name in conditions) {
    const held = holds(name as keyof Conditions, conditions, job);
    if (held === true) return true;
    if (held !== false) any = held;
  }
  return any;
}

const GROUP = 'namespaceId';

function holds(name: keyof Conditions, conditions: Conditions, job: Matched): Held {
  const { request } = job;
  switch (name) {
    case 'groups':
      return anyEntry(conditions.groups, job.placement, groupHolds);
    case 'projects':
      return anyEntry(conditions.projects, job.placement, projectHolds);
    case 'runnerClasses':
      return conditions.runnerClasses?.has(job.runnerClass.name) ?? true;
    case 'runnerTags':
      return hasTag(conditions.runnerTags, request);
    case 'runnerIds':
      return isAmong(conditions.runnerIds, request.runnerId, 'runnerId');
    case 'users':
      return isAmong(conditions.users, job.placement.userId, 'userId');
    case 'refs':
      return fitsOne(conditions.refs, request.ref, 'ref');
    case 'protected':
      return request.refProtected === undefined
        ? 'refProtected'
        : request.refProtected === conditions.protected;
    case 'sources':
      return isAmong(conditions.sources, request.pipelineSource, 'pipelineSource');
    case 'environments':
      return environmentHolds(conditions.environments, request);
    case 'jobs':
      return fitsOne(conditions.jobs, request.jobName, 'jobName');
  }
}

function anyEntry<Entry>(
  entries: readonly Entry[] | undefined,
  placement: Placement,
  entryHolds: (entry: Entry, placement: Placement) => Held,
): Held {
  if (entries === undefined) return true;
  let any: Held = false;
  for (const entry of entries) {
    const held = entryHolds(entry, placement);
    if (held === true) return true;
    if (held !== false) any = held;
  }
  return any;
}

function groupHolds(condition: GroupCondition, placement: Placement): Held {
  if ('path' in condition) {
    return placement.groupPath === undefined ? 'projectPath' : condition.path.matches(placement.groupPath);
  }
  const { ancestors, known } = placement;
  if (condition.subtree) {
    for (const group of ancestors) if (group.id === condition.id) return true;
    return known ? false : GROUP;
  }
  return placement.groupId === undefined ? GROUP : placement.groupId === condition.id;
}

function projectHolds(condition: ProjectCondition, placement: Placement): Held {
  if ('path' in condition) {
    return placement.projectPath === undefined
      ? 'projectPath'
      : condition.path.matches(placement.projectPath);
  }
  return placement.projectId === undefined ? 'projectId' : placement.projectId === condition.id;
}

/** A runner that took the job has at least the job's tags; whether it has others only GitLab can say. */
function hasTag(wanted: ReadonlySet<string> | undefined, request: AdmissionRequest): Held {
  if (wanted === undefined) return true;
  const tags = request.runnerTags ?? request.jobTags ?? [];
  return tags.some((tag) => wanted.has(tag)) || (request.runnerTags === undefined ? 'runnerTags' : false);
}

function isAmong<Value>(
  wanted: ReadonlySet<Value> | undefined,
  value: Value | undefined,
  field: string,
): Held {
  if (wanted === undefined) return true;
  return value === undefined ? field : wanted.has(value);
}

function fitsOne(wanted: readonly Wildcard[] | undefined, value: string | undefined, field: string): Held {
  if (wanted === undefined) return true;
  return value === undefined ? field : wanted.some((each) => each.matches(value));
}

/** A job's environment comes as a variable: where GitLab sent variables and not this one, the job has none. */
function environmentHolds(wanted: readonly Wildcard[] | undefined, request: AdmissionRequest): Held {
  if (request.environment === undefined && request.variables !== undefined) return wanted === undefined;
  return fitsOne(wanted, request.environment, 'environment');
}

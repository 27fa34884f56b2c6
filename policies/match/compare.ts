import type { CheckedJob } from '../checked-job.ts';
import type { Placement } from '../placement.ts';
import { NO_CLASS } from '../price.ts';
import { comparedValue } from '../variables/compared-value.ts';
import type { Wildcard } from './wildcard.ts';

export type MatchInput = Omit<CheckedJob, 'nowMs'>;

/** A text names the missing field on which the result depends. */
export type ConditionResult = boolean | string;

/** The field that stands for groups the directory does not know. */
export const GROUP = 'namespaceId';

export type GroupCondition = { readonly id: number; readonly subtree: boolean } | { readonly path: Wildcard };

export type ProjectCondition = { readonly id: number } | { readonly path: Wildcard };

/** Patterns, one must match; `true`: set and not empty; `false`: not set or empty. */
export type VariableConditions = ReadonlyMap<string, readonly Wildcard[] | boolean>;

/** A job on the stand-in class matches that class and `none`, so that tags cannot take it out of a rule. */
export const isOfClass = (
  wanted: ReadonlySet<string>,
  { runnerClass, unclassed }: Pick<MatchInput, 'runnerClass' | 'unclassed'>,
): boolean => wanted.has(runnerClass.name) || (unclassed && wanted.has(NO_CLASS));

export function anyHolds<Entry>(
  entries: readonly Entry[],
  placement: Placement,
  entryHolds: (entry: Entry, placement: Placement) => ConditionResult,
): ConditionResult {
  let any: ConditionResult = false;
  for (const entry of entries) {
    const held = entryHolds(entry, placement);
    if (held === true) return true;
    if (held !== false) any = held;
  }
  return any;
}

export function groupHolds(condition: GroupCondition, placement: Placement): ConditionResult {
  if ('path' in condition) return pathFits(condition.path, placement.groupPath);
  const { ancestors, known } = placement;
  if (condition.subtree) {
    for (const group of ancestors) if (group.id === condition.id) return true;
    return known ? false : GROUP;
  }
  return placement.groupId === undefined ? GROUP : placement.groupId === condition.id;
}

export function projectHolds(condition: ProjectCondition, placement: Placement): ConditionResult {
  if ('path' in condition) return pathFits(condition.path, placement.projectPath);
  return placement.projectId === undefined ? 'projectId' : placement.projectId === condition.id;
}

const pathFits = (wanted: Wildcard, path: string | undefined): ConditionResult =>
  path === undefined ? 'projectPath' : wanted.matches(path);

/** A runner that took the job has at least the job's tags. Only GitLab knows if it has others. */
export function hasTag(wanted: ReadonlySet<string>, { request }: MatchInput): boolean | undefined {
  const tags = request.runnerTags ?? request.jobTags ?? [];
  return tags.some((tag) => wanted.has(tag)) || (request.runnerTags === undefined ? undefined : false);
}

export const isAmong = <Value>(wanted: ReadonlySet<Value>, value: Value | undefined): boolean | undefined =>
  value === undefined ? undefined : wanted.has(value);

export const fitsOne = (wanted: readonly Wildcard[], value: string | undefined): boolean | undefined =>
  value === undefined ? undefined : wanted.some((each) => each.matches(value));

export function variablesHold(conditions: VariableConditions, { request }: MatchInput): ConditionResult {
  let all: string | true = true;
  for (const [name, wanted] of conditions) {
    const compared = comparedValue(request, name);
    if (!compared.known) all = compared.field;
    else if (!valueHolds(wanted, compared.value)) return false;
  }
  return all;
}

const valueHolds = (wanted: readonly Wildcard[] | boolean, value: string | undefined): boolean =>
  typeof wanted === 'boolean' ? wanted === (value !== undefined) : fitsOne(wanted, value) === true;

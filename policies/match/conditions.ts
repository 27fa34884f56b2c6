import type { Placement } from '../placement.ts';
import { NO_CLASS } from '../price.ts';
import type { AdmissionRequest } from '../request/request.ts';
import { listText } from '../text/plain-text.ts';
import { comparedValue } from '../variables/compared-value.ts';
import type { Wildcard } from './wildcard.ts';

export interface Conditions {
  readonly groups?: readonly GroupCondition[];
  readonly projects?: readonly ProjectCondition[];
  readonly runnerClasses?: ReadonlySet<string>;
  readonly runnerTags?: ReadonlySet<string>;
  readonly runnerIds?: ReadonlySet<number>;
  readonly users?: ReadonlySet<number>;
  readonly refs?: readonly Wildcard[];
  readonly protected?: boolean;
  readonly sources?: ReadonlySet<string>;
  readonly environments?: readonly Wildcard[];
  readonly jobs?: readonly Wildcard[];
  readonly variables?: VariableConditions;
}

export const CONDITION_FIELDS: Readonly<Record<keyof Conditions, keyof AdmissionRequest>> = {
  groups: 'namespaceId',
  projects: 'projectId',
  runnerClasses: 'runnerTags',
  runnerTags: 'runnerTags',
  runnerIds: 'runnerId',
  users: 'userId',
  refs: 'ref',
  protected: 'refProtected',
  sources: 'pipelineSource',
  environments: 'environment',
  jobs: 'jobName',
  variables: 'variables',
};

/** Patterns, one must match; `true`: set and not empty; `false`: not set or empty. */
export type VariableConditions = ReadonlyMap<string, readonly Wildcard[] | boolean>;

export type GroupCondition = { readonly id: number; readonly subtree: boolean } | { readonly path: Wildcard };

export type ProjectCondition = { readonly id: number } | { readonly path: Wildcard };

export interface MatchInput {
  readonly request: AdmissionRequest;
  readonly placement: Placement;
  readonly runnerClass: { readonly name: string };
  readonly unclassed: boolean;
}

export type ConditionResult = boolean | string;

/** The field that stands for groups the directory does not know. */
export const GROUP = 'namespaceId';

type Check<Wanted> = (wanted: Wanted, job: MatchInput) => ConditionResult;

const CHECKS: { readonly [Name in keyof Conditions]-?: Check<NonNullable<Conditions[Name]>> } = {
  groups: (wanted, { placement }) => anyEntry(wanted, placement, groupHolds),
  projects: (wanted, { placement }) => anyEntry(wanted, placement, projectHolds),
  runnerClasses: (wanted, job) => isOfClass(wanted, job),
  runnerTags: (wanted, { request }) => hasTag(wanted, request),
  runnerIds: (wanted, { request }) => isAmong(wanted, request.runnerId, 'runnerId'),
  users: (wanted, { placement }) => isAmong(wanted, placement.userId, 'userId'),
  refs: (wanted, { request }) => fitsOne(wanted, request.ref, 'ref'),
  protected: (wanted, { request: { refProtected } }) =>
    refProtected === undefined ? 'refProtected' : refProtected === wanted,
  sources: (wanted, { request }) => isAmong(wanted, request.pipelineSource, 'pipelineSource'),
  // A job's environment comes as a variable: where GitLab sent variables and not this one, the job has none.
  environments: (wanted, { request: { environment, variables } }) =>
    environment === undefined && variables !== undefined
      ? false
      : fitsOne(wanted, environment, 'environment'),
  jobs: (wanted, { request }) => fitsOne(wanted, request.jobName, 'jobName'),
  variables: (wanted, { request }) => variablesHold(wanted, request),
};

export function holds(name: keyof Conditions, conditions: Conditions, job: MatchInput): ConditionResult {
  const wanted = conditions[name];
  return wanted === undefined || (CHECKS[name] as Check<unknown>)(wanted, job);
}

/** A job on the stand-in class matches that class and `none`, so that tags cannot take it out of a rule. */
export const isOfClass = (
  wanted: ReadonlySet<string>,
  { runnerClass, unclassed }: Pick<MatchInput, 'runnerClass' | 'unclassed'>,
): boolean => wanted.has(runnerClass.name) || (unclassed && wanted.has(NO_CLASS));

function anyEntry<Entry>(
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

function groupHolds(condition: GroupCondition, placement: Placement): ConditionResult {
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

function projectHolds(condition: ProjectCondition, placement: Placement): ConditionResult {
  if ('path' in condition) {
    return placement.projectPath === undefined
      ? 'projectPath'
      : condition.path.matches(placement.projectPath);
  }
  return placement.projectId === undefined ? 'projectId' : placement.projectId === condition.id;
}

/** A runner that took the job has at least the job's tags; whether it has others only GitLab can say. */
function hasTag(wanted: ReadonlySet<string>, request: AdmissionRequest): ConditionResult {
  const tags = request.runnerTags ?? request.jobTags ?? [];
  return tags.some((tag) => wanted.has(tag)) || (request.runnerTags === undefined ? 'runnerTags' : false);
}

const isAmong = <Value>(
  wanted: ReadonlySet<Value>,
  value: Value | undefined,
  field: string,
): ConditionResult => (value === undefined ? field : wanted.has(value));

const fitsOne = (wanted: readonly Wildcard[], value: string | undefined, field: string): ConditionResult =>
  value === undefined ? field : wanted.some((each) => each.matches(value));

function variablesHold(conditions: VariableConditions, request: AdmissionRequest): boolean | string {
  let all: string | true = true;
  for (const [name, wanted] of conditions) {
    const compared = comparedValue(request, name);
    if (!compared.known) all = compared.field;
    else if (!valueHolds(wanted, compared.value)) return false;
  }
  return all;
}

const valueHolds = (wanted: readonly Wildcard[] | boolean, value: string | undefined): boolean =>
  typeof wanted === 'boolean'
    ? wanted === (value !== undefined)
    : value !== undefined && wanted.some(({ matches }) => matches(value));

const patternsText = (wildcards: readonly Wildcard[]): string =>
  listText(
    wildcards.map(({ pattern }) => pattern),
    'or',
  );

/** How to meet the conditions, for people. It does not name groups, projects, users and jobs of others. */
export function needsOf(conditions: Conditions): string {
  const { groups, projects, users, refs, environments, sources, jobs } = conditions;
  const needs: string[] = [];
  if (groups !== undefined) needs.push('certain groups');
  if (projects !== undefined) needs.push('certain projects');
  if (users !== undefined) needs.push('certain users');
  if (conditions.protected !== undefined)
    needs.push(conditions.protected ? 'protected refs' : 'refs that are not protected');
  if (refs !== undefined) needs.push(`ref ${patternsText(refs)}`);
  if (environments !== undefined) needs.push(`environment ${patternsText(environments)}`);
  if (sources !== undefined) needs.push(`pipeline source ${listText([...sources], 'or')}`);
  if (jobs !== undefined) needs.push('certain jobs');
  return needs.join(' and ');
}

import type { Placement } from '../place/placement.ts';
import { NO_CLASS } from '../prices/price.ts';
import type { AdmissionRequest } from '../request/request.ts';
import { comparedValue } from '../variables/compared-value.ts';
import type {
  Conditions,
  GroupCondition,
  MatchInput,
  ProjectCondition,
  VariableConditions,
} from './conditions.ts';
import type { Wildcard } from './wildcard.ts';

/** Whether a condition holds, or the field it would take to tell. */
export type ConditionResult = boolean | string;

/** The field that stands for groups the directory does not know. */
export const GROUP = 'namespaceId';

/** Whether the condition under this key holds. */
export function holds(name: keyof Conditions, conditions: Conditions, job: MatchInput): ConditionResult {
  const { request } = job;
  switch (name) {
    case 'groups':
      return anyEntry(conditions.groups, job.placement, groupHolds);
    case 'projects':
      return anyEntry(conditions.projects, job.placement, projectHolds);
    case 'runnerClasses':
      return conditions.runnerClasses === undefined || isOfClass(conditions.runnerClasses, job);
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
    case 'variables':
      return conditions.variables === undefined || variablesHold(conditions.variables, request);
  }
}

/** What stands in for a class counts as that class, so that no tag takes a job out of a rule. */
export const isOfClass = (
  wanted: ReadonlySet<string>,
  { runnerClass, unclassed }: Pick<MatchInput, 'runnerClass' | 'unclassed'>,
): boolean => wanted.has(runnerClass.name) || (unclassed && wanted.has(NO_CLASS));

function anyEntry<Entry>(
  entries: readonly Entry[] | undefined,
  placement: Placement,
  entryHolds: (entry: Entry, placement: Placement) => ConditionResult,
): ConditionResult {
  if (entries === undefined) return true;
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
function hasTag(wanted: ReadonlySet<string> | undefined, request: AdmissionRequest): ConditionResult {
  if (wanted === undefined) return true;
  const tags = request.runnerTags ?? request.jobTags ?? [];
  return tags.some((tag) => wanted.has(tag)) || (request.runnerTags === undefined ? 'runnerTags' : false);
}

function isAmong<Value>(
  wanted: ReadonlySet<Value> | undefined,
  value: Value | undefined,
  field: string,
): ConditionResult {
  if (wanted === undefined) return true;
  return value === undefined ? field : wanted.has(value);
}

function fitsOne(
  wanted: readonly Wildcard[] | undefined,
  value: string | undefined,
  field: string,
): ConditionResult {
  if (wanted === undefined) return true;
  return value === undefined ? field : wanted.some((each) => each.matches(value));
}

/** A job's environment comes as a variable: where GitLab sent variables and not this one, the job has none. */
function environmentHolds(
  wanted: readonly Wildcard[] | undefined,
  request: AdmissionRequest,
): ConditionResult {
  if (request.environment === undefined && request.variables !== undefined) return wanted === undefined;
  return fitsOne(wanted, request.environment, 'environment');
}

/** Whether all of them hold, or the field it would take to tell. What fails outweighs what is not known. */
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

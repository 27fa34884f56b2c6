import { gitlabId, readBoolean, word } from '../document/parse-entry.ts';
import {
  PIPELINE_SOURCES,
  readGroup,
  readPath,
  readProject,
  readSet,
  readSome,
  readVariables,
} from '../document/parse-match.ts';
import { documentKey, type Reading } from '../document/reading.ts';
import { NO_CLASS } from '../price.ts';
import type { AdmissionRequest } from '../request/request.ts';
import { listText } from '../text/plain-text.ts';
import {
  anyHolds,
  type ConditionResult,
  fitsOne,
  GROUP,
  groupHolds,
  hasTag,
  isAmong,
  isOfClass,
  type MatchInput,
  projectHolds,
  variablesHold,
} from './compare.ts';
import type { Wildcard } from './wildcard.ts';

interface Condition<Wanted> {
  readonly field: keyof AdmissionRequest;
  readonly read: (reading: Reading, runnerClasses: readonly string[]) => Wanted | undefined;
  /** Returns undefined if `field` is missing. */
  readonly holds: (wanted: Wanted, job: MatchInput) => ConditionResult | undefined;
  /** Says how to meet it, for people. Does not name groups, projects, users and jobs of others. */
  readonly need?: (wanted: Wanted) => string;
}

const condition = <Wanted>(
  read: Condition<Wanted>['read'],
  row: Omit<Condition<Wanted>, 'read'>,
): Condition<Wanted> => ({ read, ...row });

/** Every condition, once. Documents have its name in small letters: `runner_classes`. */
export const CONDITIONS = {
  groups: condition(readSome('group ids, paths or {id, subtree}', readGroup), {
    field: GROUP,
    holds: (wanted, { placement }) => anyHolds(wanted, placement, groupHolds),
    need: () => 'certain groups',
  }),
  projects: condition(
    readSome('project ids or paths', (each) => readProject(each)),
    {
      field: 'projectId',
      holds: (wanted, { placement }) => anyHolds(wanted, placement, projectHolds),
      need: () => 'certain projects',
    },
  ),
  runnerClasses: condition(
    (reading, classes) =>
      readSet('runner classes', word('a runner class of prices.classes', [...classes, NO_CLASS]))(reading),
    { field: 'runnerTags', holds: isOfClass },
  ),
  runnerTags: condition(
    readSet('tags', (each) => each.text('a tag of a runner')),
    { field: 'runnerTags', holds: hasTag },
  ),
  runnerIds: condition(readSet('runner ids', gitlabId('runner')), {
    field: 'runnerId',
    holds: (wanted, { request }) => isAmong(wanted, request.runnerId),
  }),
  users: condition(readSet('user ids', gitlabId('user')), {
    field: 'userId',
    holds: (wanted, { placement }) => isAmong(wanted, placement.userId),
    need: () => 'certain users',
  }),
  protected: condition(readBoolean, {
    field: 'refProtected',
    holds: (wanted, { request: { refProtected } }) =>
      refProtected === undefined ? undefined : refProtected === wanted,
    need: (wanted) => (wanted ? 'protected refs' : 'refs that are not protected'),
  }),
  refs: condition(readSome('branches and tags', readPath), {
    field: 'ref',
    holds: (wanted, { request }) => fitsOne(wanted, request.ref),
    need: (wanted) => `ref ${patternsText(wanted)}`,
  }),
  environments: condition(readSome('environments', readPath), {
    field: 'environment',
    // A job's environment comes as a variable: where GitLab sent variables and not this one, the job has none.
    holds: (wanted, { request: { environment, variables } }) =>
      environment === undefined && variables !== undefined ? false : fitsOne(wanted, environment),
    need: (wanted) => `environment ${patternsText(wanted)}`,
  }),
  sources: condition(readSet('pipeline sources', word('a pipeline source', PIPELINE_SOURCES)), {
    field: 'pipelineSource',
    holds: (wanted, { request }) => isAmong(wanted, request.pipelineSource),
    need: (wanted) => `pipeline source ${listText([...wanted], 'or')}`,
  }),
  jobs: condition(readSome('job names', readPath), {
    field: 'jobName',
    holds: (wanted, { request }) => fitsOne(wanted, request.jobName),
    need: () => 'certain jobs',
  }),
  variables: condition(readVariables, { field: 'variables', holds: variablesHold }),
};

type Name = keyof typeof CONDITIONS;
type Row = Condition<unknown>;

export type Conditions = {
  readonly [Each in Name]?: (typeof CONDITIONS)[Each] extends Condition<infer Wanted> ? Wanted : never;
};

const NAMES = Object.keys(CONDITIONS) as readonly Name[];

/** A match may also look at variables. An exemption must not depend on what the job's author sets. */
export const MATCH_KEYS: readonly string[] = NAMES.map(documentKey);
export const CONDITION_KEYS: readonly string[] = MATCH_KEYS.filter((key) => key !== 'variables');

export function readConditions(reading: Reading, runnerClasses: readonly string[]): Conditions {
  const found: Partial<Record<Name, unknown>> = {};
  for (const name of NAMES) {
    const wanted = reading.optional(documentKey(name), (each) => CONDITIONS[name].read(each, runnerClasses));
    if (wanted !== undefined) found[name] = wanted;
  }
  return found as Conditions;
}

export function holds(name: Name, conditions: Conditions, job: MatchInput): ConditionResult {
  const wanted = conditions[name];
  const row = CONDITIONS[name] as Row;
  return wanted === undefined || (row.holds(wanted, job) ?? row.field);
}

export const needsOf = (conditions: Conditions): string =>
  NAMES.flatMap((name) => {
    const wanted = conditions[name];
    return wanted === undefined ? [] : ((CONDITIONS[name] as Row).need?.(wanted) ?? []);
  }).join(' and ');

const patternsText = (wildcards: readonly Wildcard[]): string =>
  listText(
    wildcards.map(({ pattern }) => pattern),
    'or',
  );

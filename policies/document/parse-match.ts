import type { Conditions, GroupCondition, ProjectCondition } from '../match/conditions.ts';
import type { Match } from '../match/match.ts';
import { NO_CLASS } from '../price.ts';
import { withoutAbsent } from '../without-absent.ts';
import { readVariableConditions } from './parse-variables.ts';
import { readPath, readSome } from './parse-wildcard.ts';
import { closest, isRecord, type Reading } from './reading.ts';

export const CONDITION_KEYS: readonly string[] = [
  'groups',
  'projects',
  'runner_classes',
  'runner_tags',
  'runner_ids',
  'users',
  'refs',
  'protected',
  'sources',
  'environments',
  'jobs',
];

/** A match may also look at variables; who may pass a rule must not depend on what the job's author sets. */
const MATCH_KEYS: readonly string[] = [...CONDITION_KEYS, 'variables'];

/** GitLab's words for what started a pipeline. */
export const PIPELINE_SOURCES: readonly string[] = [
  'push',
  'web',
  'trigger',
  'schedule',
  'api',
  'external',
  'pipeline',
  'chat',
  'webide',
  'merge_request_event',
  'external_pull_request_event',
  'parent_pipeline',
  'ondemand_dast_scan',
  'ondemand_dast_validation',
  'security_orchestration_policy',
  'container_registry_push',
  'duo_workflow',
];

/** Reads a rule's `match`; absent means every job. */
export function readMatch(reading: Reading, runnerClasses: readonly string[]): Match {
  if (!reading.isThere || !reading.object([...MATCH_KEYS, 'not'])) return {};
  const not = reading.at('not');
  const conditions = readConditions(reading, runnerClasses);
  if (!not.isThere || !not.object(MATCH_KEYS)) return conditions;
  return { ...conditions, not: readConditions(not, runnerClasses) };
}

/** The conditions at these keys; which other keys the object may have is the caller's business. */
export function readConditions(reading: Reading, runnerClasses: readonly string[]): Conditions {
  const groups = readSome(reading.at('groups'), 'group ids, paths or {id, subtree}', readGroup);
  const projects = readSome(reading.at('projects'), 'project ids or paths', readProject);
  const classes = readSome(reading.at('runner_classes'), 'runner classes', (each) =>
    readClass(each, runnerClasses),
  );
  const tags = readSome(reading.at('runner_tags'), 'tags', (each) => each.text('a tag of a runner'));
  const runners = readSome(reading.at('runner_ids'), 'runner ids', (each) =>
    each.integer("GitLab's id of the runner", 1),
  );
  const users = readSome(reading.at('users'), 'user ids', (each) =>
    each.integer("GitLab's id of the user", 1),
  );
  const refs = readSome(reading.at('refs'), 'branches and tags', readPath);
  const isProtected = reading.at('protected');
  const sources = readSome(reading.at('sources'), 'pipeline sources', (each) =>
    each.oneOf('a pipeline source', PIPELINE_SOURCES),
  );
  const environments = readSome(reading.at('environments'), 'environments', readPath);
  const jobs = readSome(reading.at('jobs'), 'job names', readPath);
  const variables = readVariableConditions(reading.at('variables'));
  const only = isProtected.isThere ? isProtected.boolean() : undefined;
  return withoutAbsent({
    runnerClasses: classes && new Set(classes),
    projects,
    groups,
    users: users && new Set(users),
    protected: only,
    sources: sources && new Set(sources),
    runnerIds: runners && new Set(runners),
    runnerTags: tags && new Set(tags),
    refs,
    environments,
    jobs,
    variables,
  });
}

function readGroup(reading: Reading): GroupCondition | undefined {
  if (typeof reading.value === 'string') {
    const path = readPath(reading);
    return path && { path };
  }
  if (!isRecord(reading.value)) {
    const id = reading.integer('a group id, a path or {id, subtree}', 1);
    return id === undefined ? undefined : { id, subtree: true };
  }
  reading.object(['id', 'subtree']);
  const id = reading.at('id').integer("GitLab's id of the group", 1);
  const subtree = reading.at('subtree');
  return id === undefined ? undefined : { id, subtree: subtree.isThere ? subtree.boolean() === true : true };
}

function readProject(reading: Reading): ProjectCondition | undefined {
  if (typeof reading.value !== 'string') {
    const id = reading.integer('a project id or a path', 1);
    return id === undefined ? undefined : { id };
  }
  const path = readPath(reading);
  return path && { path };
}

function readClass(reading: Reading, runnerClasses: readonly string[]): string | undefined {
  const name = reading.text(`a runner class: ${runnerClasses.join(', ')}`);
  if (name === undefined || name === NO_CLASS || runnerClasses.includes(name)) return name;
  const guess = closest(name, runnerClasses);
  const hint = guess === undefined ? runnerClasses.join(', ') : `did you mean ${guess}?`;
  return reading.expected(`a runner class of prices.classes: ${hint}`);
}

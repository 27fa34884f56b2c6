import type { Passes } from '../../../policies/variables/runner-variables.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { parseDuration } from './durations.ts';
import type { ContainerOptions, ExpandedJob, PipelineService } from './expanded-pipeline.ts';
import type { FilePlace } from './includes.ts';
import { lookUpWith } from './known-run.ts';
import { PipelineError, withSubject } from './pipeline-error.ts';
import { onlyExceptLets, type PipelineContext, possibleOutcomes } from './rules.ts';
import {
  expandKnown,
  expandVariables,
  rawNames,
  readPipelineVariables,
  runnerVariablesOf,
  type UnsetVariables,
  unsetNames,
  type Variables,
} from './variables.ts';
import { isMap, type YamlMap } from './yaml-map.ts';

export interface JobSurroundings {
  readonly context: PipelineContext;
  readonly defaults: YamlMap;
  /** Of the file and of the workflow's rules. */
  readonly variables: Variables;
  readonly raw: ReadonlySet<string>;
  readonly given: Variables;
  /** Predefined by GitLab; known for expansion, not part of the job. */
  readonly predefined: Variables;
  readonly notSet: ReadonlySet<string>;
  readonly hasWorkflowRules: boolean;
}

export type JobForms = ReturnType<typeof formsOf>[number];

const VALUES_PER_JOB = 100;

export function formsOf(name: string, entry: YamlMap, place: FilePlace | undefined, around: JobSurroundings) {
  const { context, hasWorkflowRules } = around;
  return expandParallel(name, entry.parallel, (what) => context.unread.note(name, what)).map((parallel) =>
    withSubject(name, () => {
      context.budget.spend(VALUES_PER_JOB, name);
      // A job's rules see its variables as they are written, before GitLab's own.
      const { variables } = variablesOf(entry, parallel, {}, around);
      const own = { CI_JOB_NAME: parallel.name, CI_JOB_STAGE: stageOf(entry), ...variables };
      const judged = { ...context, lookUp: lookUpWith(own, context.lookUp) };
      const { outcomes, conditions } = possibleOutcomes(entry.rules, name, judged, (within) =>
        onlyExceptLets(entry, hasWorkflowRules, name, within),
      );
      const running = outcomes.filter(({ isNever }) => !isNever);
      return {
        ...{ name: parallel.name, definedAs: name, place },
        forms: running.map(({ variables }) => readJob(name, entry, place, parallel, variables, around)),
        /** Under every condition. */
        alwaysRuns: running.length === outcomes.length,
        conditions: outcomes.length > 1 ? conditions : [],
      };
    }),
  );
}

function readJob(
  name: string,
  entry: YamlMap,
  place: FilePlace | undefined,
  parallel: ParallelJob,
  ofRules: Variables,
  around: JobSurroundings,
): ExpandedJob {
  const { context, defaults, predefined, notSet } = around;
  context.budget.spend(VALUES_PER_JOB, name);
  const stage = stageOf(entry);
  const { variables, rawVariables } = variablesOf(entry, parallel, ofRules, around);
  const raw = new Set(rawVariables);
  const known = { ...predefined, CI_JOB_NAME: parallel.name, CI_JOB_STAGE: stage, ...variables };
  const unset = new Map<keyof UnsetVariables, readonly string[]>();
  const noteUnset = (key: keyof UnsetVariables, unknown: string, so: string): void => {
    context.problems.push(`${name}: ${key} uses $${unknown}, which no file sets; ${so}`);
    // A circle of references has no value, and its names are set all the same. `$1` is the shell's own.
    if (notSet.has(unknown) || Object.hasOwn(known, unknown) || /^\d/.test(unknown)) return;
    unset.set(key, [...new Set(unset.get(key)).add(unknown)]);
  };
  const unsetTag = (unknown: string) => noteUnset('tags', unknown, "empty, unless GitLab's settings set it");
  const runner = runnerVariablesOf(known, raw);
  /** Resolved as in the runner; undecidable parts stay as written. */
  const resolve = (text: string, key: 'image' | 'services', passes: Passes): string => {
    const resolved = runner.resolve(text, passes);
    if (resolved !== undefined) return resolved;
    for (const unknown of unsetNames(text, known, raw)) noteUnset(key, unknown, 'its value is unknown');
    return text;
  };
  const value = (key: string): unknown =>
    entry[key] === undefined && inherits(entry, 'default', key) ? defaults[key] : entry[key];
  const image = nameOf(value('image'));
  // The name as in CI_ENVIRONMENT_NAME, for any `action`. Values that only a running pipeline has stay as written.
  const environment = isMap(entry.environment) ? entry.environment.name : entry.environment;
  return {
    ...{ name: parallel.name, definedAs: name, stage, ...withoutAbsent({ place }) },
    ...(image !== undefined && {
      ...withoutAbsent({ image: resolve(image, 'image', 2) || undefined }),
      ...containerOptions(value('image'), (text) => resolve(text, 'image', 1)),
    }),
    services: listOf(value('services')).flatMap((service) =>
      readService(service, (text) => resolve(text, 'services', 1)),
    ),
    tags: listOf(value('tags'))
      .map((tag) => expandVariables(String(tag), known, unsetTag, raw))
      .filter((tag) => tag !== ''),
    ...withoutAbsent({
      timeoutSeconds: readTimeout(value('timeout'), (what) => context.unread.note(name, what)),
    }),
    ...(typeof environment === 'string' &&
      environment !== '' && { environment: expandKnown(environment, known, raw) }),
    variables,
    ...(rawVariables.length > 0 && { rawVariables }),
    ...(unset.size > 0 && { unsetVariables: Object.fromEntries(unset) }),
  };
}

const stageOf = (entry: YamlMap): string => (typeof entry.stage === 'string' ? entry.stage : 'test');

/** Later ones win: those of the file, the job, its cell of the matrix, its rules, and those that were given. */
function variablesOf(
  entry: YamlMap,
  parallel: ParallelJob,
  ofRules: Variables,
  { variables, raw, given }: JobSurroundings,
) {
  const inherited = Object.entries(variables).filter(([name]) => inherits(entry, 'variables', name));
  const own = readPipelineVariables(entry.variables);
  const over = { ...parallel.variables, ...ofRules, ...given };
  const inheritedRaw = inherited
    .map(([name]) => name)
    .filter((name) => raw.has(name) && !Object.hasOwn(own, name));
  return {
    variables: { ...Object.fromEntries(inherited), ...own, ...over },
    rawVariables: [...inheritedRaw, ...rawNames(entry.variables)].filter(
      (name) => !Object.hasOwn(over, name),
    ),
  };
}

function inherits({ inherit }: YamlMap, what: 'default' | 'variables', key: string): boolean {
  const wanted = isMap(inherit) ? inherit[what] : undefined;
  return wanted !== false && (!Array.isArray(wanted) || wanted.includes(key));
}

function nameOf(value: unknown): string | undefined {
  const name = isMap(value) ? value.name : value;
  return typeof name === 'string' && name !== '' ? name : undefined;
}

function readService(value: unknown, resolve: (text: string) => string): PipelineService[] {
  const name = nameOf(value);
  if (name === undefined) return [];
  const { alias, variables }: YamlMap = isMap(value) ? value : {};
  return [
    {
      name: resolve(name) || name,
      ...(typeof alias === 'string' && { alias }),
      ...containerOptions(value, resolve),
      ...(isMap(variables) && { variables: readPipelineVariables(variables) }),
    },
  ];
}

function containerOptions(value: unknown, resolve: (text: string) => string): ContainerOptions {
  if (!isMap(value)) return {};
  const userOf = (options: unknown): string | undefined => {
    const user = isMap(options) ? options.user : undefined;
    return typeof user === 'number' || typeof user === 'string'
      ? resolve(String(user)) || undefined
      : undefined;
  };
  const pullPolicies = listOf(value.pull_policy).map(String);
  return {
    ...(pullPolicies.length > 0 && { pullPolicies }),
    ...withoutAbsent({ dockerUser: userOf(value.docker), kubernetesUser: userOf(value.kubernetes) }),
  };
}

function readTimeout(value: unknown, onUnread: (what: string) => void): number | undefined {
  if (value === undefined || value === null) return undefined;
  const seconds = typeof value === 'string' || typeof value === 'number' ? parseDuration(value) : undefined;
  if (seconds === undefined) onUnread(`the timeout ${JSON.stringify(value)} is not understood; left out`);
  return seconds;
}

const listOf = (value: unknown): readonly unknown[] => (value == null ? [] : [value].flat(2));

interface ParallelJob {
  readonly name: string;
  readonly variables: Variables;
}

const PARALLEL_MAX = 200;

/** `job` → `job 1/4` … or `job: [a, b]` …; without `parallel` the job itself. */
export function expandParallel(
  name: string,
  parallel: unknown,
  onUnread: (what: string) => void,
): readonly ParallelJob[] {
  const asOne = [{ name, variables: {} }];
  if (parallel === undefined || parallel === null) return asOne;
  const count = countOf(parallel);
  if (count > PARALLEL_MAX)
    throw new PipelineError(
      'refused',
      `parallel comes to ${count} jobs; GitLab refuses a pipeline with more than ${PARALLEL_MAX} in one job`,
      name,
    );
  if (!(count >= 1)) {
    onUnread(`parallel must be a number or a matrix of 1 to ${PARALLEL_MAX} jobs; taken as one job`);
    return asOne;
  }
  if (typeof parallel === 'number')
    return Array.from({ length: count }, (_, index) => ({
      name: `${name} ${index + 1}/${count}`,
      variables: nodeVariables(index, count),
    }));
  return matrixOf(parallel)
    .filter(isMap)
    .flatMap(cells)
    .map((row, index) => ({
      name: `${name}: [${Object.values(row).join(', ')}]`,
      variables: { ...row, ...nodeVariables(index, count) },
    }));
}

/** Number of jobs, computed before any is made; NaN for an invalid value. */
function countOf(parallel: unknown): number {
  if (typeof parallel === 'number') return Number.isInteger(parallel) ? parallel : Number.NaN;
  return matrixOf(parallel)
    .filter(isMap)
    .map((entry) => Object.values(entry).reduce<number>((cells, values) => cells * [values].flat().length, 1))
    .reduce((sum, cells) => sum + cells, 0);
}

const matrixOf = (parallel: unknown): readonly unknown[] =>
  isMap(parallel) && Array.isArray(parallel.matrix) ? parallel.matrix : [];

const nodeVariables = (index: number, total: number): Variables => ({
  CI_NODE_INDEX: String(index + 1),
  CI_NODE_TOTAL: String(total),
});

const cells = (entry: YamlMap): readonly Variables[] =>
  Object.entries(entry).reduce<readonly Variables[]>(
    (rows, [key, values]) =>
      rows.flatMap((row) => [values].flat().map((value) => ({ ...row, [key]: String(value) }))),
    [{}],
  );

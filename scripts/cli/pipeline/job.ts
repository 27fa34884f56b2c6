import type { Passes } from '../../../policies/variables/runner-variables.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { parseDuration } from './durations.ts';
import type { ContainerOptions, PipelineJob, PipelineService } from './expanded-pipeline.ts';
import { PipelineError } from './pipeline-error.ts';
import {
  expandVariables,
  rawNames,
  readPipelineVariables,
  runnerVariablesOf,
  unsetNames,
  unsetNotes,
  type Variables,
} from './variables.ts';
import { isMap, type YamlMap } from './yaml-map.ts';

export interface InheritedDefaults {
  readonly defaults: YamlMap;
  readonly variables: Variables;
  /** Names with `expand: false`. */
  readonly raw: ReadonlySet<string>;
  /** Predefined by GitLab; known for expansion, not part of the job. */
  readonly predefined: Variables;
  /** Names that the run is known not to set. */
  readonly notSet: ReadonlySet<string>;
}

export interface RuledVariables {
  readonly ofRules: Variables;
  /** Given by GitLab's settings or by who starts the pipeline. */
  readonly given: Variables;
}

export function readJob(
  name: string,
  entry: YamlMap,
  parallel: ParallelJob,
  inherited: InheritedDefaults,
  ruled: RuledVariables,
  { problems, onUnread }: { problems: string[]; onUnread: (what: string) => void },
): PipelineJob {
  const stage = stageOf(entry);
  const variables = jobVariablesOf(entry, parallel, inherited, ruled);
  const rawVariables = rawVariablesOf(entry, parallel, inherited, ruled);
  const raw = new Set(rawVariables);
  const known = { ...inherited.predefined, CI_JOB_NAME: parallel.name, CI_JOB_STAGE: stage, ...variables };
  // A circle of references has no value, and its names are set all the same.
  const unset = unsetNotes((each) => inherited.notSet.has(each) || Object.hasOwn(known, each));
  const tagOf = (text: string) =>
    expandVariables(
      text,
      known,
      (unknown) => {
        unset.note('tags', unknown);
        problems.push(
          `${name}: tags uses $${unknown}, which no file sets; empty, unless GitLab's settings set it`,
        );
      },
      raw,
    );
  const runner = runnerVariablesOf(known, raw);
  /** Resolved as in the runner; undecidable parts stay as written. */
  const resolve = (text: string, key: 'image' | 'services', passes: Passes): string => {
    const resolved = runner.resolve(text, passes);
    if (resolved !== undefined) return resolved;
    for (const unknown of unsetNames(text, known, raw)) {
      unset.note(key, unknown);
      problems.push(
        `${name}: ${key} uses $${unknown}, which no file sets; it cannot be told what it will be`,
      );
    }
    return text;
  };
  const value = (key: string) =>
    entry[key] === undefined ? inheritedDefault(entry, inherited.defaults, key) : entry[key];
  const image = nameOf(value('image'));
  const resolvedImage = image === undefined ? undefined : resolve(image, 'image', 2) || undefined;
  const timeoutSeconds = readTimeout(value('timeout'), onUnread);
  const job: PipelineJob = {
    name: parallel.name,
    stage,
    ...(resolvedImage !== undefined && { image: resolvedImage }),
    ...(image !== undefined && containerOptions(value('image'), (text) => resolve(text, 'image', 1))),
    services: listOf(value('services')).flatMap((service) =>
      readService(service, (text) => resolve(text, 'services', 1)),
    ),
    tags: listOf(value('tags'))
      .map((tag) => tagOf(String(tag)))
      .filter((tag) => tag !== ''),
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    variables,
    ...(rawVariables.length > 0 && { rawVariables }),
  };
  const unsetVariables = unset.all();
  return unsetVariables === undefined ? job : { ...job, unsetVariables };
}

export const stageOf = (entry: YamlMap): string => (typeof entry.stage === 'string' ? entry.stage : 'test');

/** Later ones win: those of the file, the job, its cell of the matrix, its rules, and those that were given. */
export function jobVariablesOf(
  entry: YamlMap,
  parallel: ParallelJob,
  inherited: InheritedDefaults,
  { ofRules, given }: RuledVariables,
): Variables {
  return {
    ...inheritedVariables(entry, inherited.variables),
    ...readPipelineVariables(entry.variables),
    ...parallel.variables,
    ...ofRules,
    ...given,
  };
}

/** Winning names with `expand: false`. Only file and job can set it. */
function rawVariablesOf(
  entry: YamlMap,
  parallel: ParallelJob,
  inherited: InheritedDefaults,
  { ofRules, given }: RuledVariables,
): readonly string[] {
  const own = readPipelineVariables(entry.variables);
  const ofFile = Object.keys(inheritedVariables(entry, inherited.variables));
  const raw = [
    ...ofFile.filter((name) => inherited.raw.has(name) && !Object.hasOwn(own, name)),
    ...rawNames(entry.variables),
  ];
  const over = [parallel.variables, ofRules, given];
  return raw.filter((name) => !over.some((variables) => Object.hasOwn(variables, name)));
}

function inheritedVariables(entry: YamlMap, variables: Variables): Variables {
  const wanted = isMap(entry.inherit) ? entry.inherit.variables : undefined;
  if (wanted === false) return {};
  if (!Array.isArray(wanted)) return variables;
  return Object.fromEntries(Object.entries(variables).filter(([key]) => wanted.includes(key)));
}

function inheritedDefault(entry: YamlMap, defaults: YamlMap, key: string): unknown {
  const wanted = isMap(entry.inherit) ? entry.inherit.default : undefined;
  if (wanted === false || (Array.isArray(wanted) && !wanted.includes(key))) return undefined;
  return defaults[key];
}

function nameOf(value: unknown): string | undefined {
  const name = isMap(value) ? value.name : value;
  return typeof name === 'string' && name !== '' ? name : undefined;
}

function readService(value: unknown, resolve: (text: string) => string): PipelineService[] {
  const name = nameOf(value);
  if (name === undefined) return [];
  const alias = isMap(value) && typeof value.alias === 'string' ? value.alias : undefined;
  const variables =
    isMap(value) && isMap(value.variables) ? readPipelineVariables(value.variables) : undefined;
  return [
    {
      name: resolve(name) || name,
      ...(alias !== undefined && { alias }),
      ...containerOptions(value, resolve),
      ...(variables !== undefined && { variables }),
    },
  ];
}

function containerOptions(value: unknown, resolve: (text: string) => string): ContainerOptions {
  if (!isMap(value)) return {};
  const pullPolicies = listOf(value.pull_policy).map(String);
  const dockerUser = userOf(value.docker, resolve);
  const kubernetesUser = userOf(value.kubernetes, resolve);
  return {
    ...(pullPolicies.length > 0 && { pullPolicies }),
    ...withoutAbsent({ dockerUser, kubernetesUser }),
  };
}

/** YAML reads `user: 1000` as a number. */
function userOf(options: unknown, resolve: (text: string) => string): string | undefined {
  const user = isMap(options) ? options.user : undefined;
  return typeof user === 'number' || (typeof user === 'string' && user !== '')
    ? resolve(String(user)) || undefined
    : undefined;
}

function readTimeout(value: unknown, onUnread: (what: string) => void): number | undefined {
  if (value === undefined || value === null) return undefined;
  const seconds = typeof value === 'string' || typeof value === 'number' ? parseDuration(value) : undefined;
  if (seconds === undefined) onUnread(`the timeout ${JSON.stringify(value)} is not understood; left out`);
  return seconds;
}

const listOf = (value: unknown): readonly unknown[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value.flat() : [value];

/** One job of `parallel`, with the name GitLab gives it and the variables that are its own. */
export interface ParallelJob {
  readonly name: string;
  readonly variables: Variables;
}

/** GitLab's limit, for a number and for a matrix alike. */
const PARALLEL_MAX = 200;

/**
 * `job` → `job 1/4` … or `job: [a, b]` …; without `parallel` the job itself.
 *
 * @param onUnread - takes what is not understood.
 * @throws {PipelineError} `refused` for more jobs than GitLab allows.
 */
export function expandParallel(
  name: string,
  parallel: unknown,
  onUnread: (what: string) => void,
): readonly ParallelJob[] {
  if (parallel === undefined || parallel === null) return [{ name, variables: {} }];
  const count = countOf(parallel);
  if (count > PARALLEL_MAX)
    throw new PipelineError(
      'refused',
      `parallel comes to ${count} jobs; GitLab refuses a pipeline with more than ${PARALLEL_MAX} in one job`,
      name,
    );
  if (!(count >= 1)) {
    onUnread(`parallel must be a number or a matrix of 1 to ${PARALLEL_MAX} jobs; taken as one job`);
    return [{ name, variables: {} }];
  }
  if (typeof parallel === 'number')
    return Array.from({ length: count }, (_, index) => ({
      name: `${name} ${index + 1}/${count}`,
      variables: nodeVariables(index, count),
    }));
  return matrixOf(parallel)
    .flatMap(cells)
    .map((row, index) => ({
      name: `${name}: [${Object.values(row).join(', ')}]`,
      variables: { ...row, ...nodeVariables(index, count) },
    }));
}

/** Number of jobs, computed before any is made; NaN for an invalid value. */
function countOf(parallel: unknown): number {
  if (typeof parallel === 'number') return Number.isInteger(parallel) ? parallel : Number.NaN;
  return matrixOf(parallel).reduce<number>(
    (sum, entry) =>
      sum + (isMap(entry) ? Object.values(entry).reduce<number>((all, each) => all * lengthOf(each), 1) : 0),
    0,
  );
}

const matrixOf = (parallel: unknown): readonly unknown[] =>
  isMap(parallel) && Array.isArray(parallel.matrix) ? parallel.matrix : [];

const lengthOf = (values: unknown): number => (Array.isArray(values) ? values.length : 1);

const nodeVariables = (index: number, total: number): Variables => ({
  CI_NODE_INDEX: String(index + 1),
  CI_NODE_TOTAL: String(total),
});

/** Every combination of one matrix entry, the last key turning fastest. */
function cells(entry: unknown): Variables[] {
  if (!isMap(entry)) return [];
  let rows: Variables[] = [{}];
  for (const [key, values] of Object.entries(entry)) {
    rows = rows.flatMap((row) => [values].flat().map((value) => ({ ...row, [key]: String(value) })));
  }
  return rows;
}

import { groupsOf } from '../../terminal/groups.ts';
import { explore, isPresent, type ReadExpression, readPattern, type World } from './conditions.ts';
import type { ReadSource } from './inputs.ts';
import { type KnownLookup, type KnownRun, knownValuesIn } from './known-run.ts';
import type { UnreadNotes, WorkBudget } from './pipeline-error.ts';
import type { RepositoryFiles } from './repository-files.ts';
import { expandKnown, readPipelineVariables, type Variables } from './variables.ts';
import { isMap, type YamlMap } from './yaml-map.ts';

export interface PipelineContext {
  readonly folder: string;
  readonly file: string;
  readonly run: KnownRun;
  readonly lookUp: KnownLookup;
  readonly world: World;
  readonly files: RepositoryFiles;
  readonly readSource: ReadSource;
  readonly expressions: ReadExpression;
  readonly problems: string[];
  readonly unread: UnreadNotes;
  readonly budget: WorkBudget;
}

export interface RulesOutcome {
  /** The first rule that matches says `never`, or none matches. */
  readonly isNever: boolean;
  readonly variables: Variables;
}

const NEVER: RulesOutcome = { isNever: true, variables: {} };

/** @param place - whose rules they are: the entry that is noted as unread if one is not understood. */
export function outcomeOf(rules: unknown, place: string, context: PipelineContext): RulesOutcome {
  if (rules === undefined || rules === null) return { isNever: false, variables: {} };
  for (const rule of flattenRules(rules)) {
    if (!isMap(rule)) {
      context.unread.note(place, `the rule ${JSON.stringify(rule)} is not a mapping; passed over`);
    } else if (ruleHolds(rule, place, context)) {
      return { isNever: rule.when === 'never', variables: readPipelineVariables(rule.variables) };
    }
  }
  return NEVER;
}

/** `!reference` puts lists of rules into lists. */
const flattenRules = (rules: unknown): readonly unknown[] => [rules].flat(Number.POSITIVE_INFINITY);

function ruleHolds(rule: YamlMap, place: string, context: PipelineContext): boolean {
  context.budget.spend(1, place);
  return (
    ifHolds(rule.if, place, context) &&
    changesHold(rule.changes, context) &&
    existsHolds(rule.exists, context)
  );
}

function ifHolds(clause: unknown, place: string, context: PipelineContext): boolean {
  if (clause === undefined || clause === null) return true;
  const text = String(clause);
  const expression = context.expressions(text);
  if (expression !== undefined) return isPresent(expression(context), context);
  context.unread.note(place, `the condition "${text}" is not understood; taken as false`);
  return false;
}

const WITH_CHANGES = new Set(['push', 'merge_request_event', 'external_pull_request_event']);

/** Which files changed is not known here, so the world decides; where GitLab does not look, it holds. */
function changesHold(changes: unknown, { run, world }: PipelineContext): boolean {
  if (changes === undefined || changes === null) return true;
  const { source, isTag = false } = run;
  const isCompared = isMap(changes) && changes.compare_to !== undefined;
  if (!isCompared && (isTag || (source !== undefined && !WITH_CHANGES.has(source)))) return true;
  return world.holds(`changes in ${pathsOf(changes).join(', ')}`);
}

function existsHolds(exists: unknown, { world, files, run, lookUp }: PipelineContext): boolean {
  if (exists === undefined || exists === null) return true;
  const paths = pathsOf(exists).map((path) => expandKnown(path, knownValuesIn(path, lookUp)));
  const condition = `exists ${paths.join(', ')}`;
  // Another project's files are not here.
  const elsewhere = isMap(exists) && exists.project !== undefined && exists.project !== run.projectPath;
  if (elsewhere) return world.holds(`${condition} in ${exists.project}`);
  const found = paths.map((path) => (path.includes('$') ? undefined : files.has(path)));
  if (found.includes(true)) return true;
  return found.includes(undefined) && world.holds(condition);
}

function pathsOf(clause: unknown): readonly string[] {
  const paths = isMap(clause) ? clause.paths : clause;
  return [paths].flat(Number.POSITIVE_INFINITY).filter((path): path is string => typeof path === 'string');
}

/** Ways looked at one by one, so that rules which exclude each other are seen to. */
const WAYS_MAX = 32;

/**
 * Returns all results of `rules:`, at least one, in their order. Rules of long lists are judged alone, which misses no result.
 *
 * @param lets - an extra condition; if it fails, the result is `never`.
 */
export function possibleOutcomes(
  rules: unknown,
  place: string,
  context: PipelineContext,
  lets: (context: PipelineContext) => boolean = () => true,
) {
  const within = (world: World): PipelineContext => ({ ...context, world });
  const ways = explore(
    (world) => (lets(within(world)) ? outcomeOf(rules, place, within(world)) : NEVER),
    WAYS_MAX,
    context.world,
  );
  const { conditions } = ways;
  if (!ways.isCut) return { outcomes: distinct(ways.outcomes.map(({ value }) => value)), conditions };
  const allConditions = new Set(conditions);
  const outcomes: RulesOutcome[] = [];
  if (may(lets).includes(false)) outcomes.push(NEVER);
  let mayEnd = true;
  for (const rule of flattenRules(rules)) {
    if (!mayEnd || !isMap(rule)) continue;
    const answers = may((within) => ruleHolds(rule, place, within));
    if (answers.includes(true))
      outcomes.push({ isNever: rule.when === 'never', variables: readPipelineVariables(rule.variables) });
    mayEnd = answers.includes(false);
  }
  if (mayEnd) outcomes.push(NEVER);
  return { outcomes: distinct(outcomes), conditions: [...allConditions] };

  function may(holds: (within: PipelineContext) => boolean): readonly boolean[] {
    const found = explore((world) => holds(within(world)), WAYS_MAX, context.world);
    for (const condition of found.conditions) allConditions.add(condition);
    return found.isCut ? [true, false] : found.outcomes.map(({ value }) => value);
  }
}

const distinct = (outcomes: readonly RulesOutcome[]): readonly RulesOutcome[] =>
  groupsOf(outcomes, ({ isNever, variables }) => isNever || JSON.stringify(variables)).map(
    ([first]) => first,
  );

/** GitLab's default for jobs without `rules`, `only` and `except`: not in merge request pipelines. */
const DEFAULT_ONLY = ['branches', 'tags'];

/**
 * All parts of `only` must match, and no part of `except`.
 *
 * @param hasWorkflowRules - then a job without `only` runs in every pipeline.
 * @see https://docs.gitlab.com/ci/yaml/deprecated_keywords/#only--except
 */
export function onlyExceptLets(
  { only, except, rules }: YamlMap,
  hasWorkflowRules: boolean,
  place: string,
  context: PipelineContext,
): boolean {
  const hasRules = rules !== undefined && rules !== null;
  const wanted = only ?? (hasRules || hasWorkflowRules ? undefined : DEFAULT_ONLY);
  return (
    (wanted === undefined || parts(wanted).every((part) => partHolds(part, place, context))) &&
    (except === undefined ||
      except === null ||
      !parts(except).some((part) => partHolds(part, place, context)))
  );
}

type Part = readonly [key: string, value: unknown];

const parts = (policy: unknown): readonly Part[] =>
  isMap(policy) ? Object.entries(policy) : [['refs', policy]];

function partHolds([key, value]: Part, place: string, context: PipelineContext): boolean {
  const entries = [value].flat(Number.POSITIVE_INFINITY) as readonly unknown[];
  switch (key) {
    case 'refs':
      return entries.some((entry) => refMatches(String(entry), context));
    case 'variables':
      return entries.some((entry) => ifHolds(entry, place, context));
    case 'changes':
      return changesHold(value, context);
    default:
      return context.world.holds(`${key}: ${entries.join(', ')}`);
  }
}

/** Names of sources as `only` writes them, where it is not the source with an `s`. */
const SOURCES: ReadonlyMap<string, string> = new Map([
  ['merge_requests', 'merge_request_event'],
  ['external_pull_requests', 'external_pull_request_event'],
  ['pushes', 'push'],
  ...['schedule', 'trigger', 'pipeline'].map((source) => [`${source}s`, source] as const),
  ...['external', 'chat', 'web', 'api'].map((source) => [source, source] as const),
]);

function refMatches(entry: string, { run, world }: PipelineContext): boolean {
  // A pattern may hold an `@`, a name of a project may not hold a `/` at its end.
  const at = entry.startsWith('/') ? entry.indexOf('@', entry.lastIndexOf('/')) : entry.indexOf('@');
  const [ref, project] = at === -1 ? [entry, undefined] : [entry.slice(0, at), entry.slice(at + 1)];
  const ask = (): boolean => world.holds(`refs: ${entry}`);
  if (project !== undefined && project !== run.projectPath) return run.projectPath === undefined && ask();
  const source = SOURCES.get(ref);
  if (source !== undefined) return run.source === undefined ? ask() : run.source === source;
  const { isTag = false } = run;
  const isMergeRequest = run.source === 'merge_request_event';
  if (ref === 'tags') return isMergeRequest ? false : run.ref === undefined ? ask() : isTag;
  if (ref === 'branches') {
    if (isMergeRequest) return false;
    // Most jobs have this default; otherwise all would be uncertain.
    return run.ref === undefined || !isTag;
  }
  if (run.ref === undefined) return ask();
  const pattern = readPattern(ref);
  return pattern === undefined ? ref === run.ref : (pattern(run.ref) ?? ask());
}

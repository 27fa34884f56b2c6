import { conditionHolds } from './condition.ts';
import type { World } from './explore.ts';
import type { ReadExpression } from './expression.ts';
import type { KnownLookup, KnownRun } from './known-run.ts';
import type { RepositoryFiles } from './repository-files.ts';
import type { UnreadNotes } from './unread.ts';
import { expandKnown, readPipelineVariables, type Variables } from './variables.ts';
import type { WorkBudget } from './work-budget.ts';
import { isMap, type YamlMap } from './yaml-map.ts';

/** Context of conditions. */
export interface Circumstances {
  readonly run: KnownRun;
  readonly lookUp: KnownLookup;
  readonly world: World;
  readonly files: RepositoryFiles;
  readonly expressions: ReadExpression;
  readonly unread: UnreadNotes;
  readonly budget: WorkBudget;
}

export interface RulesOutcome {
  /** The first rule that matches says `never`, or none matches. */
  readonly isNever: boolean;
  /** Variables of the matching rule. */
  readonly variables: Variables;
}

const NEVER: RulesOutcome = { isNever: true, variables: {} };

/**
 * The outcome of `rules:` of a job, an include or the workflow, in one world. It is never `never` if there are no
 * `rules:`.
 *
 * @param place - whose rules they are: the entry that is noted as unread if one is not understood.
 */
export function outcomeOf(rules: unknown, place: string, about: Circumstances): RulesOutcome {
  if (rules === undefined || rules === null) return { isNever: false, variables: {} };
  for (const rule of flattenedRules(rules)) {
    if (!isMap(rule)) {
      about.unread.note(place, `the rule ${JSON.stringify(rule)} is not a mapping; passed over`);
    } else if (ruleHolds(rule, place, about)) {
      return { isNever: rule.when === 'never', variables: readPipelineVariables(rule.variables) };
    }
  }
  return NEVER;
}

/** `!reference` puts lists of rules into lists. */
export const flattenedRules = (rules: unknown): readonly unknown[] =>
  Array.isArray(rules) ? rules.flat(Number.POSITIVE_INFINITY) : [rules];

/** All clauses of one rule hold. */
export function ruleHolds(rule: YamlMap, place: string, about: Circumstances): boolean {
  about.budget.spend(1, place);
  return (
    ifHolds(rule.if, place, about) && changesHold(rule.changes, about) && existsHolds(rule.exists, about)
  );
}

/** An expression as `rules:if` and `only:variables` have it; absent, it holds. */
export function ifHolds(clause: unknown, place: string, about: Circumstances): boolean {
  if (clause === undefined || clause === null) return true;
  const text = String(clause);
  const expression = about.expressions(text);
  if (expression !== undefined) return conditionHolds(expression, about.lookUp, about.world);
  about.unread.note(place, `the condition "${text}" is not understood; taken as false`);
  return false;
}

/** Sources that push commits; in other pipelines GitLab takes every path as changed. */
const WITH_CHANGES = new Set(['push', 'merge_request_event', 'external_pull_request_event']);

/** Which files changed is not known here, so the world decides; where GitLab does not look, it holds. */
export function changesHold(changes: unknown, { run, world }: Circumstances): boolean {
  if (changes === undefined || changes === null) return true;
  const { source, isTag = false } = run;
  const isCompared = isMap(changes) && changes.compare_to !== undefined;
  if (!isCompared && (isTag || (source !== undefined && !WITH_CHANGES.has(source)))) return true;
  return world.holds(changesText(changes));
}

/** Lists of paths are long, and jobs share them. */
const CHANGES_TEXTS = new WeakMap<object, string>();

function changesText(changes: unknown): string {
  const key = typeof changes === 'object' && changes !== null ? changes : { changes };
  const text = CHANGES_TEXTS.get(key) ?? `changes in ${pathsOf(changes).join(', ')}`;
  CHANGES_TEXTS.set(key, text);
  return text;
}

function existsHolds(exists: unknown, { world, files, run, lookUp }: Circumstances): boolean {
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
  return (Array.isArray(paths) ? paths.flat(Number.POSITIVE_INFINITY) : [paths])
    .filter((path) => typeof path === 'string')
    .map(String);
}

/** The values of the names in a text, as far as they are known. */
export function knownValuesIn(text: string, lookUp: KnownLookup): Variables {
  const values: Record<string, string> = {};
  for (const [, name = ''] of text.matchAll(/[$%]\{?(\w+)/g)) {
    const found = lookUp(name);
    if (typeof found === 'object' && found.value !== null) values[name] = found.value;
  }
  return values;
}

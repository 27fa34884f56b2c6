import type { JobCheck } from './job-check.ts';

/** An undecidable condition, and the jobs that depend on it. */
interface ConditionRow {
  /** Shortened, with the flag that decides it. */
  readonly text: string;
  readonly jobs: readonly string[];
}

/** Each condition once, the one that most jobs hang on first. */
export function conditionRows(checks: readonly JobCheck[]): readonly ConditionRow[] {
  const jobs = new Map<string, Set<string>>();
  for (const { job } of checks) {
    for (const condition of job.dependsOn ?? [])
      jobs.set(condition, (jobs.get(condition) ?? new Set()).add(job.definedAs));
  }
  return [...jobs]
    .map(([condition, names]) => ({ text: jobConditionText(condition), jobs: [...names] }))
    .sort((one, other) => other.jobs.length - one.jobs.length);
}

const PATHS_SHOWN = 3;
const CONDITIONS_SHOWN = 3;
const CHARACTERS_SHOWN = 100;

/** `$DEPLOY == "yes" (--variable DEPLOY=…)`; a long list of paths by its first. */
function jobConditionText(condition: string): string {
  const [, kind, list] = /^(changes in|exists) (.*)$/s.exec(condition) ?? [];
  if (kind !== undefined && list !== undefined) return `${kind} ${shortList(list.split(', '))}`;
  const shown =
    condition.length > CHARACTERS_SHOWN ? `${condition.slice(0, CHARACTERS_SHOWN - 1)}…` : condition;
  const flags = [...new Set([...condition.matchAll(/\$(\w+)/g)].map(([, name = '']) => flagOf(name)))];
  if (condition.startsWith('refs: ')) flags.push('--ref, --source');
  return flags.length === 0 ? shown : `${shown} (${flags.join(', ')})`;
}

/** Joins conditions in one sentence; a long list is cut. */
export function conditionsText(conditions: readonly string[]): string {
  const rest = conditions.length - CONDITIONS_SHOWN;
  const shown = conditions.slice(0, CONDITIONS_SHOWN).map(jobConditionText).join('; ');
  return rest <= 0 ? shown : `${shown}; and ${rest} more`;
}

function shortList(paths: readonly string[]): string {
  const rest = paths.length - PATHS_SHOWN;
  return rest <= 0 ? paths.join(', ') : `${paths.slice(0, PATHS_SHOWN).join(', ')} and ${rest} more`;
}

/** The flag that sets a variable. */
function flagOf(name: string): string {
  if (name === 'CI_PIPELINE_SOURCE') return '--source';
  if (/^CI_COMMIT_(?:BRANCH|TAG|REF_NAME|REF_SLUG)$/.test(name)) return '--ref';
  if (name === 'CI_COMMIT_REF_PROTECTED') return '--protected or --unprotected';
  if (/^CI_PROJECT_(?:ID|PATH|NAME|NAMESPACE|ROOT_NAMESPACE)$/.test(name)) return '--project';
  return `--variable ${name}=…`;
}

import { compileRegex } from '../../../policies/match/regex.ts';
import { type Circumstances, changesHold, ifHolds } from './rules.ts';
import { isMap, type YamlMap } from './yaml-map.ts';

/** GitLab's default for jobs without `rules`, `only` and `except`: not in merge request pipelines. */
const DEFAULT_ONLY = ['branches', 'tags'];

/**
 * Returns true if `only:` and `except:` let a job run. All parts of `only` must match, and no part of
 * `except`.
 *
 * @param hasWorkflowRules - then a job without `only` runs in every pipeline.
 * @see https://docs.gitlab.com/ci/yaml/deprecated_keywords/#only--except
 */
export function onlyExceptLets(
  { only, except, rules }: YamlMap,
  hasWorkflowRules: boolean,
  place: string,
  about: Circumstances,
): boolean {
  const hasRules = rules !== undefined && rules !== null;
  const wanted = only ?? (hasRules || hasWorkflowRules ? undefined : DEFAULT_ONLY);
  return (
    (wanted === undefined || parts(wanted).every((part) => partHolds(part, place, about))) &&
    (except === undefined || except === null || !parts(except).some((part) => partHolds(part, place, about)))
  );
}

type Part = readonly [key: string, value: unknown];

const parts = (policy: unknown): readonly Part[] =>
  isMap(policy) ? Object.entries(policy) : [['refs', policy]];

function partHolds([key, value]: Part, place: string, about: Circumstances): boolean {
  const entries = [value].flat(Number.POSITIVE_INFINITY) as readonly unknown[];
  switch (key) {
    case 'refs':
      return entries.some((entry) => refMatches(String(entry), about));
    case 'variables':
      return entries.some((entry) => ifHolds(entry, place, about));
    case 'changes':
      return changesHold(value, about);
    default:
      return about.world.holds(`${key}: ${entries.join(', ')}`);
  }
}

/** Names of sources as `only` writes them, where it is not the source with an `s`. */
const SOURCES: ReadonlyMap<string, string> = new Map([
  ['merge_requests', 'merge_request_event'],
  ['external_pull_requests', 'external_pull_request_event'],
  ['pushes', 'push'],
  ['schedules', 'schedule'],
  ['triggers', 'trigger'],
  ['pipelines', 'pipeline'],
  ['external', 'external'],
  ['chat', 'chat'],
  ['web', 'web'],
  ['api', 'api'],
]);

function refMatches(entry: string, { run, world }: Circumstances): boolean {
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
  return run.ref === undefined ? ask() : nameMatches(ref, run.ref, ask);
}

function nameMatches(pattern: string, ref: string, ask: () => boolean): boolean {
  const [, regex, flags] = /^\/(.+)\/([ismU]*)$/.exec(pattern) ?? [];
  if (regex === undefined) return pattern === ref;
  const plain = regex.replaceAll('\\/', '/');
  const compiled = compileRegex(flags === '' ? plain : `(?${flags})${plain}`);
  return compiled.ok ? compiled.regex.matches(ref) : ask();
}

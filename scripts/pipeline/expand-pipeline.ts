/**
 * Expands a `.gitlab-ci.yml` into the jobs a router would ask about, offline. Enough of GitLab's rules to make real
 * pipelines real input: local includes, `extends`, `default`, `!reference`, variables, `parallel`, durations.
 *
 * Not evaluated: `rules`, `only`, `except`, `when`. Every job of the file is kept, as if its conditions held.
 */
import { statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { environmentOf } from './environment.ts';
import type { ExpandedJob } from './expanded-job.ts';
import { resolveExtends } from './extends.ts';
import { loadConfig } from './includes.ts';
import { type Inherited, readJob } from './job.ts';
import { resolveReferences } from './references.ts';
import { readVariables, type Variables } from './variables.ts';
import { isMap, type YamlMap } from './yaml-source.ts';

export interface ExpandedPipeline {
  /** In the order of the stages, and within a stage in that of the files. */
  readonly jobs: readonly ExpandedJob[];
  /** Jobs that start another pipeline: GitLab runs them itself, no runner and no router sees them. */
  readonly bridges: readonly string[];
  /** Includes that need the network, or are for another project. */
  readonly notFetched: readonly string[];
  /** What was not understood or is missing, each with the place. */
  readonly problems: readonly string[];
}

const FILE = '.gitlab-ci.yml';

/** Top-level keys that are not jobs. */
const KEYWORDS: ReadonlySet<string> = new Set([
  'after_script',
  'before_script',
  'cache',
  'default',
  'image',
  'include',
  'services',
  'spec',
  'stages',
  'types',
  'variables',
  'workflow',
]);

/** Keys that may still stand at the top of a file, where GitLab once looked for defaults. */
const OLD_DEFAULTS = ['image', 'services'];

/** What GitLab would set and files like to build names from. */
const PREDEFINED: Variables = {
  CI_REGISTRY: 'registry.example.com',
  CI_REGISTRY_IMAGE: 'registry.example.com/acme/project',
  CI_DEPENDENCY_PROXY_GROUP_IMAGE_PREFIX: 'gitlab.example.com/acme/dependency_proxy/containers',
  CI_TEMPLATE_REGISTRY_HOST: 'registry.gitlab.com',
  CI_SERVER_HOST: 'gitlab.example.com',
  CI_SERVER_FQDN: 'gitlab.example.com',
  CI_DEFAULT_BRANCH: 'main',
  CI_COMMIT_BRANCH: 'main',
  CI_COMMIT_REF_NAME: 'main',
  CI_COMMIT_REF_SLUG: 'main',
  CI_COMMIT_SHA: '0123456789abcdef0123456789abcdef01234567',
  CI_COMMIT_SHORT_SHA: '01234567',
};

/**
 * @param path - a folder with a `.gitlab-ci.yml`, or such a file; includes are looked up from its folder.
 * @param predefined - GitLab's own variables, over the built-in ones.
 */
export function expandPipeline(path: string, predefined: Variables = {}): ExpandedPipeline {
  const isFolder = statSync(path).isDirectory();
  const loaded = loadConfig(isFolder ? path : dirname(path), isFolder ? FILE : basename(path));
  const problems = [...loaded.problems];
  const config = resolveReferences(resolveExtends(loaded.config, problems), problems);
  const inherited: Inherited = {
    defaults: { ...pick(config, OLD_DEFAULTS), ...(isMap(config.default) && config.default) },
    variables: readVariables(config.variables),
    predefined: { ...PREDEFINED, ...predefined },
  };
  const jobs: ExpandedJob[] = [];
  const bridges: string[] = [];
  for (const [name, entry] of Object.entries(config)) {
    if (name.startsWith('.') || KEYWORDS.has(name)) continue;
    if (!isMap(entry)) problems.push(`${name}: must be a mapping`);
    else if (entry.trigger !== undefined) bridges.push(name);
    else if (entry.script !== undefined || entry.run !== undefined) jobs.push(...expandJob(name, entry));
    else problems.push(`${name}: has no script; the include that defines it was probably not fetched`);
  }
  return {
    jobs: inStageOrder(jobs, config, problems),
    bridges,
    notFetched: loaded.notFetched,
    problems: [...new Set(problems)],
  };

  function expandJob(name: string, entry: YamlMap): readonly ExpandedJob[] {
    const place = loaded.places.get(name);
    return readJob(name, entry, inherited, problems).map((job) => {
      const environment = environmentOf(job, entry, inherited.predefined);
      return {
        ...job,
        definedAs: name,
        ...(place !== undefined && { place }),
        ...(environment !== undefined && { environment }),
      };
    });
  }
}

const DEFAULT_STAGES = ['build', 'test', 'deploy'];

function inStageOrder(jobs: readonly ExpandedJob[], config: YamlMap, problems: string[]): ExpandedJob[] {
  const written = Array.isArray(config.stages) ? config.stages.flat().map(String) : DEFAULT_STAGES;
  const stages = ['.pre', ...written.filter((stage) => stage !== '.pre' && stage !== '.post'), '.post'];
  for (const job of jobs) {
    if (!stages.includes(job.stage))
      problems.push(`${job.name}: stage ${job.stage} is not among the stages; put last`);
  }
  const place = (job: ExpandedJob) =>
    stages.includes(job.stage) ? stages.indexOf(job.stage) : stages.length;
  return [...jobs].sort((one, other) => place(one) - place(other));
}

const pick = (config: YamlMap, keys: readonly string[]): YamlMap =>
  Object.fromEntries(keys.flatMap((key) => (config[key] === undefined ? [] : [[key, config[key]]])));

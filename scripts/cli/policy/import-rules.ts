/** Converts the settings by which a Runner bounds its jobs to rules that do the same. */

import { getStaticTOMLValue, ParseError, parseTOML } from 'toml-eslint-parser';
import { z } from 'zod';
import { Reading } from '../../../policies/document/reading.ts';
import { isKnownImage } from '../../../policies/images/image-judge.ts';
import { readCaps } from '../../../policies/kubernetes/resource-caps.ts';
import { OVERWRITE_NAMES } from '../../../policies/kubernetes/resource-variables.ts';
import { compileRegex } from '../../../policies/match/regex.ts';
import { compileWildcard } from '../../../policies/match/wildcard.ts';
import { DocumentError } from '../../terminal/command.ts';

type Kind = 'image' | 'services' | 'pull-policy' | 'container-user' | 'overwrites' | 'resources';

/** A rule as it will be written, in the order of its keys. */
export interface ImportedRule extends Checks {
  readonly kind: Kind;
  readonly onMissing: 'admit' | 'skip';
}

/** Settings of a kind, `allow`, `max`, `users` …, and the settings of the Runner that they are made of; none: no rule. */
interface Checks {
  readonly checks: Readonly<Record<string, unknown>>;
  readonly from: readonly string[];
}

const NONE: Checks = { checks: {}, from: [] };

type Kubernetes = RunnerSection['kubernetes'];

type Warn = (text: string) => void;

const DOCKER = /^docker(?:-windows|-autoscaler|\+machine)?$/;

/** @param warn - takes what no rule can express. */
export function rulesOfRunner(section: RunnerSection, warn: Warn): readonly ImportedRule[] {
  return Object.entries(readChecks(section, warn))
    .filter(([, { from }]) => from.length > 0)
    .map(([name, checks]) => {
      const kind = name as Kind;
      const onMissing = kind === 'pull-policy' || kind === 'container-user' ? 'skip' : 'admit';
      return { kind, onMissing, ...checks };
    });
}

function readChecks({ executor, docker, kubernetes }: RunnerSection, warn: Warn): { [K in Kind]?: Checks } {
  if (DOCKER.test(executor))
    return {
      // A job without an image gets the Runner's own, which always passes.
      image: allowList('allowed_images', docker.allowed_images, [docker.image], warn),
      services: dockerServices(docker, warn),
      'pull-policy': pullPolicies(docker, docker.pull_policy ?? ['always'], warn),
      'container-user': dockerUsers(docker, warn),
    };
  if (executor === 'kubernetes') {
    const own = [kubernetes.image, kubernetes.helper_image];
    return {
      image: allowList('allowed_images', kubernetes.allowed_images, own, warn),
      services: allowList('allowed_services', kubernetes.allowed_services, own, warn),
      'pull-policy': pullPolicies(kubernetes, kubernetes.pull_policy ?? [], warn),
      'container-user': kubernetesUsers(kubernetes),
      overwrites: overwrites(kubernetes, warn),
      resources: resources(kubernetes, warn),
    };
  }
  warn(`executor ${JSON.stringify(executor)} runs no containers, so no rule is made of it`);
  return {};
}

/** A class that excludes every character: a list whose patterns match nothing refuses everything. */
const NOTHING = '[^\u0000-\u{10ffff}]';

/**
 * Converts a list of the Runner to `allow`. Its patterns stay unchanged, because rules read them alike.
 *
 * @param own - images of the Runner's own configuration, which also pass; they are matched literally.
 */
function allowList(
  setting: string,
  patterns: readonly string[] | undefined,
  own: readonly (string | undefined)[],
  warn: Warn,
): Checks {
  if (patterns === undefined) return NONE;
  const usable = patterns.filter((pattern) => {
    const isPattern = pattern !== '' && isKnownImage(pattern) && compileWildcard(pattern).ok;
    if (!isPattern) warn(`${setting}: ${JSON.stringify(pattern)} is not a pattern of a rule; it is left out`);
    return isPattern;
  });
  const literal = own.flatMap((image = '') => {
    if (image !== '' && !isKnownImage(image))
      warn(`${setting}: the Runner's own image ${JSON.stringify(image)} has variables; add what it becomes`);
    return isKnownImage(image) && image !== '' ? image.replace(/[*?[\]{}\\]/g, String.raw`\$&`) : [];
  });
  const allow = [...new Set([...usable, ...literal])];
  return { checks: { allow: allow.length === 0 ? [NOTHING] : allow }, from: [setting] };
}

function dockerServices(
  { services, allowed_services, services_limit }: RunnerSection['docker'],
  warn: Warn,
): Checks {
  const own = services.map(({ name }) => name);
  const { checks, from } = allowList('allowed_services', allowed_services, own, warn);
  if (services_limit === undefined || services_limit < 0) return { checks, from };
  // The Runner counts its own services with the job's.
  const max = Math.min(100, Math.max(0, services_limit - own.length));
  return { checks: { ...checks, max }, from: [...from, 'services_limit'] };
}

const PULL_POLICIES: readonly string[] = ['always', 'if-not-present', 'never'];

/** The Runner takes the job's policy, or else its own, if that is allowed; otherwise the job fails. */
function pullPolicies(
  section: Pick<Kubernetes, 'allowed_pull_policies' | 'pull_policy'>,
  own: readonly string[],
  warn: Warn,
): Checks {
  const { allowed_pull_policies: listed } = section;
  const allow = [...new Set(listed ?? own)];
  if (allow.length === 0 || ![...allow, ...own].every((each) => PULL_POLICIES.includes(each))) {
    warn('pull_policy is not set or has an unknown word, so no rule is made of pull policies');
    return NONE;
  }
  // A container without one gets the Runner's own, which may not be in the list.
  const required = !allow.some((each) => own.includes(each));
  const from = [listed === undefined ? 'pull_policy' : 'allowed_pull_policies'];
  return { checks: { allow, required }, from };
}

/** No container can be asked to run as this name. */
const NO_USER = 'nobody-at-all';

function dockerUsers({ user, allowed_users }: RunnerSection['docker'], warn: Warn): Checks {
  const entries = allowed_users?.filter((each) => each !== '') ?? [];
  if (user !== undefined && user !== '') warn('user is set: every job runs as that user, so no rule is made');
  if (entries.length === 0 || (user !== undefined && user !== '')) return NONE;
  const parts = entries.map((each) => each.split(':'));
  const groups = new Set(parts.flatMap(([, group = '']) => (group === '' ? [] : [group])));
  const users = new Set(parts.flatMap(([name = '']) => (name === '' || name.includes('$') ? [] : [name])));
  warn('allowed_users: the rule reads user and group apart, so it also takes other pairs');
  return userChecks('docker', users.size === 0 ? [NO_USER] : [...users], [...groups], ['allowed_users']);
}

/** The Runner skips entries that are not numbers. Without lists it allows any user but root, as the rule does. */
function kubernetesUsers({ allowed_users: users, allowed_groups: groups }: Kubernetes): Checks {
  const ids = (texts: readonly string[] | undefined): readonly string[] => {
    const numbers = texts?.filter((each) => /^[+-]?\d+$/.test(each)) ?? [];
    return texts !== undefined && numbers.length === 0 ? [NO_USER] : numbers;
  };
  const from = [...(users ? ['allowed_users'] : []), ...(groups ? ['allowed_groups'] : [])];
  return userChecks('kubernetes', ids(users), ids(groups), from.length === 0 ? ['no allowed_users'] : from);
}

const userChecks = (
  executor: string,
  users: readonly string[],
  groups: readonly string[],
  from: readonly string[],
): Checks => ({ checks: { executors: [executor], users, groups, required: false }, from });

const textAt = (kubernetes: Kubernetes, setting: string): string | undefined => {
  const value = kubernetes[setting];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** The Runner ignores disallowed overwrites: the job runs with its own value, so no rule refuses it. */
function overwrites(kubernetes: Kubernetes, warn: Warn): Checks {
  const allowed = OVERWRITE_NAMES.flatMap((name) => {
    const setting = `${name}_overwrite_allowed`;
    const pattern = textAt(kubernetes, setting);
    if (name === 'bearer_token' || pattern === undefined) return [];
    const compiled = compileRegex(pattern);
    if (compiled.ok) return [{ name, setting, pattern }];
    warn(`${setting} ${compiled.problem}; no rule is made of it`);
    return [];
  });
  const checks = Object.fromEntries(allowed.map(({ name, pattern }) => [name, pattern]));
  return { checks, from: allowed.map(({ setting }) => setting) };
}

const SUBJECTS = { '': 'build', helper_: 'helper', service_: 'service', pod_: 'pod' } as const;
const AMOUNTS =
  'cpu_request cpu_limit memory_request memory_limit ephemeral_storage_request ephemeral_storage_limit'.split(
    ' ',
  );

function resources(kubernetes: Kubernetes, warn: Warn): Checks {
  const checks: Record<string, Record<string, string>> = {};
  const from: string[] = [];
  for (const [prefix, subject] of Object.entries(SUBJECTS))
    for (const key of AMOUNTS) {
      const setting = `${prefix}${key}_overwrite_max_allowed`;
      const max = textAt(kubernetes, setting);
      if (max === undefined) continue;
      const reading = Reading.of({ [subject]: { [key]: max } });
      readCaps(reading);
      if (reading.problems.length > 0) warn(`${setting} is not an amount of a rule; no rule is made of it`);
      else {
        checks[subject] = { ...checks[subject], [key]: max };
        from.push(setting);
      }
    }
  return { checks, from };
}

/** The Runner takes a single text for a list of one, and an empty list for none. */
const list = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => [value].flat())
  .transform((texts) => (texts.length === 0 ? undefined : texts))
  .optional();

const container = {
  image: z.string().optional(),
  allowed_images: list,
  allowed_services: list,
  allowed_pull_policies: list,
  pull_policy: list,
  allowed_users: list,
};

const runner = z.object({
  name: z.string().default(''),
  /** GitLab's id of the runner; absent or 0 for runners that were registered with an old version. */
  id: z
    .int()
    .nonnegative()
    .transform((id) => id || undefined)
    .optional(),
  executor: z.string().default(''),
  docker: z
    .object({
      ...container,
      user: z.string().optional(),
      services_limit: z.int().optional(),
      services: z.array(z.object({ name: z.string() })).default([]),
    })
    .prefault({}),
  /** All keys, because each overwrite has several of its own. */
  kubernetes: z
    .looseObject({ ...container, helper_image: z.string().optional(), allowed_groups: list })
    .prefault({}),
});

export type RunnerSection = z.infer<typeof runner>;

const config = z.object({ runners: z.array(runner).min(1) });

/** @throws {DocumentError} with the place; nothing of the file is quoted, because it holds tokens. */
export function readRunnerConfig(text: string, file: string): readonly RunnerSection[] {
  const parsed = config.safeParse(tomlValue(text, file));
  if (parsed.success) return parsed.data.runners;
  throw new DocumentError(
    parsed.error.issues.map(({ path, message }) =>
      path.length < 2
        ? `${file}: has no [[runners]]; is it a GitLab Runner's config.toml?`
        : `${file}: ${path.join('.')}: ${message}`,
    ),
  );
}

function tomlValue(text: string, file: string): unknown {
  try {
    return getStaticTOMLValue(parseTOML(text));
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw new DocumentError([`${file}:${error.lineNumber}:${error.column + 1} is no TOML from here on`]);
  }
}

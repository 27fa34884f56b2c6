import { Reading } from '../../../policies/document/reading.ts';
import { isKnownImage } from '../../../policies/images/image-judge.ts';
import { parseQuantity } from '../../../policies/kubernetes/quantity.ts';
import { readCaps, readOverwrites } from '../../../policies/kubernetes/resource-caps.ts';
import { OVERWRITE_NAMES } from '../../../policies/kubernetes/resource-variables.ts';
import { compileRegex } from '../../../policies/match/regex.ts';
import { compileWildcard } from '../../../policies/match/wildcard.ts';
import { type ConfigSetting, type RunnerSection, textOf, textsOf } from './runner-config.ts';
import { runnerOnly } from './runner-only.ts';

/** A rule as it will be written, in the order of its keys. */
export interface ImportedRule {
  readonly id: string;
  readonly kind: 'image' | 'services' | 'pull-policy' | 'container-user' | 'overwrites' | 'resources';
  readonly onMissing: 'admit' | 'skip';
  /** Settings of the kind: `allow`, `max`, `users`, `build` … */
  readonly checks: Readonly<Record<string, unknown>>;
  /** Settings it was made of. */
  readonly from: readonly RuleSource[];
}

/** A setting of the Runner that a part of a rule was made of. */
export interface RuleSource {
  /** `allowed_images`. */
  readonly setting: string;
  readonly line: number;
  /** The check it became: `allow`, `build.cpu_limit`. */
  readonly check: string;
}

/** Stable, for scripts. */
export type NoteCode =
  /** The Runner allows it, and no rule can refuse it. */
  | 'no_rule'
  /** The Runner decides it, and no rule sees it. */
  | 'not_seen'
  /** The Runner restricts nothing here, so there is no rule. */
  | 'unrestricted'
  /** The rule refuses something the Runner takes. */
  | 'rule_stricter'
  /** The rule takes something the Runner refuses. */
  | 'rule_looser'
  /** The setting does not do what it looks like. */
  | 'no_effect'
  /** Which runner it is about is not in the file. */
  | 'runner_not_told'
  /** The policy admits jobs that the Runner then fails. */
  | 'policy_admits'
  /** The policy refuses what the Runner takes. */
  | 'policy_refuses';

export interface ImportNote {
  readonly code: NoteCode;
  /** The line of the config.toml. */
  readonly line: number;
  readonly text: string;
}

/** Result for one `[[runners]]`. */
export interface ImportedRunner {
  readonly name: string;
  readonly line: number;
  readonly executor: string;
  readonly runnerId?: number;
  readonly rules: readonly ImportedRule[];
  readonly class: ImportedClass;
  readonly notes: readonly ImportNote[];
}

/** Keys of a runner class in policy.yaml that the file knows: the size of the build, and what jobs may overwrite. */
export interface ImportedClass {
  readonly cpu?: string;
  readonly memory?: string;
  readonly overwrites: 'none' | Readonly<Record<string, string>>;
}

/** Result for one part of a runner's configuration. */
export interface ImportedPart {
  readonly rule?: Omit<ImportedRule, 'id'>;
  readonly notes?: readonly ImportNote[];
}

/** Section with a runner's container settings. */
export type ContainerSection = 'docker' | 'kubernetes';

export const unrestricted = ({ line }: RunnerSection, setting: string, what: string): ImportNote => ({
  code: 'unrestricted',
  line,
  text: `no ${setting}: the Runner takes ${what}`,
});

/** Sections with container settings, by executor. */
const PARTS: ReadonlyMap<string, ContainerSection> = new Map([
  ['docker', 'docker'],
  ['docker-windows', 'docker'],
  ['docker+machine', 'docker'],
  ['docker-autoscaler', 'docker'],
  ['kubernetes', 'kubernetes'],
]);

/**
 * Converts a runner to rules, and lists settings without a rule.
 *
 * @param runnerId - if the file has none.
 * @param isShared - other sections of the file are the same runner in GitLab.
 */
export function importRunner(
  section: RunnerSection,
  runnerId = section.id,
  isShared = false,
): ImportedRunner {
  const { name, line, executor } = section;
  const part = PARTS.get(executor);
  const parts: readonly ImportedPart[] =
    part === undefined
      ? [importVmImages(section)]
      : part === 'docker'
        ? [
            importImages(section, part),
            importServices(section, part),
            importPullPolicies(section, part),
            importDockerUsers(section),
          ]
        : [
            importImages(section, part),
            importServices(section, part),
            importPullPolicies(section, part),
            importKubernetesUsers(section),
            importOverwrites(section),
            importResources(section),
          ];
  const base = ['runner', runnerId, runnerId === undefined || isShared ? `line-${line}` : undefined]
    .filter((each) => each !== undefined)
    .join('-');
  return {
    name,
    line,
    executor,
    ...(runnerId !== undefined && { runnerId }),
    rules: parts.flatMap(({ rule }) => (rule === undefined ? [] : { id: `${base}-${rule.kind}`, ...rule })),
    class: importClass(section),
    notes: [
      ...(runnerId === undefined ? [notTold(section)] : []),
      ...(isShared ? [twice(section)] : []),
      ...parts.flatMap(({ notes = [] }) => notes),
      ...runnerOnly(section, part),
    ],
  };
}

const notTold = ({ line }: RunnerSection): ImportNote => ({
  code: 'runner_not_told',
  line,
  text: 'has no id, so the rules are off: name the runner with --runner-id, or match it by its tags',
});

const twice = ({ line }: RunnerSection): ImportNote => ({
  code: 'rule_stricter',
  line,
  text: 'its runner stands in the file more than once: a job does not know which section takes it, and has to pass the rules of all',
});

/** Rules about the images of jobs and their services, as a Runner's lists have them. */

/** Executors without containers. One of them runs virtual machines, with a list of images. */
export function importVmImages({ executor, line, settings }: RunnerSection): ImportedPart {
  const setting = settings.get('instance.allowed_images');
  const patterns = textsOf(setting);
  const isIsolated = settings.get('autoscaler.vm_isolation.enabled')?.value === true;
  if (executor === 'instance' && isIsolated && setting !== undefined && patterns.length > 0) {
    const { allow, notes } = importedPatterns('allowed_images', setting, patterns, []);
    const from = [{ setting: 'allowed_images', line: setting.line, check: 'allow' }];
    return { rule: { kind: 'image', onMissing: 'admit', checks: { allow }, from }, notes };
  }
  const text =
    executor === ''
      ? 'names no executor'
      : `executor ${JSON.stringify(executor)} runs no containers of jobs: rules about images, users and pods say nothing about it`;
  return { notes: [{ code: 'not_seen', line, text }] };
}

/** Images that the Runner allows besides its lists. */
function internalImages(
  { settings, tables }: RunnerSection,
  part: ContainerSection,
  of: 'images' | 'services',
) {
  const own = ['image', ...(part === 'kubernetes' ? ['helper_image'] : [])];
  if (part === 'docker' && of === 'services')
    return (tables.get('docker.services') ?? []).flatMap(({ value }) => {
      const name = typeof value === 'object' && value !== null && 'name' in value ? value.name : undefined;
      return typeof name === 'string' ? [name] : [];
    });
  return own.flatMap((key) => textOf(settings.get(`${part}.${key}`)) ?? []);
}

export function importImages(section: RunnerSection, part: ContainerSection): ImportedPart {
  const setting = section.settings.get(`${part}.allowed_images`);
  const patterns = textsOf(setting);
  if (setting === undefined || patterns.length === 0)
    return { notes: [unrestricted(section, 'allowed_images', 'any image')] };
  const { allow, notes } = importedPatterns(
    'allowed_images',
    setting,
    patterns,
    internalImages(section, part, 'images'),
  );
  return {
    // A job without an image gets the Runner's own, which always passes.
    rule: {
      kind: 'image',
      onMissing: 'admit',
      checks: { allow },
      from: [{ setting: 'allowed_images', line: setting.line, check: 'allow' }],
    },
    notes: [...notes, ...helperNote(section, part, setting)],
  };
}

/** On Kubernetes the helper's image passes as well, and its name depends on the Runner's version. */
const helperNote = (
  { settings }: RunnerSection,
  part: ContainerSection,
  { line }: ConfigSetting,
): readonly ImportNote[] =>
  part === 'docker' || settings.has('kubernetes.helper_image')
    ? []
    : [
        {
          code: 'rule_stricter',
          line,
          text: 'the Runner takes its own helper image, too, whose name is not in the file: add it if jobs write it out',
        },
      ];

export function importServices(section: RunnerSection, part: ContainerSection): ImportedPart {
  const setting = section.settings.get(`${part}.allowed_services`);
  const patterns = textsOf(setting);
  const limit = part === 'docker' ? section.settings.get('docker.services_limit') : undefined;
  const own = section.tables.get(`${part}.services`)?.length ?? 0;
  const notes: ImportNote[] = [];
  const checks: Record<string, unknown> = {};
  const from: RuleSource[] = [];
  if (setting === undefined || patterns.length === 0)
    notes.push(unrestricted(section, 'allowed_services', 'any service'));
  else {
    const read = importedPatterns(
      'allowed_services',
      setting,
      patterns,
      internalImages(section, part, 'services'),
    );
    checks.allow = read.allow;
    notes.push(...read.notes);
    from.push({ setting: 'allowed_services', line: setting.line, check: 'allow' });
  }
  if (typeof limit?.value === 'number' && limit.value >= 0) {
    const left = limit.value - own;
    // The Runner counts its own services with the job's.
    checks.max = Math.min(100, Math.max(0, left));
    from.push({ setting: 'services_limit', line: limit.line, check: 'max' });
    if (left < 0)
      notes.push({
        code: 'rule_looser',
        line: limit.line,
        text: `services_limit is less than the ${own} services of the Runner itself: it fails every job, and no rule can`,
      });
  }
  return from.length === 0
    ? { notes }
    : { rule: { kind: 'services', onMissing: 'admit', checks, from }, notes };
}

/** A class that excludes every character: a list whose patterns match nothing refuses everything, an empty one nothing. */
const NOTHING = '[^\u0000-\u{10ffff}]';

interface ImportedPatterns {
  readonly allow: readonly string[];
  readonly notes: readonly ImportNote[];
}

/**
 * Converts a list of the Runner to `allow`: its patterns unchanged, because rules read them alike, and
 * always allowed images literally.
 *
 * @param internal - images of the Runner's own configuration, which also pass.
 */
export function importedPatterns(
  name: string,
  { line }: ConfigSetting,
  patterns: readonly string[],
  internal: readonly string[],
): ImportedPatterns {
  const notes: ImportNote[] = [];
  const kept = patterns.filter((pattern) => {
    const problem = problemOf(pattern);
    if (problem !== undefined)
      notes.push({ line, ...problem, text: `${name} has ${JSON.stringify(pattern)}, ${problem.text}` });
    return problem === undefined || problem.code === 'no_effect';
  });
  const literal = [...new Set(internal)].flatMap((image) => {
    if (isKnownImage(image)) return [escaped(image)];
    notes.push({
      code: 'rule_stricter',
      line,
      text: `the Runner's own image ${JSON.stringify(image)} is made of variables, so the rule cannot name it; add what it stands for if jobs write it out`,
    });
    return [];
  });
  const allow = [...new Set([...kept, ...literal])];
  return { allow: allow.length === 0 ? [NOTHING] : allow, notes };
}

function problemOf(pattern: string): Pick<ImportNote, 'code' | 'text'> | undefined {
  if (pattern === '')
    return { code: 'rule_stricter', text: 'which only an image without a name matches: it is left out' };
  if (!isKnownImage(pattern))
    return {
      code: 'rule_stricter',
      text: 'with a $: no variable is put into patterns, and no rule takes such a name; it is left out',
    };
  const compiled = compileWildcard(pattern);
  if (!compiled.ok)
    return {
      code: 'rule_stricter',
      text: `which ${compiled.problem}; it is left out. Where it is no pattern at all, the Runner takes it for one that matches nothing, and says nothing`,
    };
  if (pattern.startsWith('!'))
    return {
      code: 'no_effect',
      text: "which excludes nothing: the Runner's patterns know no exclusion and take the ! for a letter. A rule has deny for it",
    };
  return undefined;
}

const escaped = (image: string): string => image.replace(/[*?[\]{}\\]/g, String.raw`\$&`);

/** Rules about the pull policies and users of a job's containers, as a Runner takes them. */

const PULL_POLICIES: readonly string[] = ['always', 'if-not-present', 'never'];

/** The Runner takes what a job asks for, or else its own pull_policy, as far as that is allowed; of nothing it makes a failure. */
export function importPullPolicies({ settings, line }: RunnerSection, part: ContainerSection): ImportedPart {
  // An empty list is none, for the Runner as well.
  const named = ['allowed_pull_policies', 'pull_policy'].flatMap((name) => {
    const setting = settings.get(`${part}.${name}`);
    const policies = textsOf(setting).filter((each) => each !== '');
    return setting === undefined || policies.length === 0
      ? []
      : { setting: name, line: setting.line, policies };
  });
  const written = named.find(({ setting }) => setting === 'pull_policy');
  const own = written?.policies ?? (part === 'docker' ? ['always'] : []);
  const from = named[0] ?? { setting: 'no pull_policy: always', line, policies: own };
  if (from.policies.length === 0)
    return {
      notes: [
        {
          code: 'rule_looser',
          line,
          text: 'neither allowed_pull_policies nor pull_policy: the Runner fails a job that names any pull policy, and no rule can',
        },
      ],
    };
  const unknown = [...from.policies, ...own].find((each) => !PULL_POLICIES.includes(each));
  if (unknown !== undefined)
    return {
      notes: [
        {
          code: 'rule_looser',
          line: from.line,
          text: `${from.setting} has a word the Runner does not know: it fails every job, and no rule can`,
        },
      ],
    };
  const allow = [...new Set(from.policies)];
  return {
    rule: {
      kind: 'pull-policy',
      onMissing: 'skip',
      // A container without one gets the Runner's own, which may not be in the list.
      checks: { allow, required: !allow.some((each) => own.includes(each)) },
      from: [{ setting: from.setting, line: from.line, check: 'allow' }],
    },
  };
}

export function importDockerUsers(section: RunnerSection): ImportedPart {
  const { settings } = section;
  const own = settings.get('docker.user');
  if (textOf(own) !== undefined && own !== undefined)
    return {
      notes: [
        {
          code: 'not_seen',
          line: own.line,
          text: 'user is set: the Runner runs every job as that user, whatever image:docker:user says',
        },
      ],
    };
  const setting = settings.get('docker.allowed_users');
  const users = textsOf(setting).filter((each) => each !== '');
  if (setting === undefined || users.length === 0)
    return {
      notes: [unrestricted(section, 'allowed_users', 'any user of image:docker:user, root included')],
    };
  const pairs = users.filter((each) => each.includes(':'));
  const groups = [...new Set(pairs.flatMap((each) => each.split(':')[1] ?? []))].filter(
    (each) => each !== '',
  );
  const named = [...new Set(users.map((each) => each.split(':')[0] ?? ''))].filter(
    (each) => each !== '' && !each.includes('$'),
  );
  return {
    rule: {
      kind: 'container-user',
      onMissing: 'skip',
      checks: {
        executors: ['docker'],
        users: named.length === 0 ? [NOBODY] : named,
        groups,
        required: false,
      },
      from: [{ setting: 'allowed_users', line: setting.line, check: 'users' }],
    },
    notes: [
      {
        code: 'rule_looser',
        line: setting.line,
        text:
          'the Runner compares image:docker:user letter by letter. The rule reads user and group apart, and root as 0: it also takes ' +
          (pairs.length > 0
            ? 'other pairs of the same users and groups'
            : 'these users with a group, root excepted'),
      },
    ],
  };
}

/** No container of Kubernetes can be asked to run as a name. */
const NOBODY = 'nobody-at-all';

export function importKubernetesUsers({ settings, line }: RunnerSection): ImportedPart {
  const from: RuleSource[] = [];
  const ids = (name: string, check: string): readonly string[] => {
    const setting = settings.get(`kubernetes.${name}`);
    const entries = textsOf(setting);
    if (setting === undefined || entries.length === 0) return [];
    from.push({ setting: name, line: setting.line, check });
    // The Runner skips entries that are not numbers, and a list without numbers refuses all.
    const numbers = entries.filter((each) => /^[+-]?\d+$/.test(each));
    return numbers.length === 0 ? [NOBODY] : numbers;
  };
  const users = ids('allowed_users', 'users');
  const groups = ids('allowed_groups', 'groups');
  return {
    rule: {
      kind: 'container-user',
      onMissing: 'skip',
      checks: { executors: ['kubernetes'], users, groups, required: false },
      // Without lists it allows any user but root.
      from:
        from.length === 0 ? [{ setting: 'no allowed_users: anybody but root', line, check: 'users' }] : from,
    },
  };
}

/** Rules about what jobs may overwrite of their pods, as a Runner allows it. */

export function importOverwrites({ settings }: RunnerSection): ImportedPart {
  const checks: Record<string, unknown> = {};
  const from: RuleSource[] = [];
  const notes: ImportNote[] = [];
  for (const name of OVERWRITE_NAMES) {
    const setting = settings.get(`kubernetes.${name}_overwrite_allowed`);
    const pattern = textOf(setting);
    if (name === 'bearer_token' || setting === undefined || pattern === undefined) continue;
    const compiled = compileRegex(pattern);
    if (compiled.ok) {
      checks[name] = pattern;
      from.push({ setting: `${name}_overwrite_allowed`, line: setting.line, check: name });
    } else
      notes.push({
        code: 'rule_looser',
        line: setting.line,
        text: `${name}_overwrite_allowed ${compiled.problem}: no rule is made of it`,
      });
  }
  // The Runner ignores disallowed overwrites: the job runs with its own value, so no rule refuses it.
  return from.length === 0
    ? { notes }
    : { rule: { kind: 'overwrites', onMissing: 'admit', checks, from }, notes };
}

const SUBJECTS = [
  { prefix: '', subject: 'build' },
  { prefix: 'helper_', subject: 'helper' },
  { prefix: 'service_', subject: 'service' },
  { prefix: 'pod_', subject: 'pod' },
] as const;
const RESOURCES = ['cpu', 'memory', 'ephemeral_storage'] as const;
const BOUNDS = ['request', 'limit'] as const;

export function importResources({ settings }: RunnerSection): ImportedPart {
  const checks: Record<string, Record<string, string>> = {};
  const from: RuleSource[] = [];
  const notes: ImportNote[] = [];
  for (const { prefix, subject } of SUBJECTS)
    for (const resource of RESOURCES) {
      const caps = BOUNDS.flatMap((bound) => {
        const name = `${prefix}${resource}_${bound}_overwrite_max_allowed`;
        const setting = settings.get(`kubernetes.${name}`);
        const text = textOf(setting);
        return setting === undefined || text === undefined ? [] : { bound, name, text, line: setting.line };
      });
      for (const { bound, name, text, line } of caps) {
        if (!isCap(subject, `${resource}_${bound}`, text)) {
          const isQuantity = parseQuantity(text) !== undefined;
          notes.push({
            code: 'rule_looser',
            line,
            text: `${name} is ${isQuantity ? 'no amount a rule takes' : 'no quantity, so the Runner fails every job that sets it'}: no rule is made of it`,
          });
          continue;
        }
        checks[subject] = { ...checks[subject], [`${resource}_${bound}`]: text };
        from.push({ setting: name, line, check: `${subject}.${resource}_${bound}` });
        if (bound === 'request' && caps.length === 1)
          notes.push({
            code: 'rule_stricter',
            line,
            text: `${name} stands alone: where a job sets only a limit, the rule takes that for its request, as Kubernetes would; the Runner ignores the limit`,
          });
      }
    }
  return from.length === 0
    ? { notes }
    : { rule: { kind: 'resources', onMissing: 'admit', checks, from }, notes };
}

/** Reads what the Runner gives a build and lets jobs overwrite. Only the Kubernetes executor reads such variables. */
export function importClass({ executor, settings }: RunnerSection): ImportedClass {
  if (executor !== 'kubernetes') return { overwrites: 'none' };
  const quantity = (name: string): string | undefined => {
    const text = textOf(settings.get(`kubernetes.${name}`));
    return text !== undefined && parseQuantity(text) !== undefined ? text : undefined;
  };
  // Kubernetes takes the limit of a container without a request for its request.
  const cpu = quantity('cpu_request') ?? quantity('cpu_limit');
  const memory = quantity('memory_request') ?? quantity('memory_limit');
  const maxima = SUBJECTS.flatMap(({ prefix }) =>
    ['cpu', 'memory'].flatMap((resource) =>
      BOUNDS.flatMap((bound) => {
        const key = `${prefix}${resource}_${bound}`;
        const text = quantity(`${key}_overwrite_max_allowed`);
        return text === undefined || !isOverwrite(key, text) ? [] : [[key, text] as const];
      }),
    ),
  );
  return {
    ...(cpu !== undefined && { cpu }),
    ...(memory !== undefined && { memory }),
    overwrites: maxima.length === 0 ? 'none' : Object.fromEntries(maxima),
  };
}

function isOverwrite(key: string, text: string): boolean {
  const reading = Reading.of({ [key]: text });
  readOverwrites(reading);
  return reading.problems.length === 0;
}

function isCap(subject: string, key: string, text: string): boolean {
  const reading = Reading.of({ [subject]: { [key]: text } });
  return readCaps(reading).length > 0 && reading.problems.length === 0;
}

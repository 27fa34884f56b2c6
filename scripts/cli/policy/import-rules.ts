/** Rules that do the same as a Runner's configuration, and notes about what no rule can say. */
import { Reading } from '../../../policies/document/reading.ts';
import { isKnownImage } from '../../../policies/images/image-judge.ts';
import { parseQuantity } from '../../../policies/kubernetes/quantity.ts';
import { readCaps, readOverwrites } from '../../../policies/kubernetes/resource-caps.ts';
import { OVERWRITE_NAMES } from '../../../policies/kubernetes/resource-variables.ts';
import { compileRegex } from '../../../policies/match/regex.ts';
import { compileWildcard } from '../../../policies/match/wildcard.ts';
import { type RunnerSection, textOf, textsOf } from './runner-config.ts';
import { addUnseenSettings } from './runner-only.ts';

/** A rule as it will be written, in the order of its keys. */
export interface ImportedRule {
  readonly id: string;
  readonly kind: 'image' | 'services' | 'pull-policy' | 'container-user' | 'overwrites' | 'resources';
  readonly onMissing: 'admit' | 'skip';
  /** Settings of the kind: `allow`, `max`, `users`, `build` … */
  readonly checks: Readonly<Record<string, unknown>>;
  readonly from: readonly RuleSource[];
}

/** A setting of the Runner that a part of a rule was made of. */
interface RuleSource {
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

/** The part of the configuration with a runner's container settings. */
export type ContainerSection = 'docker' | 'kubernetes';

/** Rules and notes of one runner, as they are found. */
export class RunnerDraft {
  readonly rules: Omit<ImportedRule, 'id'>[] = [];
  readonly notes: ImportNote[] = [];

  note(code: NoteCode, line: number, text: string): void {
    this.notes.push({ code, line, text });
  }

  rule(
    kind: ImportedRule['kind'],
    onMissing: ImportedRule['onMissing'],
    checks: ImportedRule['checks'],
    from: readonly RuleSource[],
  ): void {
    if (from.length > 0) this.rules.push({ kind, onMissing, checks, from });
  }
}

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
  const draft = new RunnerDraft();
  if (runnerId === undefined)
    draft.note(
      'runner_not_told',
      line,
      'has no id, so the rules are off: name the runner with --runner-id, or match it by its tags',
    );
  if (isShared)
    draft.note(
      'rule_stricter',
      line,
      'its runner stands in the file more than once: a job does not know which section takes it, and has to pass the rules of all',
    );
  if (part === undefined) importVmImages(section, draft);
  else {
    importImages(section, part, draft);
    importServices(section, part, draft);
    importPullPolicies(section, part, draft);
  }
  if (part === 'docker') importDockerUsers(section, draft);
  if (part === 'kubernetes') {
    importKubernetesUsers(section, draft);
    importOverwrites(section, draft);
    importResources(section, draft);
  }
  addUnseenSettings(section, part, draft);
  const base = ['runner', runnerId, runnerId === undefined || isShared ? `line-${line}` : undefined]
    .filter((each) => each !== undefined)
    .join('-');
  return {
    name,
    line,
    executor,
    ...(runnerId !== undefined && { runnerId }),
    rules: draft.rules.map((rule) => ({ id: `${base}-${rule.kind}`, ...rule })),
    class: importClass(section),
    notes: draft.notes,
  };
}

const unrestricted = ({ line }: RunnerSection, setting: string, what: string, draft: RunnerDraft): void =>
  draft.note('unrestricted', line, `no ${setting}: the Runner takes ${what}`);

/** A class that excludes every character: a list whose patterns match nothing refuses everything. */
const NOTHING = '[^\u0000-\u{10ffff}]';

/**
 * Converts a list of the Runner to `allow`. Its patterns stay unchanged, because rules read them alike.
 *
 * @param internal - images of the Runner's own configuration, which also pass; they are matched literally.
 */
function allowedPatterns(
  name: string,
  line: number,
  patterns: readonly string[],
  internal: readonly string[],
  draft: RunnerDraft,
): readonly string[] {
  const kept = patterns.filter((pattern) => {
    const problem = patternProblem(pattern);
    if (problem === undefined) return true;
    const [code, text] = problem;
    draft.note(code, line, `${name} has ${JSON.stringify(pattern)}, ${text}`);
    return code === 'no_effect';
  });
  const literal = [...new Set(internal)].filter((image) => {
    if (isKnownImage(image)) return true;
    draft.note(
      'rule_stricter',
      line,
      `the Runner's own image ${JSON.stringify(image)} is made of variables, so the rule cannot name it; add what it stands for if jobs write it out`,
    );
    return false;
  });
  const escaped = literal.map((image) => image.replace(/[*?[\]{}\\]/g, String.raw`\$&`));
  const allow = [...new Set([...kept, ...escaped])];
  return allow.length === 0 ? [NOTHING] : allow;
}

function patternProblem(pattern: string): readonly [NoteCode, string] | undefined {
  if (pattern === '') return ['rule_stricter', 'which only an image without a name matches: it is left out'];
  if (!isKnownImage(pattern))
    return [
      'rule_stricter',
      'with a $: no variable is put into patterns, and no rule takes such a name; it is left out',
    ];
  const compiled = compileWildcard(pattern);
  if (!compiled.ok)
    return [
      'rule_stricter',
      `which ${compiled.problem}; it is left out. Where it is no pattern at all, the Runner takes it for one that matches nothing, and says nothing`,
    ];
  if (pattern.startsWith('!'))
    return [
      'no_effect',
      "which excludes nothing: the Runner's patterns know no exclusion and take the ! for a letter. A rule has deny for it",
    ];
  return undefined;
}

/** Executors without containers. One of them runs virtual machines, with a list of images. */
function importVmImages({ executor, line, settings }: RunnerSection, draft: RunnerDraft) {
  const setting = settings.get('instance.allowed_images');
  const patterns = textsOf(setting);
  const isIsolated = settings.get('autoscaler.vm_isolation.enabled')?.value === true;
  if (executor === 'instance' && isIsolated && setting !== undefined && patterns.length > 0) {
    const allow = allowedPatterns('allowed_images', setting.line, patterns, [], draft);
    const from = [{ setting: 'allowed_images', line: setting.line, check: 'allow' }];
    draft.rule('image', 'admit', { allow }, from);
    return;
  }
  draft.note(
    'not_seen',
    line,
    executor === ''
      ? 'names no executor'
      : `executor ${JSON.stringify(executor)} runs no containers of jobs: rules about images, users and pods say nothing about it`,
  );
}

function importImages(section: RunnerSection, part: ContainerSection, draft: RunnerDraft) {
  const { settings } = section;
  const setting = settings.get(`${part}.allowed_images`);
  const patterns = textsOf(setting);
  if (setting === undefined || patterns.length === 0) {
    unrestricted(section, 'allowed_images', 'any image', draft);
    return;
  }
  const { line } = setting;
  const allow = allowedPatterns('allowed_images', line, patterns, ownImages(section, part), draft);
  // A job without an image gets the Runner's own, which always passes.
  draft.rule('image', 'admit', { allow }, [{ setting: 'allowed_images', line, check: 'allow' }]);
  // On Kubernetes the helper's image passes as well, and its name depends on the Runner's version.
  if (part === 'kubernetes' && !settings.has('kubernetes.helper_image'))
    draft.note(
      'rule_stricter',
      line,
      'the Runner takes its own helper image, too, whose name is not in the file: add it if jobs write it out',
    );
}

/** Images of the configuration, which the Runner allows besides its lists. */
const ownImages = ({ settings }: RunnerSection, part: ContainerSection): readonly string[] =>
  ['image', ...(part === 'kubernetes' ? ['helper_image'] : [])].flatMap(
    (key) => textOf(settings.get(`${part}.${key}`)) ?? [],
  );

const dockerServices = ({ tables }: RunnerSection): readonly string[] =>
  (tables.get('docker.services') ?? []).flatMap(({ value }) => {
    const name = typeof value === 'object' && value !== null && 'name' in value ? value.name : undefined;
    return typeof name === 'string' ? [name] : [];
  });

function importServices(section: RunnerSection, part: ContainerSection, draft: RunnerDraft) {
  const setting = section.settings.get(`${part}.allowed_services`);
  const patterns = textsOf(setting);
  const limit = part === 'docker' ? section.settings.get('docker.services_limit') : undefined;
  const own = section.tables.get(`${part}.services`)?.length ?? 0;
  const checks: Record<string, unknown> = {};
  const from: RuleSource[] = [];
  if (setting === undefined || patterns.length === 0)
    unrestricted(section, 'allowed_services', 'any service', draft);
  else {
    const internal = part === 'docker' ? dockerServices(section) : ownImages(section, part);
    checks.allow = allowedPatterns('allowed_services', setting.line, patterns, internal, draft);
    from.push({ setting: 'allowed_services', line: setting.line, check: 'allow' });
  }
  if (typeof limit?.value === 'number' && limit.value >= 0) {
    // The Runner counts its own services with the job's.
    const left = limit.value - own;
    checks.max = Math.min(100, Math.max(0, left));
    from.push({ setting: 'services_limit', line: limit.line, check: 'max' });
    if (left < 0)
      draft.note(
        'rule_looser',
        limit.line,
        `services_limit is less than the ${own} services of the Runner itself: it fails every job, and no rule can`,
      );
  }
  draft.rule('services', 'admit', checks, from);
}

const PULL_POLICIES: readonly string[] = ['always', 'if-not-present', 'never'];

/** The Runner takes the job's policy, or else its own, if that is allowed; otherwise the job fails. */
function importPullPolicies({ settings, line }: RunnerSection, part: ContainerSection, draft: RunnerDraft) {
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
  if (from.policies.length === 0) {
    draft.note(
      'rule_looser',
      line,
      'neither allowed_pull_policies nor pull_policy: the Runner fails a job that names any pull policy, and no rule can',
    );
    return;
  }
  if ([...from.policies, ...own].some((each) => !PULL_POLICIES.includes(each))) {
    draft.note(
      'rule_looser',
      from.line,
      `${from.setting} has a word the Runner does not know: it fails every job, and no rule can`,
    );
    return;
  }
  const allow = [...new Set(from.policies)];
  // A container without one gets the Runner's own, which may not be in the list.
  const required = !allow.some((each) => own.includes(each));
  draft.rule('pull-policy', 'skip', { allow, required }, [
    { setting: from.setting, line: from.line, check: 'allow' },
  ]);
}

/** No container of Kubernetes can be asked to run as a name. */
const NO_USER = 'nobody-at-all';

function importDockerUsers(section: RunnerSection, draft: RunnerDraft) {
  const { settings } = section;
  const own = settings.get('docker.user');
  if (own !== undefined && textOf(own) !== undefined) {
    draft.note(
      'not_seen',
      own.line,
      'user is set: the Runner runs every job as that user, whatever image:docker:user says',
    );
    return;
  }
  const setting = settings.get('docker.allowed_users');
  const entries = textsOf(setting).filter((each) => each !== '');
  if (setting === undefined || entries.length === 0) {
    unrestricted(section, 'allowed_users', 'any user of image:docker:user, root included', draft);
    return;
  }
  const { line } = setting;
  const parts = entries.map((each) => each.split(':'));
  const groups = [...new Set(parts.flatMap(([, group = '']) => group))].filter((each) => each !== '');
  const users = [...new Set(parts.map(([user = '']) => user))].filter(
    (each) => each !== '' && !each.includes('$'),
  );
  const checks = {
    executors: ['docker'],
    users: users.length === 0 ? [NO_USER] : users,
    groups,
    required: false,
  };
  draft.rule('container-user', 'skip', checks, [{ setting: 'allowed_users', line, check: 'users' }]);
  const others = parts.some(({ length }) => length > 1)
    ? 'other pairs of the same users and groups'
    : 'these users with a group, root excepted';
  draft.note(
    'rule_looser',
    line,
    `the Runner compares image:docker:user letter by letter. The rule reads user and group apart, and root as 0: it also takes ${others}`,
  );
}

function importKubernetesUsers({ settings, line }: RunnerSection, draft: RunnerDraft) {
  const from: RuleSource[] = [];
  const ids = (name: string, check: string): readonly string[] => {
    const setting = settings.get(`kubernetes.${name}`);
    const entries = textsOf(setting);
    if (setting === undefined || entries.length === 0) return [];
    from.push({ setting: name, line: setting.line, check });
    // The Runner skips entries that are not numbers, and a list without numbers refuses all.
    const numbers = entries.filter((each) => /^[+-]?\d+$/.test(each));
    return numbers.length === 0 ? [NO_USER] : numbers;
  };
  const users = ids('allowed_users', 'users');
  const groups = ids('allowed_groups', 'groups');
  // Without lists it allows any user but root.
  if (from.length === 0) from.push({ setting: 'no allowed_users: anybody but root', line, check: 'users' });
  const checks = { executors: ['kubernetes'], users, groups, required: false };
  draft.rule('container-user', 'skip', checks, from);
}

/** The Runner ignores disallowed overwrites: the job runs with its own value, so no rule refuses it. */
function importOverwrites({ settings }: RunnerSection, draft: RunnerDraft) {
  const checks: Record<string, unknown> = {};
  const from: RuleSource[] = [];
  for (const name of OVERWRITE_NAMES) {
    const setting = settings.get(`kubernetes.${name}_overwrite_allowed`);
    const pattern = textOf(setting);
    if (name === 'bearer_token' || setting === undefined || pattern === undefined) continue;
    const { line } = setting;
    const compiled = compileRegex(pattern);
    if (compiled.ok) {
      checks[name] = pattern;
      from.push({ setting: `${name}_overwrite_allowed`, line, check: name });
    } else
      draft.note('rule_looser', line, `${name}_overwrite_allowed ${compiled.problem}: no rule is made of it`);
  }
  draft.rule('overwrites', 'admit', checks, from);
}

const SUBJECTS = [
  { prefix: '', subject: 'build' },
  { prefix: 'helper_', subject: 'helper' },
  { prefix: 'service_', subject: 'service' },
  { prefix: 'pod_', subject: 'pod' },
] as const;
const RESOURCES = ['cpu', 'memory', 'ephemeral_storage'] as const;
const BOUNDS = ['request', 'limit'] as const;

function importResources({ settings }: RunnerSection, draft: RunnerDraft) {
  const checks: Record<string, Record<string, string>> = {};
  const from: RuleSource[] = [];
  const pairs = SUBJECTS.flatMap((each) => RESOURCES.map((resource) => ({ ...each, resource })));
  for (const { prefix, subject, resource } of pairs) {
    const caps = BOUNDS.flatMap((bound) => {
      const name = `${prefix}${resource}_${bound}_overwrite_max_allowed`;
      const setting = settings.get(`kubernetes.${name}`);
      const text = textOf(setting);
      return setting === undefined || text === undefined ? [] : { bound, name, text, line: setting.line };
    });
    for (const { bound, name, text, line } of caps) {
      const key = `${resource}_${bound}`;
      if (isCap(subject, key, text)) {
        checks[subject] = { ...checks[subject], [key]: text };
        from.push({ setting: name, line, check: `${subject}.${key}` });
        if (bound === 'request' && caps.length === 1)
          draft.note(
            'rule_stricter',
            line,
            `${name} stands alone: where a job sets only a limit, the rule takes that for its request, as Kubernetes would; the Runner ignores the limit`,
          );
      } else {
        const isQuantity = parseQuantity(text) !== undefined;
        const why = isQuantity
          ? 'no amount a rule takes'
          : 'no quantity, so the Runner fails every job that sets it';
        draft.note('rule_looser', line, `${name} is ${why}: no rule is made of it`);
      }
    }
  }
  draft.rule('resources', 'admit', checks, from);
}

/** Reads what the Runner gives a build and lets jobs overwrite. Only the Kubernetes executor reads such variables. */
function importClass({ executor, settings }: RunnerSection): ImportedClass {
  if (executor !== 'kubernetes') return { overwrites: 'none' };
  const quantity = (name: string): string | undefined => {
    const text = textOf(settings.get(`kubernetes.${name}`));
    return text !== undefined && parseQuantity(text) !== undefined ? text : undefined;
  };
  // Kubernetes takes the limit of a container without a request for its request.
  const cpu = quantity('cpu_request') ?? quantity('cpu_limit');
  const memory = quantity('memory_request') ?? quantity('memory_limit');
  const keys = SUBJECTS.flatMap(({ prefix }) =>
    ['cpu', 'memory'].flatMap((resource) => BOUNDS.map((bound) => `${prefix}${resource}_${bound}`)),
  );
  const maxima = keys.flatMap((key) => {
    const text = quantity(`${key}_overwrite_max_allowed`);
    return text === undefined || !isOverwrite(key, text) ? [] : [[key, text] as const];
  });
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

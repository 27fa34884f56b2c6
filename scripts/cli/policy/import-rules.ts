/** Rules that do the same as a Runner's configuration, and notes about what no rule can say. */
import { Reading } from '../../../policies/document/reading.ts';
import { isKnownImage } from '../../../policies/images/image-judge.ts';
import { parseQuantity } from '../../../policies/kubernetes/quantity.ts';
import { readCaps, readOverwrites } from '../../../policies/kubernetes/resource-caps.ts';
import { OVERWRITE_NAMES } from '../../../policies/kubernetes/resource-variables.ts';
import { compileRegex } from '../../../policies/match/regex.ts';
import { compileWildcard } from '../../../policies/match/wildcard.ts';
import { type RunnerSection, textAt, textsAt } from './runner-config.ts';
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

/** Takes rules and notes of one runner, as they are found. */
export interface RunnerDraft {
  readonly note: (code: NoteCode, line: number, text: string) => void;
  /** Of no settings no rule is made. */
  readonly rule: (
    kind: ImportedRule['kind'],
    onMissing: ImportedRule['onMissing'],
    checks: ImportedRule['checks'],
    from: readonly RuleSource[],
  ) => void;
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
  const rules: ImportedRule[] = [];
  const notes: ImportNote[] = [];
  const base = ['runner', runnerId, runnerId === undefined || isShared ? `line-${line}` : undefined]
    .filter((each) => each !== undefined)
    .join('-');
  const draft: RunnerDraft = {
    note: (code, at, text) => notes.push({ code, line: at, text }),
    rule: (kind, onMissing, checks, from) => {
      if (from.length > 0) rules.push({ id: `${base}-${kind}`, kind, onMissing, checks, from });
    },
  };
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
  const id = runnerId === undefined ? {} : { runnerId };
  return { name, line, executor, ...id, rules, class: importClass(section), notes };
}

/** A class that excludes every character: a list whose patterns match nothing refuses everything. */
const NOTHING = '[^\u0000-\u{10ffff}]';

/**
 * Converts a list of the Runner to `allow`. Its patterns stay unchanged, because rules read them alike.
 *
 * @param internal - images of the Runner's own configuration, which also pass; they are matched literally.
 */
function readAllowed(
  section: RunnerSection,
  path: string,
  internal: readonly string[],
  { note }: RunnerDraft,
): { readonly allow: readonly string[]; readonly from: RuleSource } | undefined {
  const setting = path.split('.').at(-1) ?? path;
  const list = textsAt(section, path);
  if (list === undefined) {
    note('unrestricted', section.line, `no ${setting}: the Runner takes any`);
    return undefined;
  }
  const { texts, line } = list;
  const patterns = texts.filter((pattern) => {
    const quoted = `${setting} has ${JSON.stringify(pattern)}`;
    if (pattern.startsWith('!'))
      note(
        'no_effect',
        line,
        `${quoted}, which excludes nothing: the Runner's patterns know no exclusion. A rule has deny for it`,
      );
    const isPattern = pattern !== '' && isKnownImage(pattern) && compileWildcard(pattern).ok;
    if (!isPattern) note('rule_stricter', line, `${quoted}, which is no pattern of a rule: it is left out`);
    return isPattern;
  });
  const literal = internal.filter((image) => {
    if (!isKnownImage(image))
      note('rule_stricter', line, `the Runner's own image ${JSON.stringify(image)} has variables: add it`);
    return isKnownImage(image);
  });
  const escaped = literal.map((image) => image.replace(/[*?[\]{}\\]/g, String.raw`\$&`));
  const allow = [...new Set([...patterns, ...escaped])];
  return { allow: allow.length === 0 ? [NOTHING] : allow, from: { setting, line, check: 'allow' } };
}

/** Executors without containers. One of them runs virtual machines, with a list of images. */
function importVmImages(section: RunnerSection, draft: RunnerDraft) {
  const { executor, line, settings } = section;
  const isIsolated = settings.get('autoscaler.vm_isolation.enabled')?.value === true;
  const allowed =
    executor === 'instance' && isIsolated && textsAt(section, 'instance.allowed_images')
      ? readAllowed(section, 'instance.allowed_images', [], draft)
      : undefined;
  if (allowed !== undefined) draft.rule('image', 'admit', { allow: allowed.allow }, [allowed.from]);
  else
    draft.note(
      'not_seen',
      line,
      `executor ${JSON.stringify(executor)} runs no containers of jobs: rules about images, users and pods say nothing about it`,
    );
}

/** Images of the configuration, which the Runner allows besides its lists. */
const ownImages = (section: RunnerSection, part: ContainerSection): readonly string[] =>
  ['image', ...(part === 'kubernetes' ? ['helper_image'] : [])].flatMap(
    (key) => textAt(section, `${part}.${key}`)?.text ?? [],
  );

function importImages(section: RunnerSection, part: ContainerSection, draft: RunnerDraft) {
  const allowed = readAllowed(section, `${part}.allowed_images`, ownImages(section, part), draft);
  if (allowed === undefined) return;
  // A job without an image gets the Runner's own, which always passes.
  draft.rule('image', 'admit', { allow: allowed.allow }, [allowed.from]);
  // On Kubernetes the helper's image passes as well, and its name depends on the Runner's version.
  if (part === 'kubernetes' && !section.settings.has('kubernetes.helper_image'))
    draft.note(
      'rule_stricter',
      allowed.from.line,
      'the Runner takes its own helper image, too, whose name is not in the file: add it if jobs write it out',
    );
}

function importServices(section: RunnerSection, part: ContainerSection, draft: RunnerDraft) {
  const own = section.tables.get(`${part}.services`) ?? [];
  const names = own.flatMap(({ value }) =>
    typeof value === 'object' && value !== null && 'name' in value ? String(value.name) : [],
  );
  const internal = part === 'docker' ? names : ownImages(section, part);
  const allowed = readAllowed(section, `${part}.allowed_services`, internal, draft);
  const limit = part === 'docker' ? section.settings.get('docker.services_limit') : undefined;
  // The Runner counts its own services with the job's.
  const max =
    typeof limit?.value === 'number' && limit.value >= 0
      ? Math.min(100, Math.max(0, limit.value - own.length))
      : undefined;
  draft.rule(
    'services',
    'admit',
    { ...(allowed && { allow: allowed.allow }), ...(max !== undefined && { max }) },
    [
      ...(allowed ? [allowed.from] : []),
      ...(limit && max !== undefined ? [{ setting: 'services_limit', line: limit.line, check: 'max' }] : []),
    ],
  );
}

const PULL_POLICIES: readonly string[] = ['always', 'if-not-present', 'never'];

/** The Runner takes the job's policy, or else its own, if that is allowed; otherwise the job fails. */
function importPullPolicies(section: RunnerSection, part: ContainerSection, draft: RunnerDraft) {
  const [listed, written] = ['allowed_pull_policies', 'pull_policy'].map((setting) => {
    const list = textsAt(section, `${part}.${setting}`);
    const policies = list?.texts.filter((each) => each !== '') ?? [];
    return policies.length === 0 ? undefined : { setting, line: list?.line ?? 0, policies };
  });
  const own = written?.policies ?? (part === 'docker' ? ['always'] : []);
  const from = listed ?? written ?? { setting: 'no pull_policy: always', line: section.line, policies: own };
  const isKnown = [...from.policies, ...own].every((each) => PULL_POLICIES.includes(each));
  if (from.policies.length === 0 || !isKnown) {
    draft.note(
      'rule_looser',
      from.line,
      'its pull policies fail jobs: none is set, or one has a word the Runner does not know; no rule can',
    );
    return;
  }
  const allow = [...new Set(from.policies)];
  // A container without one gets the Runner's own, which may not be in the list.
  const required = !allow.some((each) => own.includes(each));
  const source = { setting: from.setting, line: from.line, check: 'allow' };
  draft.rule('pull-policy', 'skip', { allow, required }, [source]);
}

/** No container of Kubernetes can be asked to run as a name. */
const NO_USER = 'nobody-at-all';

function importDockerUsers(section: RunnerSection, { note, rule }: RunnerDraft) {
  const own = textAt(section, 'docker.user');
  const list = textsAt(section, 'docker.allowed_users');
  const entries = list?.texts.filter((each) => each !== '') ?? [];
  if (own !== undefined)
    note('not_seen', own.line, 'user is set: the Runner runs every job as that user, whatever it asks for');
  else if (list === undefined || entries.length === 0)
    note('unrestricted', section.line, 'no allowed_users: the Runner takes any, root included');
  else {
    const { line } = list;
    const parts = entries.map((each) => each.split(':'));
    const groups = new Set(parts.flatMap(([, group = '']) => (group === '' ? [] : [group])));
    const users = new Set(parts.flatMap(([user = '']) => (user === '' || user.includes('$') ? [] : [user])));
    const checks = {
      executors: ['docker'],
      users: users.size === 0 ? [NO_USER] : [...users],
      groups: [...groups],
      required: false,
    };
    rule('container-user', 'skip', checks, [{ setting: 'allowed_users', line, check: 'users' }]);
    note(
      'rule_looser',
      line,
      'the Runner compares image:docker:user letter by letter. The rule reads user and group apart, and root as 0: it also takes other pairs of them',
    );
  }
}

function importKubernetesUsers(section: RunnerSection, draft: RunnerDraft) {
  const from: RuleSource[] = [];
  const ids = (setting: string, check: string): readonly string[] => {
    const list = textsAt(section, `kubernetes.${setting}`);
    if (list === undefined) return [];
    from.push({ setting, line: list.line, check });
    // The Runner skips entries that are not numbers, and a list without numbers refuses all.
    const numbers = list.texts.filter((each) => /^[+-]?\d+$/.test(each));
    return numbers.length === 0 ? [NO_USER] : numbers;
  };
  const users = ids('allowed_users', 'users');
  const groups = ids('allowed_groups', 'groups');
  // Without lists it allows any user but root.
  if (from.length === 0)
    from.push({ setting: 'no allowed_users: anybody but root', line: section.line, check: 'users' });
  const checks = { executors: ['kubernetes'], users, groups, required: false };
  draft.rule('container-user', 'skip', checks, from);
}

/** The Runner ignores disallowed overwrites: the job runs with its own value, so no rule refuses it. */
function importOverwrites(section: RunnerSection, draft: RunnerDraft) {
  const allowed = OVERWRITE_NAMES.flatMap((name) => {
    const setting = `${name}_overwrite_allowed`;
    const pattern = textAt(section, `kubernetes.${setting}`);
    if (name === 'bearer_token' || pattern === undefined) return [];
    const compiled = compileRegex(pattern.text);
    if (compiled.ok) return { check: name, setting, ...pattern };
    draft.note('rule_looser', pattern.line, `${setting} ${compiled.problem}: no rule is made of it`);
    return [];
  });
  const checks = Object.fromEntries(allowed.map(({ check, text }) => [check, text]));
  draft.rule('overwrites', 'admit', checks, allowed.map(sourceOf));
}

const sourceOf = ({ setting, line, check }: RuleSource): RuleSource => ({ setting, line, check });

const SUBJECTS = { '': 'build', helper_: 'helper', service_: 'service', pod_: 'pod' } as const;
const RESOURCES = ['cpu', 'memory', 'ephemeral_storage'] as const;

/** Maxima of the overwrites of requests and limits: `{subject: 'helper', key: 'cpu_limit', text: '2'}`. */
const maximaIn = (section: RunnerSection) =>
  Object.entries(SUBJECTS).flatMap(([prefix, subject]) =>
    RESOURCES.flatMap((resource) =>
      ['request', 'limit'].flatMap((bound) => {
        const key = `${resource}_${bound}`;
        const setting = `${prefix}${key}_overwrite_max_allowed`;
        const max = textAt(section, `kubernetes.${setting}`);
        return max === undefined ? [] : [{ prefix, subject, key, setting, ...max }];
      }),
    ),
  );

function importResources(section: RunnerSection, { note, rule }: RunnerDraft) {
  const checks: Record<string, Record<string, string>> = {};
  const maxima = maximaIn(section).filter(({ subject, key, text, setting, line }) => {
    const isCap = hasNoProblem({ [subject]: { [key]: text } }, readCaps);
    if (isCap) checks[subject] = { ...checks[subject], [key]: text };
    else note('rule_looser', line, `${setting} is no amount a rule takes: no rule is made of it`);
    return isCap;
  });
  for (const { subject, key, setting, line } of maxima)
    if (key.endsWith('_request') && checks[subject]?.[key.replace('request', 'limit')] === undefined)
      note(
        'rule_stricter',
        line,
        `${setting} stands alone: where a job sets only a limit, the rule takes that for its request, as Kubernetes would; the Runner ignores the limit`,
      );
  const from = maxima.map(({ setting, line, subject, key }) => ({
    setting,
    line,
    check: `${subject}.${key}`,
  }));
  rule('resources', 'admit', checks, from);
}

/** Reads what the Runner gives a build and lets jobs overwrite. Only the Kubernetes executor reads such variables. */
function importClass(section: RunnerSection): ImportedClass {
  if (section.executor !== 'kubernetes') return { overwrites: 'none' };
  // Kubernetes takes the limit of a container without a request for its request.
  const [cpu, memory] = ['cpu', 'memory'].map((resource) =>
    ['request', 'limit']
      .map((bound) => textAt(section, `kubernetes.${resource}_${bound}`)?.text)
      .find((text) => text !== undefined && parseQuantity(text) !== undefined),
  );
  const maxima = maximaIn(section)
    .map(({ prefix, key, text }) => ({ [`${prefix}${key}`]: text }))
    .filter((entry) => hasNoProblem(entry, readOverwrites));
  return {
    ...(cpu !== undefined && { cpu }),
    ...(memory !== undefined && { memory }),
    overwrites: maxima.length === 0 ? 'none' : Object.assign({}, ...maxima),
  };
}

function hasNoProblem(value: unknown, read: (reading: Reading) => unknown): boolean {
  const reading = Reading.of(value);
  read(reading);
  return reading.problems.length === 0;
}

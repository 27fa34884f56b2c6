import { Reading } from '../../../../policies/document/reading.ts';
import { OVERWRITE_NAMES } from '../../../../policies/kubernetes/overwrite-variables.ts';
import { parseQuantity } from '../../../../policies/kubernetes/quantity.ts';
import { readCaps } from '../../../../policies/kubernetes/resource-caps.ts';
import { compileRegex } from '../../../../policies/match/regex.ts';
import { importedPatterns } from './image-patterns.ts';
import type { ImportedRule, ImportedRunner, ImportNote, RuleSource } from './imported-rule.ts';
import { type ConfigSetting, type RunnerSection, textOf, textsOf } from './runner-config.ts';
import { runnerOnly } from './runner-only.ts';

/** What one part of a runner's configuration comes to. */
interface ImportedPart {
  readonly rule?: Omit<ImportedRule, 'id'>;
  readonly notes?: readonly ImportNote[];
}

/** Where the settings of containers stand. Executors that run no containers have none. */
const PARTS: Readonly<Record<string, 'docker' | 'kubernetes'>> = {
  docker: 'docker',
  'docker-windows': 'docker',
  'docker+machine': 'docker',
  'docker-autoscaler': 'docker',
  kubernetes: 'kubernetes',
};

/** The rules that do with a job what this runner does, and what no rule says. @param runnerId - where the file tells none. */
export function importRunner(section: RunnerSection, runnerId = section.id): ImportedRunner {
  const { name, line, executor } = section;
  const part = PARTS[executor];
  const parts: readonly ImportedPart[] =
    part === undefined
      ? [{ notes: [noContainers(section)] }]
      : part === 'docker'
        ? [images(section, part), services(section, part), dockerPulls(section), dockerUsers(section)]
        : [
            images(section, part),
            services(section, part),
            kubernetesPulls(section),
            kubernetesUsers(section),
            overwrites(section),
            resources(section),
          ];
  const base = `runner-${runnerId ?? `line-${line}`}`;
  return {
    name,
    line,
    executor,
    ...(runnerId !== undefined && { runnerId }),
    rules: parts.flatMap(({ rule }) => (rule === undefined ? [] : { id: `${base}-${rule.kind}`, ...rule })),
    notes: [
      ...(runnerId === undefined ? [notTold(section)] : []),
      ...parts.flatMap(({ notes = [] }) => notes),
      ...runnerOnly(section, part),
    ],
  };
}

const noContainers = ({ executor, line }: RunnerSection): ImportNote => ({
  code: 'not_seen',
  line,
  text: `executor ${JSON.stringify(executor)} runs no containers of jobs: rules about images, users and pods say nothing about it`,
});

const notTold = ({ line }: RunnerSection): ImportNote => ({
  code: 'runner_not_told',
  line,
  text: 'has no id, so the rules are off: name the runner with --runner-id, or match it by its tags',
});

type ContainerPart = 'docker' | 'kubernetes';

/** What the Runner takes beside its lists. */
function internalImages({ settings, tables }: RunnerSection, part: ContainerPart, of: 'images' | 'services') {
  const own = ['image', ...(part === 'kubernetes' ? ['helper_image'] : [])];
  if (part === 'docker' && of === 'services')
    return (tables.get('docker.services') ?? []).flatMap(({ value }) => {
      const name = typeof value === 'object' && value !== null && 'name' in value ? value.name : undefined;
      return typeof name === 'string' ? [name] : [];
    });
  return own.flatMap((key) => textOf(settings.get(`${part}.${key}`)) ?? []);
}

function images(section: RunnerSection, part: ContainerPart): ImportedPart {
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
  part: ContainerPart,
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

function services(section: RunnerSection, part: ContainerPart): ImportedPart {
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

const PULL_POLICIES: readonly string[] = ['always', 'if-not-present', 'never'];

function dockerPulls(section: RunnerSection): ImportedPart {
  const found = pullSetting(section, 'docker');
  return found === undefined
    ? pullRule(['always'], { setting: 'no pull_policy: always', line: section.line })
    : pullRule(textsOf(found.setting), { setting: found.name, line: found.setting.line });
}

function kubernetesPulls(section: RunnerSection): ImportedPart {
  const found = pullSetting(section, 'kubernetes');
  if (found !== undefined)
    return pullRule(textsOf(found.setting), { setting: found.name, line: found.setting.line });
  return {
    notes: [
      {
        code: 'rule_looser',
        line: section.line,
        text: 'neither allowed_pull_policies nor pull_policy: the Runner fails a job that names any pull policy, and no rule can',
      },
    ],
  };
}

/** An empty list is none, for the Runner as well. */
function pullSetting({ settings }: RunnerSection, part: ContainerPart) {
  for (const name of ['allowed_pull_policies', 'pull_policy']) {
    const setting = settings.get(`${part}.${name}`);
    if (setting !== undefined && textsOf(setting).some((each) => each !== '')) return { name, setting };
  }
  return undefined;
}

function pullRule(policies: readonly string[], from: Omit<RuleSource, 'check'>): ImportedPart {
  const allow = [...new Set(policies)].filter((each) => PULL_POLICIES.includes(each));
  if (allow.length < new Set(policies).size)
    return {
      notes: [
        {
          code: 'rule_looser',
          line: from.line,
          text: `${from.setting} has a word the Runner does not know: it fails every job, and no rule can`,
        },
      ],
    };
  return {
    rule: {
      kind: 'pull-policy',
      onMissing: 'skip',
      checks: { allow, required: false },
      from: [{ ...from, check: 'allow' }],
    },
  };
}

function dockerUsers(section: RunnerSection): ImportedPart {
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

function kubernetesUsers({ settings, line }: RunnerSection): ImportedPart {
  const from: RuleSource[] = [];
  const ids = (name: string, check: string): readonly string[] => {
    const setting = settings.get(`kubernetes.${name}`);
    const entries = textsOf(setting);
    if (setting === undefined || entries.length === 0) return [];
    from.push({ setting: name, line: setting.line, check });
    // The Runner passes over what is no number, and a list of nothing else refuses everybody.
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
      // Without lists it takes anybody but root.
      from:
        from.length === 0 ? [{ setting: 'no allowed_users: anybody but root', line, check: 'users' }] : from,
    },
  };
}

function overwrites({ settings }: RunnerSection): ImportedPart {
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
  // What the Runner does not allow it ignores: the job runs with the Runner's own value, so no rule refuses it.
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

function resources({ settings }: RunnerSection): ImportedPart {
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

function isCap(subject: string, key: string, text: string): boolean {
  const reading = Reading.of({ [subject]: { [key]: text } });
  return readCaps(reading).length > 0 && reading.problems.length === 0;
}

const unrestricted = ({ line }: RunnerSection, setting: string, what: string): ImportNote => ({
  code: 'unrestricted',
  line,
  text: `no ${setting}: the Runner takes ${what}`,
});

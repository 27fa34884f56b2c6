/** Rules about the pull policies and users of a job's containers, as a Runner takes them. */
import { type ContainerSection, type ImportedPart, unrestricted } from './imported-part.ts';
import type { RuleSource } from './imported-rule.ts';
import { type RunnerSection, textOf, textsOf } from './runner-config.ts';

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

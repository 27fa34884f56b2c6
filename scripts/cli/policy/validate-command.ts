import { parsePolicy } from '../../../policies/document/parse-policy.ts';
import type { DocumentPath } from '../../../policies/document/reading.ts';
import { readInstant } from '../../../policies/document/values.ts';
import type { Policy } from '../../../policies/policy.ts';
import { NO_CLASS, pricesAt, priceVersions, type RunnerClass } from '../../../policies/price.ts';
import { selfLockout } from '../../../policies/self-lockout.ts';
import { ASKED_BY, LIMIT_KINDS } from '../../../policies/unit.ts';
import { limitsIn, policyIn, readDirectory } from '../../policy/read-documents.ts';
import { collectProblems, readYaml, type YamlDocument } from '../../policy/yaml-document.ts';
import { DocumentError, EXIT } from '../../terminal/command.ts';
import { command, toggle } from '../../terminal/define.ts';
import { screenOf } from '../../terminal/table.ts';
import { shortPath } from '../../terminal/user-file.ts';
import { RULES_FLAGS, type RulesFiles, rulesFiles } from '../rules-flags.ts';
import { entriesAt, entriesOf, entryOf } from './written-document.ts';

const policyValidate = command({
  name: 'policy validate',
  about: `Shows every problem with its file, line and column, and warnings about entries that lock somebody out or can never match.`,
  flags: {
    ...RULES_FLAGS,
    force: toggle('continues although the policy would reject the jobs of the platform team'),
  },
  examples: ['tollgate policy validate --limits limits.yaml'],
  exits: {
    0: 'valid (warnings do not count)',
    1: 'a file cannot be read',
    3: 'wrong usage, invalid, or a policy that would lock out its own platform team',
  },
  run: async ({ flags }, io) => {
    const documents = readDocuments(rulesFiles(flags, io));
    const nowMs = io.nowMs();
    const { policy, limits, directory } = documents;
    /** Violations that would lock out the controller's own deploy; --force reports and ignores them. */
    const lockout = selfLockout(policy.model, limits.model, directory, nowMs);
    const valid = lockout.length === 0 || flags.force;
    const warnings = collectWarnings(documents, nowMs).map((text) => shortPath(text, io.cwd));
    const { version, currency } = policy.model;
    const rules = policy.model.rules.map(({ id, kind, class: ruleClass, mode, stateless }) => {
      return { id, kind, class: ruleClass, mode, stateless };
    });
    const { bySubject, personalDefault, groupDefaults } = limits.model;
    const limitCount =
      [...bySubject.values()].flat().length + personalDefault.length + (groupDefaults?.all.length ?? 0);
    const report = {
      ...{ valid, lockout, warnings, policy: { version, currency, rules } },
      limits: { version: limits.model.version, count: limitCount },
      directory: { groups: directory.groupById.size, projects: directory.projectById.size },
    };
    if (flags.json) io.out(`${JSON.stringify(report)}\n`);
    else {
      const screen = screenOf(io);
      for (const text of warnings) io.err(`${screen.warn('warning')} ${text}\n`);
      for (const text of lockout)
        io.err(`${valid ? screen.warn('warning') : screen.bad('locked out')} ${text}\n`);
      if (!valid) io.err(LOCKOUT_REMEDY);
      const rows = rules.map(({ stateless, ...rule }) => [
        ...Object.values(rule),
        stateless ? 'the request alone, also in the fallback' : 'counters of limits',
      ]);
      if (rows.length > 0) io.out(`${screen.table(['rule', 'kind', 'class', 'mode', 'decided by'], rows)}\n`);
      const { groups, projects } = report.directory;
      io.out(`policy     ${counted(rules.length, 'rule')}; version ${version}
limits     ${counted(limitCount, 'limit')}; version ${limits.model.version}
directory  ${counted(groups, 'group')}, ${counted(projects, 'project')}
${valid ? screen.good('valid') : screen.bad('would lock out its own platform team')}
`);
    }
    return valid ? EXIT.ok : EXIT.invalid;
  },
});

export const commands = [policyValidate];

const LOCKOUT_REMEDY = `The jobs of those who run the controller would be rejected, so nobody could deploy the correction. Take
binds_platform from the rule, change the limit, or correct platform.job if it does not look like your deploy job;
--force if it is meant.
`;

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

type Documents = ReturnType<typeof readDocuments>;

function readDocuments(files: RulesFiles) {
  const problems: string[] = [];
  const yaml = collectProblems(problems, () => readYaml(files.policy));
  const policy = yaml && collectProblems(problems, () => policyIn(yaml));
  const directory = collectProblems(problems, () => readDirectory(files.directory));
  const priced = policy?.model ?? (yaml && pricesAlone(yaml));
  const limits =
    priced && collectProblems(problems, () => limitsIn(readYaml(files.limits), priced, directory));
  if (priced === undefined)
    problems.push(`${files.limits}: was not checked, since the runner classes are not known`);
  if (policy === undefined || limits === undefined || directory === undefined)
    throw new DocumentError(problems);
  return { policy, limits, directory };
}

/** Limits name runner classes: where only rules are wrong, they can be checked all the same. */
function pricesAlone({ value }: YamlDocument): Policy | undefined {
  const { currency, prices, estimate } = entryOf(value);
  const parsed = parsePolicy({ currency, prices, estimate, rules: [] }, '');
  return parsed.ok ? parsed.value : undefined;
}

type Warnings = Iterable<readonly [path: DocumentPath, message: string]>;

function collectWarnings(documents: Documents, nowMs: number): readonly string[] {
  const lines = (found: Warnings, { document }: Documents['policy'] | Documents['limits']) =>
    [...found].map(([path, message]) => document.locate({ path, message }));
  return [
    ...lines(onPolicy(documents, nowMs), documents.policy),
    ...lines(onLimits(documents), documents.limits),
  ];
}

/** Version of drafted prices, which are all 0 until edited. */
export const PRICES_TO_FILL = 'to-be-filled';

function* onPolicy({ policy: { model: policy, document }, directory }: Documents, nowMs: number): Warnings {
  const written = entryOf(document.value);
  if (written.platform === undefined)
    yield [['platform'], 'missing; without it a rule can reject the jobs that deploy its correction'];
  if (policy.prices.version === PRICES_TO_FILL)
    yield [
      ['prices', 'version'],
      `is ${PRICES_TO_FILL}; write the prices of all classes and another version`,
    ];
  const versions = priceVersions(policy.prices);
  const first = Math.max(0, versions.indexOf(pricesAt(policy.prices, nowMs)));
  const reachable = new Set<unknown>([NO_CLASS]);
  for (const [at, { classes, defaultClass }] of versions.entries())
    for (const [index, each] of classes.entries()) {
      const why = each === defaultClass ? undefined : unreachableWhy(each, classes.slice(0, index));
      if (at >= first && why === undefined) reachable.add(each.name);
      const path = ['prices', ...(Array.isArray(written.prices) ? [at] : []), 'classes', index];
      if (at >= first && why !== undefined) yield [path, `runner class ${each.name} has no jobs: ${why}`];
    }
  for (const [index, rule] of entriesAt(written, 'rules').entries()) {
    const { runner_classes: classes, groups } = entryOf(rule.match);
    const names = entriesOf(classes);
    if (names.length > 0 && !names.some((name) => reachable.has(name)))
      yield [['rules', index, 'match', 'runner_classes'], `matches no job: ${names.join(', ')} has no jobs`];
    for (const [at, group] of entriesOf(groups).entries()) {
      const id = typeof group === 'number' ? group : entryOf(group).id;
      if (typeof id === 'number' && !directory.groupById.has(id))
        yield [['rules', index, 'match', 'groups', at], notInDirectory(id)];
    }
    const isOver = (entry: unknown, zone: unknown): boolean => {
      const { until, days, zone: own = zone } = entryOf(entry);
      const endMs = readInstant(String(until), 'end', String(own));
      return days === undefined && endMs !== undefined && endMs <= nowMs;
    };
    const zone = written.zone ?? 'UTC';
    for (const [at, exemption] of entriesOf(rule.exempt).entries())
      if (isOver(exemption, zone)) yield [['rules', index, 'exempt', at, 'until'], 'is over; take it out'];
    const windows = entriesOf(rule.windows);
    if (windows.length > 0 && windows.every((each) => isOver(each, rule.zone ?? zone)))
      yield [['rules', index, 'windows'], 'are over; take the rule out'];
  }
}

function unreachableWhy(each: RunnerClass, before: readonly RunnerClass[]): string | undefined {
  if (each.runnerIds.size > 0) return undefined;
  if (each.tags.length === 0) return 'it names neither tags nor runner_ids';
  const earlier = before.find(({ tags }) => tags.length > 0 && tags.every((tag) => each.tags.includes(tag)));
  return earlier && `every runner with its tags is one of class ${earlier.name}, which stands before it`;
}

const notInDirectory = (id: number): string => `group ${id} is not in the directory; is the id right?`;

/** Limits without effect: no rule applies them, or their group is unknown. */
function* onLimits({ policy, limits, directory }: Documents): Warnings {
  const applied = new Set(policy.model.rules.filter(({ mode }) => mode !== 'off').map(({ kind }) => kind));
  for (const list of ['limits', 'group_defaults', 'personal_default'])
    for (const [index, limit] of entriesAt(limits.document.value, list).entries()) {
      const kind = LIMIT_KINDS.find((each) => limit[each] !== undefined);
      const { group } = entryOf(limit.on);
      if (kind !== undefined && !applied.has(ASKED_BY[kind]))
        yield [[list, index, kind], `has no effect: the policy has no rule of kind ${ASKED_BY[kind]}`];
      if (typeof group === 'number' && !directory.groupById.has(group))
        yield [[list, index, 'on', 'group'], notInDirectory(group)];
    }
}

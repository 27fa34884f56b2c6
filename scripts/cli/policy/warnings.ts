/** Entries of the documents that are valid and probably wrong. */
import type { DocumentPath } from '../../../policies/document/reading.ts';
import { readInstant } from '../../../policies/document/values.ts';
import { checkedJobOf } from '../../../policies/job.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { CONDITION_FIELDS, type Conditions } from '../../../policies/match/conditions.ts';
import type { Policy } from '../../../policies/policy.ts';
import { NO_CLASS, pricesAt, priceVersions, type RunnerClass } from '../../../policies/price.ts';
import type { Rule } from '../../../policies/rule.ts';
import { ASKED_BY, kindRow, LIMIT_KINDS } from '../../../policies/unit.ts';
import type { Documents } from './validate-command.ts';
import { entriesAt, entriesOf, entryOf, type WrittenEntry } from './written-document.ts';

/** A path below the rule or document it is about, and what is wrong there. */
type Warnings = Iterable<readonly [path: DocumentPath, message: string]>;

interface Checked {
  readonly policy: Policy;
  /** The policy as it was written. */
  readonly written: WrittenEntry;
  readonly documents: Documents;
  readonly nowMs: number;
  /** IANA zone of the deployment's days. */
  readonly usageZone: string;
  readonly rules: readonly CheckedRule[];
  readonly versions: ReturnType<typeof unreachableClasses>;
}

interface CheckedRule {
  readonly rule: Rule;
  readonly written: WrittenEntry;
}

/** Lists the warnings, `file:line:col path: message`, policy first. */
export function warningsOf(documents: Documents, nowMs: number, usageZone: string): readonly string[] {
  const { model: policy, document } = documents.policy;
  const entries = entriesAt(document.value, 'rules');
  const rules = policy.rules.map((rule) => ({ rule, written: entries[rule.order] ?? {} }));
  const written = entryOf(document.value);
  const versions = unreachableClasses(policy, nowMs);
  const checked: Checked = { policy, written, documents, nowMs, usageZone, rules, versions };
  const ofRules = rules.flatMap((each) =>
    ON_RULES.flatMap((find) =>
      [...find(each, checked)].map(([path, message]) => ({
        path: ['rules', each.rule.order, ...path],
        message,
      })),
    ),
  );
  const located = (find: (all: Checked) => Warnings) =>
    [...find(checked)].map(([path, message]) => ({ path, message }));
  return [
    ...[...located(onPolicy), ...located(onClasses), ...located(sameRules), ...ofRules].map(document.locate),
    ...located(onLimits).map(documents.limits.document.locate),
  ];
}

/** Version of drafted prices, which are all 0 until edited. */
export const PRICES_TO_FILL = 'to-be-filled';

function* onPolicy({ policy, written, documents }: Checked): Warnings {
  if (written.platform === undefined)
    yield [
      ['platform'],
      'is not there, so a rule could stop those who would have to mend it; name their groups and projects',
    ];
  // A list of versions was edited deliberately.
  if (!Array.isArray(written.prices) && policy.prices.version === PRICES_TO_FILL)
    for (const [at, { name }] of policy.prices.classes.entries())
      yield [
        ['prices', 'classes', at, 'rate_per_minute'],
        `the price of class ${name} is still to be filled in, so jobs there cost what is written and nobody meant it; write it, and another version than ${PRICES_TO_FILL} when all are`,
      ];
  // Classes whose jobs choose their own CPU and memory although these are priced or limited.
  const limits = [...documents.limits.model.bySubject.values()].flat();
  const isLimited = limits.some(({ kind }) => kindRow(kind).requested);
  const open = priceVersions(policy.prices)
    .flatMap(({ classes }) => classes)
    .filter(
      ({ footprint, overwrites }) => overwrites === undefined && (isLimited || footprint !== undefined),
    );
  const names = [...new Set(open.map(({ name }) => name))].join(', ');
  if (open.length > 0)
    yield [
      ['prices'],
      `of class ${names} it is not said which KUBERNETES_* sizes runners take from a job, so the larger of class and request counts; write overwrites: none, or the Runner's *_overwrite_max_allowed as tollgate policy import prints them`,
    ];
}

/** Reasons why classes of a price version have no jobs, by name: of the version in force and those to come. */
function unreachableClasses(policy: Policy, nowMs: number) {
  const all = priceVersions(policy.prices);
  const first = Math.max(0, all.indexOf(pricesAt(policy.prices, nowMs)));
  return all.slice(first).map(({ classes, defaultClass }, offset) => {
    const why = new Map<string, string>();
    for (const [index, each] of classes.entries()) {
      const reason = unreachableWhy(each, classes.slice(0, index));
      if (reason !== undefined && each.name !== defaultClass.name) why.set(each.name, reason);
    }
    return { index: first + offset, classes, why };
  });
}

function unreachableWhy(each: RunnerClass, before: readonly RunnerClass[]): string | undefined {
  if (each.runnerIds.size > 0) return undefined;
  if (each.tags.length === 0) return 'it names neither tags nor runner_ids';
  const earlier = before.find(({ tags }) => tags.length > 0 && tags.every((tag) => each.tags.includes(tag)));
  return earlier && `every runner with its tags is one of class ${earlier.name}, which stands before it`;
}

function* onClasses({ written, versions }: Checked): Warnings {
  const isDated = Array.isArray(written.prices);
  for (const { index: version, classes, why } of versions)
    for (const [index, { name }] of classes.entries()) {
      const reason = why.get(name);
      if (reason !== undefined)
        yield [
          ['prices', ...(isDated ? [version] : []), 'classes', index],
          `runner class ${name} has no jobs: ${reason}`,
        ];
    }
}

const ON_RULES: readonly ((each: CheckedRule, checked: Checked) => Warnings)[] = [
  jobsOfRule,
  exemptionsOfRule,
  freezeThatEnded,
  absentFields,
  dockerInDockerAsImage,
];

function* jobsOfRule({ written }: CheckedRule, { versions, documents }: Checked): Warnings {
  const { runner_classes: classes, groups } = entryOf(written.match);
  const names = entriesOf(classes).map(String);
  const isReachable = (name: string): boolean =>
    name === NO_CLASS ||
    versions.some(({ classes: all, why }) => all.some((each) => each.name === name && !why.has(name)));
  if (names.length > 0 && !names.some(isReachable))
    yield [['match', 'runner_classes'], `matches no job: ${names.join(', ')} has no jobs`];
  // A mistyped id would match no group without notice.
  for (const [index, group] of entriesOf(groups).entries()) {
    const id = typeof group === 'number' ? group : entryOf(group).id;
    if (typeof id === 'number' && !documents.directory.groupById.has(id))
      yield [['match', 'groups', index], notInDirectory(id)];
  }
}

const notInDirectory = (id: number): string => `group ${id} is not in the directory; is the id right?`;

function* sameRules({ rules }: Checked): Warnings {
  for (const [first, ...more] of Map.groupBy(rules, ({ written }) => meaningOf(written)).values())
    for (const { rule } of more)
      yield [['rules', rule.order], `rule ${rule.id} is the same as rule ${first?.rule.id}; keep one`];
}

/** Without the keys that do not change what a rule does to a job. */
const meaningOf = ({ id: _, message: __, ...keys }: WrittenEntry): string =>
  JSON.stringify(Object.entries(keys).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Leaves time to ask for an extension. */
const SOON_DAYS = 30;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

function* exemptionsOfRule(
  { rule, written }: CheckedRule,
  { written: policy, nowMs, usageZone }: Checked,
): Warnings {
  const all = entriesOf(written.exempt).map(entryOf);
  // The platform's own exemptions stand before those of the document.
  const parsed = rule.exempt.slice(rule.exempt.length - all.length);
  for (const [index, { until, zone, reason }] of all.entries()) {
    const path = ['exempt', index, 'until'];
    const name = `the exemption "${String(reason)}" of rule ${rule.id}`;
    const days = Math.ceil(((parsed[index]?.untilMs ?? Number.POSITIVE_INFINITY) - nowMs) / DAY_MS);
    if (days <= 0) yield [path, `${name} is over; take it out, or renew it`];
    else if (days <= SOON_DAYS) yield [path, `${name} ends in ${days} ${days === 1 ? 'day' : 'days'}`];
    const hasZone = (zone ?? policy.zone) !== undefined || usageZone === 'UTC';
    if (!hasZone && DAY.test(String(until)))
      yield [
        path,
        `${name} ends with a day of UTC, while days of this deployment are those of ${usageZone}; say zone, here or once above the rules`,
      ];
  }
}

/** Freezes whose windows all end in the past. Weekly ones (with days) never end. */
function* freezeThatEnded({ rule, written }: CheckedRule, { written: policy, nowMs }: Checked): Warnings {
  const windows = entriesOf(written.windows).map(entryOf);
  const zone = String(written.zone ?? policy.zone ?? 'UTC');
  const isOver = windows.every(({ days, until }) => {
    const endMs = readInstant(String(until), 'end', zone);
    return days === undefined && endMs !== undefined && endMs <= nowMs;
  });
  if (rule.kind === 'freeze' && windows.length > 0 && isOver)
    yield [['windows'], `the freeze ${rule.id} is over; take it out`];
}

/** Fields that a rule needs: of its conditions, and those that it reports missing for an empty job. */
export function fieldsNeeded(rule: Rule, policy: Policy): readonly string[] {
  const { not = {}, ...conditions } = rule.match;
  const matched = [...Object.keys(conditions), ...Object.keys(not)] as (keyof Conditions)[];
  return [...new Set([...matched.map((key) => CONDITION_FIELDS[key]), ...fieldsChecked(rule, policy)])];
}

function fieldsChecked(rule: Rule, policy: Policy): readonly string[] {
  if (!rule.stateless) return ['namespaceId'];
  try {
    const reasons = rule.check(checkedJobOf({ jobId: 1 }, { policy, nowMs: 0 }));
    return reasons.flatMap((reason) => (reason.code === 'FIELD_MISSING' ? [reason.field] : []));
  } catch {
    // A rule that fails has an `on_error`; it needs no field that could be named.
    return [];
  }
}

/** Optional settings of containers by kind of rule, with their default. */
const LEFT_OUT: Readonly<Partial<Record<Rule['kind'], string>>> = {
  'container-user': 'names no user, which its image then decides, and that often is root',
  'pull-policy': "names no pull policy, which the runner's configuration then decides",
};

/** Security rules that admit jobs without a field or setting they need, without saying so. */
function* absentFields({ rule, written }: CheckedRule, { policy }: Checked): Warnings {
  if (rule.class !== 'security' || rule.mode === 'off') return;
  const fields = fieldsNeeded(rule, policy);
  if (written.on_missing === undefined && fields.length > 0)
    yield [
      [],
      `rule ${rule.id} needs ${fields.join(', ')} and lets a job pass unchecked where GitLab sends none; write on_missing: skip, admit or reject`,
    ];
  const leftOut = LEFT_OUT[rule.kind];
  if (leftOut !== undefined && written.required === undefined)
    yield [
      [],
      `rule ${rule.id} lets a container pass that ${leftOut}, whatever on_missing says; write required: true or false`,
    ];
}

/** Docker in Docker that is rejected as a service and by no rule as the image of the job itself. */
function* dockerInDockerAsImage({ rule, written }: CheckedRule, { rules }: Checked): Warnings {
  const denies = (each: CheckedRule): boolean =>
    each.rule.mode !== 'off' && each.written.docker_in_docker === false;
  if (denies({ rule, written }) && !rules.some((each) => each.rule.kind === 'image' && denies(each)))
    yield [
      [],
      `rule ${rule.id} denies Docker in Docker for services alone; the image of the job itself is judged by docker_in_docker: false in a rule of kind image`,
    ];
}

/** Limits without effect: no rule applies them, or their group is unknown. */
function* onLimits({ policy, documents }: Checked): Warnings {
  const applied = new Set(policy.rules.filter(({ mode }) => mode !== 'off').map(({ kind }) => kind));
  for (const list of ['limits', 'group_defaults', 'personal_default'])
    for (const [index, limit] of entriesAt(documents.limits.document.value, list).entries()) {
      const kind = LIMIT_KINDS.find((each) => limit[each] !== undefined);
      const { group } = entryOf(limit.on);
      if (kind !== undefined && !applied.has(ASKED_BY[kind]))
        yield [[list, index, kind], `asks nothing: the policy has no rule of kind ${ASKED_BY[kind]}`];
      if (typeof group === 'number' && !documents.directory.groupById.has(group))
        yield [[list, index, 'on', 'group'], notInDirectory(group)];
    }
}

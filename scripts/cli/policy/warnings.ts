/** Entries of the documents that are valid and probably wrong. */
import { isDeepStrictEqual } from 'node:util';
import { readInstant } from '../../../policies/document/values.ts';
import { checkedJobOf } from '../../../policies/job.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { CONDITION_FIELDS, type Conditions } from '../../../policies/match/conditions.ts';
import type { Policy } from '../../../policies/policy.ts';
import { NO_CLASS, pricesAt, priceVersions, type RunnerClass } from '../../../policies/price.ts';
import { compareModes } from '../../../policies/rollout.ts';
import type { Rule } from '../../../policies/rule.ts';
import { ASKED_BY, kindRow, LIMIT_KINDS } from '../../../policies/unit.ts';
import type { Documents } from './validate-command.ts';
import {
  entriesAt,
  entriesOf,
  entryOf,
  rulesZone,
  type Warning,
  type WrittenEntry,
} from './written-document.ts';

/** The documents as parsed and as written. */
interface Checked {
  readonly policy: Policy;
  readonly policyDocument: unknown;
  readonly documents: Documents;
  readonly nowMs: number;
  /** IANA zone of the deployment's days. */
  readonly usageZone: string;
  /** Each rule with its entry in the document. */
  readonly rules: readonly { readonly rule: Rule; readonly written: WrittenEntry; readonly order: number }[];
}

/** Lists the warnings, `file:line:col path: message`, policy first. */
export function warningsOf(documents: Documents, nowMs: number, usageZone: string): readonly string[] {
  const { model: policy, document } = documents.policy;
  const entries = entriesAt(document.value, 'rules');
  const rules = policy.rules.map((rule) => ({
    rule,
    written: entries[rule.order] ?? {},
    order: rule.order,
  }));
  const checked = { policy, policyDocument: document.value, documents, nowMs, usageZone, rules };
  return [
    ...ON_POLICY.flatMap((find) => [...find(checked)]).map(document.locate),
    ...[...limitWarnings(checked)].map(documents.limits.document.locate),
  ];
}

type Finder = (checked: Checked) => Iterable<Warning>;

const ON_POLICY: readonly Finder[] = [
  noPlatform,
  pricesToFill,
  openOverwrites,
  classesWithoutJobs,
  rulesWithoutJobs,
  rulesWithoutEffect,
  exemptionsThatEnd,
  daysOfOtherZone,
  freezesThatEnded,
  absentFields,
  unnamedSettings,
  dockerInDockerAsImage,
];

function* noPlatform({ policyDocument }: Checked): Iterable<Warning> {
  if (entryOf(policyDocument).platform === undefined)
    yield {
      path: ['platform'],
      message:
        'is not there, so a rule could stop those who would have to mend it; name their groups and projects',
    };
}

/** Version of drafted prices, which are all 0 until edited. */
export const PRICES_TO_FILL = 'to-be-filled';

/** Unedited prices of tollgate init: money limits count nothing by them. */
function* pricesToFill({ policy, policyDocument }: Checked): Iterable<Warning> {
  // A list of versions was edited deliberately.
  const isDated = Array.isArray(entryOf(policyDocument).prices);
  if (isDated || policy.prices.version !== PRICES_TO_FILL) return;
  for (const [at, { name }] of policy.prices.classes.entries())
    yield {
      path: ['prices', 'classes', at, 'rate_per_minute'],
      message: `the price of class ${name} is still to be filled in, so jobs there cost what is written and nobody meant it; write it, and another version than ${PRICES_TO_FILL} when all are`,
    };
}

/** Classes whose jobs choose their own CPU and memory although these are priced or limited. */
function* openOverwrites({ policy, documents }: Checked): Iterable<Warning> {
  const limits = [...documents.limits.model.bySubject.values()].flat();
  const isLimited = limits.some(({ kind }) => kindRow(kind).requested);
  const open = priceVersions(policy.prices).flatMap(({ classes }) =>
    classes.filter(
      ({ footprint, overwrites }) => overwrites === undefined && (isLimited || footprint !== undefined),
    ),
  );
  if (open.length === 0) return;
  const names = [...new Set(open.map(({ name }) => name))].join(', ');
  const message = `of class ${names} it is not said which KUBERNETES_* sizes runners take from a job, so the larger of class and request counts; write overwrites: none, or the Runner's *_overwrite_max_allowed as tollgate policy import prints them`;
  yield { path: ['prices'], message };
}

/** Reasons why classes of a price version have no jobs, by name. */
function unreachableClasses({ policy, nowMs }: Checked) {
  const all = priceVersions(policy.prices);
  // The version in force and those to come.
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

function* classesWithoutJobs(checked: Checked): Iterable<Warning> {
  const isDated = Array.isArray(entryOf(checked.policyDocument).prices);
  for (const { index: version, classes, why } of unreachableClasses(checked))
    for (const [index, { name }] of classes.entries()) {
      const reason = why.get(name);
      const path = ['prices', ...(isDated ? [version] : []), 'classes', index];
      if (reason !== undefined) yield { path, message: `runner class ${name} has no jobs: ${reason}` };
    }
}

function* rulesWithoutJobs(checked: Checked): Iterable<Warning> {
  const { groupById } = checked.documents.directory;
  const reachable = new Set([NO_CLASS]);
  for (const { classes, why } of unreachableClasses(checked))
    for (const { name } of classes) if (!why.has(name)) reachable.add(name);
  for (const [order, rule] of entriesAt(checked.policyDocument, 'rules').entries()) {
    const match = entryOf(rule.match);
    const at = ['rules', order, 'match'];
    for (const [key, left] of Object.entries(entryOf(match.not))) {
      const wanted = match[key];
      const isEmptied = Array.isArray(wanted)
        ? wanted.every((one) => entriesOf(left).some((other) => isDeepStrictEqual(one, other)))
        : wanted !== undefined && wanted === left;
      const message = `leaves no job: not.${key} names all that ${key} names`;
      if (isEmptied) yield { path: [...at, 'not', key], message };
    }
    const names = entriesOf(match.runner_classes).map(String);
    if (names.length > 0 && !names.some((name) => reachable.has(name)))
      yield { path: [...at, 'runner_classes'], message: `matches no job: ${names.join(', ')} has no jobs` };
    // A mistyped id would match no group without notice.
    for (const [index, group] of entriesOf(match.groups).entries()) {
      const id = typeof group === 'number' ? group : entryOf(group).id;
      if (typeof id === 'number' && !groupById.has(id))
        yield { path: [...at, 'groups', index], message: notInDirectory(id) };
    }
  }
}

const notInDirectory = (id: number): string => `group ${id} is not in the directory; is the id right?`;

/** Keys that do not change what a rule does to a job. */
const LABELS: ReadonlySet<string> = new Set(['id', 'message']);

/** Rules that repeat another one, or that a stricter one decides for. */
function* rulesWithoutEffect({ rules }: Checked): Iterable<Warning> {
  const seen = new Map<string, Rule>();
  const ofEveryJob = rules.filter(
    ({ rule, written }) =>
      !rule.stateless && isDeepStrictEqual(rule.match, {}) && written.exempt === undefined,
  );
  for (const { rule, written, order } of rules) {
    const meaning = Object.entries(written)
      .filter(([key]) => !LABELS.has(key))
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const key = JSON.stringify(meaning);
    const first = seen.get(key);
    const path = ['rules', order];
    if (first !== undefined) {
      yield { path, message: `rule ${rule.id} is the same as rule ${first.id}; keep one` };
      continue;
    }
    seen.set(key, rule);
    const stricter = ofEveryJob.find((other) => appliesLimitsOf(other.rule, rule))?.rule;
    if (stricter === undefined) continue;
    const why = `rule ${stricter.id} asks the same limits of every job, in mode ${stricter.mode}`;
    yield { path, message: `rule ${rule.id} decides nothing: ${why}` };
  }
}

/** A limit applies once per job, by the strictest rule of its kind. @param other - a rule about every job. */
function appliesLimitsOf(other: Rule, rule: Rule): boolean {
  if (other === rule || other.kind !== rule.kind || rule.mode === 'off') return false;
  // The platform's jobs are exempt from rules that do not bind it.
  if (other.exempt.length > 0 && rule.exempt.length === 0) return false;
  const further = compareModes(other.mode, rule.mode);
  return further > 0 || (further === 0 && !isDeepStrictEqual(rule.match, {}));
}

/** Leaves time to ask for an extension. */
const SOON_DAYS = 30;

function* exemptionsThatEnd({ rules, nowMs }: Checked): Iterable<Warning> {
  for (const { rule, written, order } of rules) {
    // The platform's own exemptions stand before those of the document.
    const first = rule.exempt.length - entriesOf(written.exempt).length;
    for (const [index, { untilMs, reason }] of rule.exempt.slice(first).entries()) {
      if (untilMs === undefined || untilMs > nowMs + SOON_DAYS * DAY_MS) continue;
      const days = Math.ceil((untilMs - nowMs) / DAY_MS);
      const end =
        days <= 0
          ? 'is over; take it out, or renew it'
          : days === 1
            ? 'ends within a day'
            : `ends in ${days} days`;
      const path = ['rules', order, 'exempt', index, 'until'];
      yield { path, message: `the exemption "${reason}" of rule ${rule.id} ${end}` };
    }
  }
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Exemptions that end on a UTC day by default, while the deployment has another zone. */
function* daysOfOtherZone({ policyDocument, usageZone }: Checked): Iterable<Warning> {
  if (usageZone === 'UTC' || entryOf(policyDocument).zone !== undefined) return;
  for (const [order, rule] of entriesAt(policyDocument, 'rules').entries())
    for (const [index, { until, zone, reason }] of entriesOf(rule.exempt).map(entryOf).entries())
      if (zone === undefined && typeof until === 'string' && DAY.test(until))
        yield {
          path: ['rules', order, 'exempt', index, 'until'],
          message: `the exemption "${String(reason)}" of rule ${String(rule.id)} ends with a day of UTC, while days of this deployment are those of ${usageZone}; say zone, here or once above the rules`,
        };
}

/** Freezes whose windows all end in the past. Weekly ones (with days) never end. */
function* freezesThatEnded({ policyDocument, nowMs }: Checked): Iterable<Warning> {
  for (const [order, rule] of entriesAt(policyDocument, 'rules').entries()) {
    const windows = entriesOf(rule.windows).map(entryOf);
    if (rule.kind !== 'freeze' || windows.length === 0) continue;
    const zone = typeof rule.zone === 'string' ? rule.zone : rulesZone(policyDocument);
    const isOver = windows.every(({ days, until }) => {
      const endMs = typeof until === 'string' ? readInstant(until, 'end', zone) : undefined;
      return days === undefined && endMs !== undefined && endMs <= nowMs;
    });
    const message = `the freeze ${String(rule.id)} is over; take it out`;
    if (isOver) yield { path: ['rules', order, 'windows'], message };
  }
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

/** Security rules that admit jobs without a field they need, without an explicit setting. */
function* absentFields({ policy, rules }: Checked): Iterable<Warning> {
  for (const { rule, written, order } of rules) {
    if (rule.class !== 'security' || rule.mode === 'off' || written.on_missing !== undefined) continue;
    const fields = fieldsNeeded(rule, policy);
    const message = `rule ${rule.id} needs ${fields.join(', ')} and lets a job pass unchecked where GitLab sends none; write on_missing: skip, admit or reject`;
    if (fields.length > 0) yield { path: ['rules', order], message };
  }
}

/** Optional settings of containers by kind of rule, with their default. */
const LEFT_OUT: Readonly<Partial<Record<Rule['kind'], string>>> = {
  'container-user': 'names no user, which its image then decides, and that often is root',
  'pull-policy': "names no pull policy, which the runner's configuration then decides",
};

/** Security rules that admit containers without a setting, without saying so. */
function* unnamedSettings({ rules }: Checked): Iterable<Warning> {
  for (const { rule, written, order } of rules) {
    const leftOut = LEFT_OUT[rule.kind];
    if (rule.mode === 'off' || leftOut === undefined || written.required !== undefined) continue;
    const message = `rule ${rule.id} lets a container pass that ${leftOut}, whatever on_missing says; write required: true or false`;
    yield { path: ['rules', order], message };
  }
}

/** Docker in Docker that is rejected as a service and by no rule as the image of the job itself. */
function* dockerInDockerAsImage({ rules }: Checked): Iterable<Warning> {
  const denying = rules.filter(
    ({ rule, written }) => rule.mode !== 'off' && written.docker_in_docker === false,
  );
  if (denying.some(({ rule }) => rule.kind === 'image')) return;
  for (const { rule, order } of denying)
    yield {
      path: ['rules', order],
      message: `rule ${rule.id} denies Docker in Docker for services alone; the image of the job itself is judged by docker_in_docker: false in a rule of kind image`,
    };
}

/** Lists of limits in limits.yaml. */
const LIMIT_LISTS = ['limits', 'group_defaults', 'personal_default'] as const;

/** Limits without effect: no rule applies them, or their group is unknown. */
function* limitWarnings({ policy, documents }: Checked): Iterable<Warning> {
  const applied = new Set(policy.rules.filter(({ mode }) => mode !== 'off').map(({ kind }) => kind));
  for (const list of LIMIT_LISTS)
    for (const [index, limit] of entriesAt(documents.limits.document.value, list).entries()) {
      const kind = LIMIT_KINDS.find((each) => limit[each] !== undefined);
      const { group } = entryOf(limit.on);
      if (kind !== undefined && !applied.has(ASKED_BY[kind]))
        yield {
          path: [list, index, kind],
          message: `asks nothing: the policy has no rule of kind ${ASKED_BY[kind]}`,
        };
      if (typeof group === 'number' && !documents.directory.groupById.has(group))
        yield { path: [list, index, 'on', 'group'], message: notInDirectory(group) };
    }
}

import { isDeepStrictEqual } from 'node:util';
import { readInstant } from '../../../policies/document/values.ts';
import { checkedJobOf } from '../../../policies/job.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { CONDITION_FIELDS, type Conditions } from '../../../policies/match/conditions.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Policy } from '../../../policies/policy.ts';
import {
  NO_CLASS,
  type PriceTable,
  pricesAt,
  priceVersions,
  type RunnerClass,
} from '../../../policies/prices/price.ts';
import { compareModes } from '../../../policies/rollout.ts';
import type { Rule } from '../../../policies/rule.ts';
import { ASKED_BY, kindRow, LIMIT_KINDS } from '../../../policies/units/unit.ts';
import type { Documents } from './validate-command.ts';
import {
  entriesAt,
  entriesOf,
  entryOf,
  rulesZone,
  type Warning,
  type WrittenDocuments,
  type WrittenEntry,
} from './written-document.ts';

/** Lists valid but probably wrong entries, `file:line:col path: message`, policy first. */
export function warningsOf(
  documents: Documents,
  { nowMs, usageZone }: Pick<WrittenDocuments, 'nowMs' | 'usageZone'>,
): readonly string[] {
  const { policy, limits, directory } = documents;
  const written: WrittenDocuments = {
    policy: policy.model,
    policyDocument: policy.document.value,
    limits: limits.model,
    limitsDocument: limits.document.value,
    directory,
    nowMs,
    usageZone,
  };
  const onPolicy = [
    noPlatform,
    pricesToFill,
    openOverwrites,
    neverMatch,
    shadowed,
    exemptionEnds,
    daysOfOtherZone,
    freezeEnds,
    absentFields,
    unnamed,
    enginesOfServices,
  ];
  return [
    ...onPolicy.flatMap((find) => find(written)).map(policy.document.locate),
    ...limitWarnings(written).map(limits.document.locate),
  ];
}

function noPlatform({ policyDocument }: WrittenDocuments): readonly Warning[] {
  if (entryOf(policyDocument).platform !== undefined) return [];
  const message =
    'is not there, so a rule could stop those who would have to mend it; name their groups and projects';
  return [{ path: ['platform'], message }];
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

/** Lists security rules that pass jobs without such a field, without an explicit setting. */
export function absentFields({ policy, policyDocument }: WrittenDocuments): readonly Warning[] {
  const written = entriesAt(policyDocument, 'rules');
  return policy.rules.flatMap((rule): Warning[] => {
    if (rule.class !== 'security' || rule.mode === 'off') return [];
    if (written[rule.order]?.on_missing !== undefined) return [];
    const fields = fieldsNeeded(rule, policy);
    if (fields.length === 0) return [];
    const message = `rule ${rule.id} needs ${fields.join(', ')} and lets a job pass unchecked where GitLab sends none; write on_missing: skip, admit or reject`;
    return [{ path: ['rules', rule.order], message }];
  });
}

/** Optional settings of containers by kind of rule, with their default. */
const LEFT_OUT = {
  'container-user': 'names no user, which its image then decides, and that often is root',
  'pull-policy': "names no pull policy, which the runner's configuration then decides",
} as const;

/** Lists security rules that pass unset values, without an explicit setting. */
export function unnamed({ policy, policyDocument }: WrittenDocuments): readonly Warning[] {
  const written = entriesAt(policyDocument, 'rules');
  return policy.rules.flatMap((rule): Warning[] => {
    if (rule.mode === 'off' || (rule.kind !== 'container-user' && rule.kind !== 'pull-policy')) return [];
    if (written[rule.order]?.required !== undefined) return [];
    const message = `rule ${rule.id} lets a container pass that ${LEFT_OUT[rule.kind]}, whatever on_missing says; write required: true or false`;
    return [{ path: ['rules', rule.order], message }];
  });
}

/** Keys that say nothing about what a rule does to a job. */
const LABELS: ReadonlySet<string> = new Set(['id', 'message']);

/** Rules that say what another one says already. */
export function shadowed({ policy, policyDocument }: WrittenDocuments): readonly Warning[] {
  const entries = entriesAt(policyDocument, 'rules');
  const written = entries.map(meaning);
  const seen = new Map<string, Rule>();
  const ofEveryJob = policy.rules.filter(
    (rule) =>
      !rule.stateless && isDeepStrictEqual(rule.match, {}) && entries[rule.order]?.exempt === undefined,
  );
  return policy.rules.flatMap((rule): Warning[] => {
    const key = JSON.stringify(written[rule.order] ?? {});
    const first = seen.get(key);
    if (first === undefined) seen.set(key, rule);
    const path = ['rules', rule.order];
    if (first !== undefined)
      return [{ path, message: `rule ${rule.id} is the same as rule ${first.id}; keep one` }];
    const stricter = ofEveryJob.find((other) => switchesOnMore(other, rule));
    if (stricter === undefined) return [];
    const why = `rule ${stricter.id} asks the same limits of every job, in mode ${stricter.mode}`;
    return [{ path, message: `rule ${rule.id} decides nothing: ${why}` }];
  });
}

const meaning = (rule: Readonly<Record<string, unknown>>): readonly unknown[] =>
  Object.entries(rule)
    .filter(([key]) => !LABELS.has(key))
    .sort(([a], [b]) => (a < b ? -1 : 1));

/** A limit is asked once per job, by the strictest rule of its kind. @param other - a rule that asks about every job. */
function switchesOnMore(other: Rule, rule: Rule): boolean {
  if (other === rule || other.kind !== rule.kind || rule.mode === 'off') return false;
  // The platform's jobs are exempt from rules that do not bind it.
  if (other.exempt.length > 0 && rule.exempt.length === 0) return false;
  const further = compareModes(other.mode, rule.mode);
  return further > 0 || (further === 0 && !isDeepStrictEqual(rule.match, {}));
}

/** Lists rules and runner classes that no job can match. Expired prices are ignored. */
export function neverMatch(written: WrittenDocuments): readonly Warning[] {
  const { policy, directory, nowMs } = written;
  const versions = versionsFrom(policy.prices, nowMs);
  const dated = Array.isArray(entryOf(written.policyDocument).prices);
  const classes = versions.flatMap(({ classes: all, unreachable, index: at }) =>
    all.flatMap(({ name }, index): Warning[] => {
      const why = unreachable.get(name);
      const path = ['prices', ...(dated ? [at] : []), 'classes', index];
      return why === undefined ? [] : [{ path, message: `runner class ${name} has no jobs: ${why}` }];
    }),
  );
  const reachable = new Set(
    versions.flatMap(({ classes: all, unreachable }) =>
      all.flatMap(({ name }) => (unreachable.has(name) ? [] : [name])),
    ),
  ).add(NO_CLASS);
  const rules = entriesAt(written.policyDocument, 'rules').flatMap((rule, order) => {
    const match = entryOf(rule.match);
    return [
      ...emptiedByNot(match, order),
      ...onlyUnreachable(match, order, reachable),
      ...unknownGroups(match, order, directory),
    ];
  });
  return [...classes, ...rules];
}

/** A version of the prices, and why some of its classes have no jobs. */
interface Version {
  readonly index: number;
  readonly classes: readonly RunnerClass[];
  readonly unreachable: ReadonlyMap<string, string>;
}

/** The version in force and those to come. */
function versionsFrom(prices: PriceTable, nowMs: number): readonly Version[] {
  const inForce = pricesAt(prices, nowMs);
  const all = priceVersions(prices);
  const first = Math.max(0, all.indexOf(inForce));
  return all.slice(first).map(({ classes, defaultClass }, offset) => ({
    index: first + offset,
    classes,
    unreachable: unreachableOf(classes, defaultClass),
  }));
}

const unreachableOf = (
  classes: readonly RunnerClass[],
  defaultClass: RunnerClass,
): ReadonlyMap<string, string> =>
  new Map(
    classes.flatMap((each, index) => {
      const why = unreachableWhy(each, classes.slice(0, index));
      return why === undefined || each.name === defaultClass.name ? [] : [[each.name, why] as const];
    }),
  );

function unreachableWhy(each: RunnerClass, before: readonly RunnerClass[]): string | undefined {
  if (each.runnerIds.size > 0) return undefined;
  if (each.tags.length === 0) return 'it names neither tags nor runner_ids';
  const earlier = before.find(({ tags }) => tags.length > 0 && tags.every((tag) => each.tags.includes(tag)));
  return earlier && `every runner with its tags is one of class ${earlier.name}, which stands before it`;
}

/** `not` names all that the condition names. */
function emptiedByNot(match: WrittenEntry, order: number): readonly Warning[] {
  const not = entryOf(match.not);
  return Object.entries(not).flatMap(([key, left]): Warning[] => {
    const wanted = match[key];
    const emptied = Array.isArray(wanted)
      ? wanted.every((one) => entriesOf(left).some((other) => isDeepStrictEqual(one, other)))
      : wanted !== undefined && wanted === left;
    const path = ['rules', order, 'match', 'not', key];
    return emptied ? [{ path, message: `leaves no job: not.${key} names all that ${key} names` }] : [];
  });
}

function onlyUnreachable(
  match: WrittenEntry,
  order: number,
  reachable: ReadonlySet<string>,
): readonly Warning[] {
  const names = entriesOf(match.runner_classes).map(String);
  if (names.length === 0 || names.some((name) => reachable.has(name))) return [];
  return [
    {
      path: ['rules', order, 'match', 'runner_classes'],
      message: `matches no job: ${names.join(', ')} has no jobs`,
    },
  ];
}

/** A mistyped id matches no group, unnoticed. */
function unknownGroups(match: WrittenEntry, order: number, { groupById }: Directory): readonly Warning[] {
  return entriesOf(match.groups).flatMap((group, index): Warning[] => {
    const id = typeof group === 'number' ? group : entryOf(group).id;
    if (typeof id !== 'number' || groupById.has(id)) return [];
    return [
      {
        path: ['rules', order, 'match', 'groups', index],
        message: `group ${id} is not in the directory; is the id right?`,
      },
    ];
  });
}

/** Lists of limits in limits.yaml. */
const LISTS = ['limits', 'group_defaults', 'personal_default'] as const;

/** Limits that ask nothing: no rule switches them on, or their group is not there. */
export function limitWarnings(written: WrittenDocuments): readonly Warning[] {
  const { policy, directory } = written;
  const asked = new Set(policy.rules.filter(({ mode }) => mode !== 'off').map(({ kind }) => kind));
  return LISTS.flatMap((list) =>
    entriesAt(written.limitsDocument, list).flatMap((limit, index): Warning[] => {
      const kind = LIMIT_KINDS.find((each) => limit[each] !== undefined);
      const { group } = entryOf(limit.on);
      const warnings: Warning[] = [];
      if (kind !== undefined && !asked.has(ASKED_BY[kind])) {
        const message = `asks nothing: the policy has no rule of kind ${ASKED_BY[kind]}`;
        warnings.push({ path: [list, index, kind], message });
      }
      if (typeof group === 'number' && !directory.groupById.has(group)) {
        const message = `group ${group} is not in the directory; is the id right?`;
        warnings.push({ path: [list, index, 'on', 'group'], message });
      }
      return warnings;
    }),
  );
}

/** Warns about classes whose jobs choose their own CPU and memory where these are priced or limited. */
export function openOverwrites({ policy, limits }: WrittenDocuments): readonly Warning[] {
  const isLimited = [...limits.bySubject.values()].flat().some(({ kind }) => kindRow(kind).requested);
  const open = priceVersions(policy.prices).flatMap(({ classes }) =>
    classes.filter(
      ({ footprint, overwrites }) => overwrites === undefined && (isLimited || footprint !== undefined),
    ),
  );
  if (open.length === 0) return [];
  const names = [...new Set(open.map(({ name }) => name))].join(', ');
  const message = `of class ${names} it is not said which KUBERNETES_* sizes runners take from a job, so the larger of class and request counts; write overwrites: none, or the Runner's *_overwrite_max_allowed as tollgate policy import prints them`;
  return [{ path: ['prices'], message }];
}

/** Version of drafted prices, which are all 0 until edited. */
export const PRICES_TO_FILL = 'to-be-filled';

/** Finds unedited prices of tollgate init: money limits count nothing by them. */
export function pricesToFill({ policy, policyDocument }: WrittenDocuments): readonly Warning[] {
  const { prices } = entryOf(policyDocument);
  // A list of versions was edited deliberately.
  if (Array.isArray(prices) || policy.prices.version !== PRICES_TO_FILL) return [];
  return policy.prices.classes.map(({ name }, at) => ({
    path: ['prices', 'classes', at, 'rate_per_minute'],
    message: `the price of class ${name} is still to be filled in, so jobs there cost what is written and nobody meant it; write it, and another version than ${PRICES_TO_FILL} when all are`,
  }));
}

/** Soon enough to ask for more time. */
const SOON_DAYS = 30;

/** Exemptions that are over, or will be within 30 days. */
export function exemptionEnds({ policy, policyDocument, nowMs }: WrittenDocuments): readonly Warning[] {
  const rules = entriesAt(policyDocument, 'rules');
  return policy.rules.flatMap((rule) => {
    const written = entriesOf(rules[rule.order]?.exempt).length;
    // The platform's own exemptions stand before those of the document.
    const first = rule.exempt.length - written;
    return rule.exempt.slice(first).flatMap(({ untilMs, reason }, index): Warning[] => {
      const path = ['rules', rule.order, 'exempt', index, 'until'];
      if (untilMs === undefined || untilMs > nowMs + SOON_DAYS * DAY_MS) return [];
      if (untilMs <= nowMs)
        return [
          { path, message: `the exemption "${reason}" of rule ${rule.id} is over; take it out, or renew it` },
        ];
      const days = Math.ceil((untilMs - nowMs) / DAY_MS);
      const left = days === 1 ? 'within a day' : `in ${days} days`;
      return [{ path, message: `the exemption "${reason}" of rule ${rule.id} ends ${left}` }];
    });
  });
}

/** Freezes that are over: all their windows end in the past. Weekly ones (with days) never end. */
export function freezeEnds({ policyDocument, nowMs }: WrittenDocuments): readonly Warning[] {
  return entriesAt(policyDocument, 'rules').flatMap((rule, order): Warning[] => {
    const windows = entriesOf(rule.windows).map(entryOf);
    if (rule.kind !== 'freeze' || windows.length === 0) return [];
    const zone = typeof rule.zone === 'string' ? rule.zone : rulesZone(policyDocument);
    const isOver = windows.every(({ days, until }) => {
      const endMs = typeof until === 'string' ? readInstant(until, 'end', zone) : undefined;
      return days === undefined && endMs !== undefined && endMs <= nowMs;
    });
    if (!isOver) return [];
    return [
      { path: ['rules', order, 'windows'], message: `the freeze ${String(rule.id)} is over; take it out` },
    ];
  });
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Lists exemptions that end on a UTC day by default, while the deployment has another zone. */
export function daysOfOtherZone({ policyDocument, usageZone }: WrittenDocuments): readonly Warning[] {
  if (usageZone === 'UTC' || entryOf(policyDocument).zone !== undefined) return [];
  return entriesAt(policyDocument, 'rules').flatMap((rule, order) =>
    entriesOf(rule.exempt)
      .map(entryOf)
      .flatMap(({ until, zone, reason }, index): Warning[] => {
        if (zone !== undefined || typeof until !== 'string' || !DAY.test(until)) return [];
        return [
          {
            path: ['rules', order, 'exempt', index, 'until'],
            message: `the exemption "${String(reason)}" of rule ${String(rule.id)} ends with a day of UTC, while days of this deployment are those of ${usageZone}; say zone, here or once above the rules`,
          },
        ];
      }),
  );
}

/** Docker in Docker that is refused as a service and by no rule as the image of the job itself. */
export function enginesOfServices({ policy, policyDocument }: WrittenDocuments): readonly Warning[] {
  const written = entriesAt(policyDocument, 'rules');
  const denying = policy.rules.filter(
    ({ mode, order }) => mode !== 'off' && written[order]?.docker_in_docker === false,
  );
  if (denying.some(({ kind }) => kind === 'image')) return [];
  return denying.map(({ id, order }) => ({
    path: ['rules', order],
    message: `rule ${id} denies Docker in Docker for services alone; the image of the job itself is judged by docker_in_docker: false in a rule of kind image`,
  }));
}

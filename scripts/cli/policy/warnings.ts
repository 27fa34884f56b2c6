/** Warns of valid entries that lock people out or can never match. */
import type { DocumentPath } from '../../../policies/document/reading.ts';
import { readInstant } from '../../../policies/document/values.ts';
import { NO_CLASS, pricesAt, priceVersions, type RunnerClass } from '../../../policies/price.ts';
import { ASKED_BY, LIMIT_KINDS } from '../../../policies/unit.ts';
import type { Documents } from './validate-command.ts';
import { entriesAt, entriesOf, entryOf } from './written-document.ts';

type Warnings = Iterable<readonly [path: DocumentPath, message: string]>;

export function warningsOf(documents: Documents, nowMs: number): readonly string[] {
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

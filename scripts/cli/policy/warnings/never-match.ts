import { isDeepStrictEqual } from 'node:util';
import type { Directory } from '../../../../policies/place/directory.ts';
import {
  NO_CLASS,
  type PriceTable,
  pricesAt,
  priceVersions,
  type RunnerClass,
} from '../../../../policies/prices/price.ts';
import {
  entriesAt,
  entriesOf,
  entryOf,
  type Warning,
  type WrittenDocuments,
  type WrittenEntry,
} from './warning.ts';

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

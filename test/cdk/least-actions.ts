import { describe, expect, test } from 'vitest';
import { DEFAULTS, PRIVATE, type Resource, SEVERAL, type Synthesized, synthesize } from './synthesized.ts';
import { WILDCARDS } from './wildcards.ts';

interface Statement {
  readonly where: string;
  readonly actions: readonly string[];
  readonly resources: unknown;
}

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

/** Statements of every document in the resource, whatever its property is called. */
function statementsIn(where: string, value: unknown): readonly Statement[] {
  if (typeof value !== 'object' || value === null) return [];
  const document = value as { readonly Statement?: unknown };
  const own = asList(document.Statement ?? []).flatMap((each) => {
    const { Effect, Action, Resource: resources } = each as Readonly<Record<string, unknown>>;
    return Effect === 'Allow' ? [{ where, actions: asList(Action).map(String), resources }] : [];
  });
  return [...own, ...Object.values(value).flatMap((each) => statementsIn(where, each))];
}

const hasStar = ({ actions, resources }: Statement): boolean =>
  actions.some((action) => action.includes('*')) || (JSON.stringify(resources) ?? '').includes('*');

/** One action at a time: the library merges statements on the same resources. */
const isExplained = ({ where, actions }: Statement): boolean =>
  actions.every((action) =>
    WILDCARDS.some(([allowed, place]) => place.test(where) && allowed.includes(action)),
  );

const statementsOf = ({ stacks }: Synthesized): readonly Statement[] =>
  stacks.flatMap(({ name, template }) =>
    Object.entries(template.Resources).flatMap(([id, { Properties }]) =>
      statementsIn(`${name}/${id}`, Properties),
    ),
  );

const all = Object.entries({ DEFAULTS, PRIVATE, SEVERAL }).map(
  ([name, each]) => [name, synthesize(each)] as const,
);

describe.each(all)('rights in %s', (_, synthesized) => {
  test('no statement allows a * that nobody explains', () => {
    const statements = statementsOf(synthesized);
    expect(statements.length).toBeGreaterThan(10);
    expect(statements.filter((each) => hasStar(each) && !isExplained(each))).toEqual([]);
  });

  test('no role takes a policy that somebody else may widen', () => {
    const roles: readonly (readonly [string, Resource])[] = synthesized.resources('AWS::IAM::Role');
    expect(roles.filter(([, { Properties }]) => Properties.ManagedPolicyArns !== undefined)).toEqual([]);
  });
});

test('no explanation outlives its *', () => {
  const starred = all.flatMap(([, each]) => statementsOf(each).filter(hasStar));
  const idle = WILDCARDS.filter(([actions, where]) =>
    actions.some(
      (action) => !starred.some((each) => where.test(each.where) && each.actions.includes(action)),
    ),
  );
  expect(idle).toEqual([]);
});

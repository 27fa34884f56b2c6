import { expect, test } from 'vitest';
import { aPolicy, policyDocument, problemsOfPolicy } from '../documents.ts';

const rule = (parts: object): object =>
  policyDocument({ rules: [{ id: 'r', kind: 'budget', mode: 'enforce', ...parts }] });
const image = (parts: object): object => rule({ kind: 'image', allow: ['a'], ...parts });

test('every problem of a document is named at once, each beginning with its path', () => {
  const document = policyDocument({
    currency: 'euro',
    trust_variables: 'yes',
    rules: [
      { id: 'Budget', kind: 'budget', mode: 'hard' },
      {
        id: 'b',
        kind: 'image',
        mode: 'enforce',
        allow: ['a['],
        match: { groups: ['x', 0, { id: 5, subtre: false }] },
      },
      { id: 'b', kind: 'concurrency', mode: 'off' },
    ],
  });
  expect(problemsOfPolicy(document)).toEqual([
    "currency: 'euro'; expected a currency code such as EUR",
    "rules[0].id: 'Budget'; expected a name of small letters, digits, dots, dashes and underscores, at most 64",
    "rules[0].mode: 'hard'; expected a mode: off, shadow, warn, enforce",
    'rules[1].match.groups[1]: 0; expected a group id, a path or {id, subtree}',
    'rules[1].match.groups[2].subtre: unknown key; did you mean subtree?',
    "rules[1].allow[0]: 'a[' has a '[' without its ']'; write '\\[' for the character itself",
    "rules[2].id: 'b'; expected id to be named once",
    "trust_variables: 'yes'; expected true or false",
  ]);
});

test.each<[unknown, string]>([
  [undefined, 'document: missing; expected an object'],
  [policyDocument({ ruels: [] }), 'ruels: unknown key; did you mean rules?'],
  [rule({ allow: ['a'] }), 'rules[0].allow: unknown key'],
  [
    rule({ class: 'security' }),
    "rules[0].class: 'security'; expected a class for kind budget: cost, capacity",
  ],
  [image({ alow: ['a'] }), 'rules[0].alow: unknown key; did you mean allow?'],
  [
    policyDocument({
      prices: { version: '1', classes: [{ name: 'a', rate_per_minute: 1 }], default_class: 'b' },
    }),
    "prices.default_class: 'b'; expected one of the classes: a",
  ],
  [
    policyDocument({
      prices: { version: '1', classes: [{ name: 'a', rate_per_minute: '10001' }], default_class: 'a' },
    }),
    "prices.classes[0].rate_per_minute: '10001'; expected at most 10000 a minute",
  ],
  [
    policyDocument({ variables: ['CI_JOB_TOKEN'] }),
    "variables[0]: 'CI_JOB_TOKEN'; expected no name that looks like a secret",
  ],
  [policyDocument({ rollout: { days: 29 } }), 'rollout.days: 29; expected days with jobs, at most 28'],
  [
    policyDocument({
      disclose: {
        groups: [
          { group: 1, levels: 'all' },
          { group: 1, levels: 'none' },
        ],
      },
    }),
    'disclose.groups[1].group: 1; expected group to be named once',
  ],
])('%j is refused with place and remedy', (document, problem) => {
  const problems = problemsOfPolicy(document);
  expect(
    problems.some((each) => each.startsWith(problem)),
    problems.join('\n'),
  ).toBe(true);
});

test('what is left out has its documented default', () => {
  const policy = aPolicy({
    rules: [
      { id: 'b', kind: 'budget', mode: 'shadow' },
      { id: 'c', kind: 'concurrency', mode: 'shadow' },
      { id: 'i', kind: 'image', mode: 'shadow', deny: ['x'] },
    ],
  });
  expect(policy.rules.map((each) => [each.class, each.onMissing, each.onError])).toEqual([
    ['cost', 'skip', 'open'],
    ['capacity', 'skip', 'open'],
    ['security', 'skip', 'closed'],
  ]);
  expect(policy.rules[2]).toMatchObject({ stateless: true, exempt: [] });
  expect(policy.estimate).toEqual({ defaultSeconds: 600, timeoutSeconds: 3_600 });
  expect(policy.disclose.default).toBe('binding');
  expect(policy.trustVariables).toBe(false);
});

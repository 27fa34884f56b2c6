import { expect, test } from 'vitest';
import { parsePolicy } from '../../../policies/document/parse-policy.ts';
import { problemText } from '../../../policies/document/reading.ts';
import { aPolicy, policyDocument } from '../documents.ts';

const problemsOf = (document: unknown): readonly string[] => {
  const parsed = parsePolicy(document, 'v');
  return parsed.ok ? [] : parsed.problems.map(problemText);
};

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
  expect(problemsOf(document)).toEqual([
    "currency: 'euro'; expected a currency code such as EUR",
    "rules[0].id: 'Budget'; expected a name of small letters, digits, dots, dashes and underscores, at most 64",
    "rules[0].mode: 'hard'; expected a mode: off, shadow, warn, enforce",
    'rules[1].match.groups[1]: 0; expected a group id, a path or {id, subtree}',
    'rules[1].match.groups[2].subtre: unknown key; did you mean subtree?',
    "rules[1].allow[0]: 'a[' has a '[' without its ']'; write '\\[' for the character itself",
    "rules[2].id: 'b'; expected an id that no other rule has",
    "trust_variables: 'yes'; expected true or false",
  ]);
});

test.each<[string, unknown, string]>([
  ['no document', undefined, 'document: missing; expected an object'],
  ['a misspelt key', policyDocument({ ruels: [] }), 'ruels: unknown key; did you mean rules?'],
  ['a key of another kind', rule({ allow: ['a'] }), 'rules[0].allow: unknown key'],
  [
    'a budget of class security',
    rule({ class: 'security' }),
    "rules[0].class: 'security'; expected a class for kind budget: cost, capacity",
  ],
  ['a misspelt key', image({ alow: ['a'] }), 'rules[0].alow: unknown key; did you mean allow?'],
  [
    'a default class that is none',
    policyDocument({
      prices: { version: '1', classes: [{ name: 'a', rate_per_minute: 1 }], default_class: 'b' },
    }),
    "prices.default_class: 'b'; expected one of the classes: a",
  ],
  [
    'a price typed a thousandfold',
    policyDocument({
      prices: { version: '1', classes: [{ name: 'a', rate_per_minute: '10001' }], default_class: 'a' },
    }),
    "prices.classes[0].rate_per_minute: '10001'; expected at most 10000 a minute",
  ],
  [
    'a variable that looks like a secret',
    policyDocument({ variables: ['CI_JOB_TOKEN'] }),
    "variables[0]: 'CI_JOB_TOKEN'; expected no name that looks like a secret",
  ],
  [
    'a rollout that looks back further than anybody counts',
    policyDocument({ rollout: { days: 29 } }),
    'rollout.days: 29; expected at most 28',
  ],
  [
    'a group that discloses twice',
    policyDocument({
      disclose: {
        groups: [
          { group: 1, levels: 'all' },
          { group: 1, levels: 'none' },
        ],
      },
    }),
    'disclose.groups[1].group: 1; expected a group that is named once',
  ],
])('%s is refused with place and remedy', (_, document, problem) => {
  const problems = problemsOf(document);
  expect(
    problems.some((each) => each.startsWith(problem)),
    problems.join('\n'),
  ).toBe(true);
});

test('a list of a million problems stays readable', () => {
  const rules = Array.from({ length: 1_000 }, () => ({ id: 1 }));
  expect(problemsOf(policyDocument({ rules }))).toHaveLength(200);
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

test('variables are split into names and prefixes', () => {
  expect(aPolicy({ variables: ['COST_CENTER', 'ACME_*'] }).variables).toEqual({
    names: ['COST_CENTER'],
    prefixes: ['ACME_'],
    compared: [],
  });
});

test('groups whose merge requests are told of requests are named once each, and nobody is by default', () => {
  expect(aPolicy({ request_notes: [{ group: 101 }, { group: 200 }] }).requestNotes).toEqual([101, 200]);
  expect(aPolicy().requestNotes).toBeUndefined();
  expect(
    problemsOf(
      policyDocument({ request_notes: [{ group: 101 }, { group: 0 }, { group: 101 }, { team: 1 }] }),
    ),
  ).toEqual([
    "request_notes[1].group: 0; expected GitLab's id of the group",
    'request_notes[2].group: 101; expected a group that is named once',
    'request_notes[3].team: unknown key; expected one of group',
    "request_notes[3].group: missing; expected GitLab's id of the group",
  ]);
});

test('turns of root groups whose jobs wait are whole numbers, and each group is named once', () => {
  const weights = [
    { group: 100, weight: 3 },
    { group: 101, weight: 1 },
  ];
  expect(aPolicy({ waiting: { weights } }).waitWeights).toEqual(
    new Map([
      [100, 3],
      [101, 1],
    ]),
  );
  expect(aPolicy().waitWeights).toBeUndefined();
  expect(
    problemsOf(policyDocument({ waiting: { weights: [{ group: 100, weight: 0 }, ...weights, weights[0]] } })),
  ).toEqual([
    'waiting.weights[0].weight: 0; expected turns for one of others',
    'waiting.weights[3].group: 100; expected a group that is named once',
  ]);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDirectory } from '../../../policies/document/parse-directory.ts';
import { parseLimits } from '../../../policies/document/parse-limits.ts';
import { parsePolicy } from '../../../policies/document/parse-policy.ts';
import { problemText } from '../../../policies/document/parsed.ts';
import { parseAdmissionRequest } from '../../../policies/request/parse-request.ts';
import { aPolicy, policyDocument } from '../documents.ts';

const policy = aPolicy();
const anything = fc.anything({
  maxDepth: 4,
  withNullPrototype: true,
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSparseArray: true,
});
const json = fc.jsonValue({ maxDepth: 4 });
const value = fc.oneof(anything, json);

/** A document that is nearly right: one value somewhere in it replaced. */
const spoilt = (document: unknown): fc.Arbitrary<unknown> =>
  fc
    .tuple(fc.array(fc.nat(20), { maxLength: 5 }), value)
    .map(([steps, put]) => replaced(structuredClone(document), steps, put));

function replaced(document: unknown, steps: readonly number[], put: unknown): unknown {
  const [step, ...rest] = steps;
  if (step === undefined || typeof document !== 'object' || document === null) return put;
  const keys = Object.keys(document);
  const key = keys[step % Math.max(1, keys.length)];
  if (key === undefined) return put;
  const record: Record<string, unknown> = document as Record<string, unknown>;
  record[key] = replaced(record[key], rest, put);
  return record;
}

const limits = {
  limits: [{ on: { group: 1 }, money: '5', per: 'day', zone: 'UTC', mode: 'warn', owner: 'x' }],
  personal_default: [{ jobs: 1 }],
  rollout: [{ group: 1, cost: 'off' }],
};
const directory = {
  groups: [
    { id: 1, path: 'a' },
    { id: 2, parent: 1, path: 'a/b', personal: false },
  ],
  projects: [{ id: 1, group: 2, path: 'a/b/c' }],
};
const fullPolicy = policyDocument({
  rules: [
    {
      id: 'i',
      kind: 'image',
      mode: 'warn',
      match: { groups: [1, 'a/**', { id: 2, subtree: false }], not: { projects: [1] } },
      allow: ['a'],
      deny: ['b'],
    },
  ],
  disclose: { default: 'all', groups: [{ group: 1, levels: 'none' }] },
  variables: ['A', 'B_*'],
});

test.each([
  ['policy', (input: unknown) => parsePolicy(input, 'v'), fullPolicy],
  ['limits', (input: unknown) => parseLimits(input, 'v', policy), limits],
  ['directory', parseDirectory, directory],
] as const)(
  'any value is a %s or a list of problems with paths, never an exception',
  (_, parse, document) => {
    fc.assert(
      fc.property(fc.oneof(value, spoilt(document)), (input) => {
        const parsed = parse(input);
        if (parsed.ok) return;
        expect(parsed.problems.length).toBeGreaterThan(0);
        for (const problem of parsed.problems) expect(problemText(problem)).toMatch(/^[\w.[-].*: ./s);
      }),
      { numRuns: 1_000 },
    );
  },
);

test('any value is a request or a list of problems, never an exception', () => {
  const request = {
    jobId: 1,
    image: 'a',
    services: [{ name: 'b' }],
    runnerTags: ['x'],
    variables: { A: 'b' },
    projectId: 1,
  };
  fc.assert(
    fc.property(fc.oneof(value, spoilt(request)), (input) => {
      const parsed = parseAdmissionRequest(input);
      if (parsed.ok) expect(parsed.value.jobId).toBeGreaterThan(0);
      else expect(parsed.problems.length).toBeGreaterThan(0);
    }),
    { numRuns: 2_000 },
  );
});

test('a request that was read is read again as the same', () => {
  fc.assert(
    fc.property(
      spoilt({ jobId: 1, image: 'a', services: [{ name: 'b' }], variables: { A: 'b' } }),
      (input) => {
        const parsed = parseAdmissionRequest(input);
        fc.pre(parsed.ok);
        expect(parseAdmissionRequest(JSON.parse(JSON.stringify(parsed.value)))).toEqual(parsed);
      },
    ),
  );
});

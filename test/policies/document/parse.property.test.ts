import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDirectory } from '../../../policies/document/parse-directory.ts';
import { parseLimits } from '../../../policies/document/parse-limits.ts';
import { parsePolicy } from '../../../policies/document/parse-policy.ts';
import { problemText } from '../../../policies/document/reading.ts';
import { evaluate } from '../../../policies/evaluate.ts';
import { evaluateStateless } from '../../../policies/evaluate-stateless.ts';
import { parseAdmissionRequest } from '../../../policies/request/parse-request.ts';
import { readYaml } from '../../../scripts/policy/yaml-document.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { aDirectory, NOW_MS, someLimits, using } from '../documents.ts';

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
    .tuple(fc.array(fc.nat(40), { maxLength: 7 }), value)
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

/** The documents of this repository: every kind of rule and limit, each spoilt at some place. */
const documentOf = (file: string): unknown =>
  readYaml(fileURLToPath(new URL(`../../../policies/${file}`, import.meta.url))).value;
const fullPolicy = documentOf('policy.yaml');
const limits = documentOf('limits.yaml');
const directory = documentOf('directory.yaml');
const parsedPolicy = parsePolicy(fullPolicy, 'v');
if (!parsedPolicy.ok) throw new Error('policies/policy.yaml is invalid');
const policy = parsedPolicy.value;

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
      { numRuns: propertyRuns(1_000) },
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
    { numRuns: propertyRuns(2_000) },
  );
});

/** A job that every kind of rule has something to look at in. */
const fullRequest = {
  jobId: 1,
  jobName: 'deploy: [eu]',
  pipelineId: 7,
  pipelineSource: 'push',
  projectId: 1001,
  projectPath: 'acme/payments/checkout',
  namespaceId: 101,
  rootNamespaceId: 100,
  userId: 5,
  ref: 'main',
  refProtected: true,
  environment: 'production/eu',
  image: 'registry.example.com:5000/a/b:1@sha256:0',
  pullPolicies: ['always'],
  kubernetesUser: '1000:1000',
  dockerUser: 'root',
  services: [{ name: 'docker:dind', pullPolicies: ['never'], variables: { KUBERNETES_CPU_LIMIT: '1' } }],
  runnerTags: ['gpu'],
  runnerId: 41,
  timeoutSeconds: 7_200,
  variables: {
    KUBERNETES_CPU_REQUEST: '500m',
    KUBERNETES_MEMORY_LIMIT: '1e3Gi',
    KUBERNETES_NODE_SELECTOR_1: 'a=b',
    KUBERNETES_NAMESPACE_OVERWRITE: 'ci-x',
  },
};

test('any document and any request that can be read can be evaluated: no rule fails, in the function or the relay', () => {
  fc.assert(
    fc.property(
      spoilt(fullPolicy),
      fc.oneof(spoilt(fullRequest), fc.constant(fullRequest)),
      (document, input) => {
        const spoiltPolicy = parsePolicy(document, 'v');
        const request = parseAdmissionRequest(input);
        fc.pre(request.ok);
        const rules = spoiltPolicy.ok ? spoiltPolicy.value : policy;
        const { errors } = evaluate(request.value, using(rules, someLimits({}, rules)));
        expect(errors).toEqual([]);
        evaluateStateless(request.value, { policy: rules, directory: aDirectory, nowMs: NOW_MS });
        evaluateStateless(request.value, { policy: rules, nowMs: NOW_MS });
      },
    ),
    { numRuns: propertyRuns(1_000) },
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

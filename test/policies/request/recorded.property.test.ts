import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeRequest, encodeRequest } from '../../../functions/core/ledger/record.ts';
import { evaluate } from '../../../policies/evaluate.ts';
import { CONDITIONS } from '../../../policies/match/conditions.ts';
import { hasLostVariables, requestOfRecord } from '../../../policies/request/recorded.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { disclosureFor } from '../../../policies/text/rejection-text.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { aDirectory, aPolicy, someLimits, using } from '../documents.ts';

const maybe = <Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.option(arbitrary, { nil: undefined });
const word = fc.constantFrom('main', 'release/1', 'production', 'alpine:3', 'docker:dind', 'root', '0');
const words = fc.array(word, { maxLength: 3 });
const noneSet = fc.constant({});

const service = fc.record({
  name: word,
  pullPolicies: maybe(words),
  dockerUser: maybe(word),
  kubernetesUser: maybe(word),
  variables: maybe(noneSet),
});

const anyRequest: fc.Arbitrary<AdmissionRequest> = fc
  .record({
    jobId: fc.integer({ min: 1, max: 9_999 }),
    jobName: maybe(fc.oneof(word, fc.constantFrom(`${'x'.repeat(120)} tail`, `${'y'.repeat(130)}`))),
    pipelineId: maybe(fc.integer({ min: 1, max: 99 })),
    pipelineSource: maybe(fc.constantFrom('push', 'schedule')),
    mergeRequestId: maybe(fc.integer({ min: 1, max: 99 })),
    scheduleDigest: maybe(fc.constantFrom('0f3a', '77b1')),
    byBot: maybe(fc.boolean()),
    projectId: maybe(fc.constantFrom(1, 2)),
    projectPath: maybe(
      fc.constantFrom(
        'acme/payments/cards/api',
        'acme/payments/x',
        'jane/dot',
        `acme/${'sub/'.repeat(70)}deep`,
        'nowhere/x',
      ),
    ),
    projectVisibility: maybe(fc.constantFrom('public', 'private')),
    namespaceId: maybe(fc.constantFrom(100, 101, 104, 190, 999)),
    rootNamespaceId: maybe(fc.constantFrom(100, 190, 998)),
    userId: maybe(fc.constantFrom(7, 8)),
    ref: maybe(word),
    refProtected: maybe(fc.boolean()),
    environment: maybe(word),
    image: maybe(word),
    pullPolicies: maybe(words),
    dockerUser: maybe(word),
    kubernetesUser: maybe(word),
    services: maybe(fc.array(service, { maxLength: 2 })),
    jobTags: maybe(words),
    runnerTags: maybe(fc.array(fc.constantFrom('large', 'free'), { maxLength: 2 })),
    runnerId: maybe(fc.constantFrom(12, 13)),
    timeoutSeconds: maybe(fc.constantFrom(0, 60, 3_600)),
    variables: maybe(noneSet),
    suspicious: maybe(fc.subarray(['projectId', 'projectPath', 'namespaceId', 'userId', 'image'])),
  })
  // Absent, not undefined: that is how requests come.
  .map((fields) => JSON.parse(JSON.stringify(fields)));

const POLICY = aPolicy({
  rules: [
    { id: 'budgets', kind: 'budget', mode: 'enforce' },
    { id: 'slots', kind: 'concurrency', mode: 'shadow' },
    { id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'], on_missing: 'reject' },
    ...[
      { groups: [101] },
      { projects: ['acme/**'] },
      { runner_ids: [12] },
      { runner_tags: ['large'] },
      { users: [7] },
      { refs: ['release/*'] },
      { protected: true },
      { sources: ['push'] },
      { environments: ['production'] },
      { jobs: ['main', '* tail'] },
    ].map((match, index) => ({
      id: `deny-${index}`,
      kind: 'image',
      mode: 'enforce',
      deny: ['docker:*'],
      match,
      on_missing: 'reject',
    })),
  ],
});
const LIMITS = someLimits(
  {
    limits: [
      { on: { group: 100 }, money: 5, per: 'month' },
      { on: { group: 101 }, jobs: 2 },
      { on: { project: 1 }, money: 1, per: 'day' },
      { on: { user: 7 }, minutes: 20, per: 'week' },
    ],
  },
  POLICY,
  aDirectory,
);

test('a recorded question asked again finds what the first one found', () => {
  fc.assert(
    fc.property(anyRequest, fc.boolean(), (request, withDirectory) => {
      const documents = using(POLICY, LIMITS, withDirectory ? {} : { directory: undefined });
      const first = evaluate(request, documents);
      const { asked } = first.facts;
      if (asked === undefined) throw new Error('nothing was recorded of the question');
      const kept = decodeRequest(encodeRequest(asked));
      expect(kept).toEqual(asked);
      const again = evaluate(requestOfRecord(request.jobId, first.facts, kept ?? {}), documents);
      const found = ({ violations, claims, exemptions, facts, placement }: typeof first) => {
        const disclosure = disclosureFor(placement, POLICY.disclose);
        return JSON.parse(JSON.stringify({ violations, claims, exemptions, facts, disclosure }));
      };
      expect(found(again)).toEqual(found(first));
    }),
    { numRuns: propertyRuns(500) },
  );
});

test('every field that a condition compares comes back from a record', () => {
  const request: AdmissionRequest = {
    ...{ jobId: 1, jobName: 'unit', projectId: 1, namespaceId: 101, userId: 7, runnerId: 12 },
    ...{ runnerTags: ['large'], ref: 'main', refProtected: true, pipelineSource: 'push' },
    ...{ environment: 'production', variables: {} },
  };
  const { facts } = evaluate(request, using(POLICY, LIMITS));
  const again = requestOfRecord(1, facts, decodeRequest(encodeRequest(facts.asked ?? {})) ?? {});
  for (const { field } of Object.values(CONDITIONS)) {
    expect(request, field).toHaveProperty(field);
    expect({ [field]: again[field] }).toEqual({ [field]: request[field] });
  }
});

test('no value and no name of a variable is recorded, only that there were some', () => {
  const request: AdmissionRequest = {
    jobId: 1,
    image: 'alpine:3',
    variables: { KUBERNETES_CPU_LIMIT: 'not-a-secret' },
    services: [{ name: 'postgres:17', variables: { KUBERNETES_MEMORY_LIMIT: 'not-a-secret' } }],
  };
  const { asked = {} } = evaluate(request, using(POLICY, LIMITS)).facts;
  expect(encodeRequest(asked)).not.toMatch(/secret|KUBERNETES/);
  expect(asked).toMatchObject({ variables: 'some', services: [{ variables: 'some' }] });
  expect(hasLostVariables(asked)).toBe(true);
  expect(hasLostVariables({ ...asked, variables: 'none', services: [] })).toBe(false);
});

test.each([
  ['not JSON', '{', undefined],
  ['a list', '[]', undefined],
  ['a newer field', '{"i":"alpine:3","zz":1}', { image: 'alpine:3' }],
])('%s in a record is passed over, never a failure', (_, text, found) => {
  expect(decodeRequest(text)).toEqual(found);
});

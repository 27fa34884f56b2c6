import { expect, test } from 'vitest';
import { checkedJobOf } from '../../../policies/job.ts';
import type { Reason } from '../../../policies/reason.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { aDirectory, aPolicy, NOW_MS } from '../documents.ts';

type Variables = Readonly<Record<string, string>>;

const rulesWith = (caps: object): object => ({
  rules: [{ id: 'r', kind: 'resources', mode: 'enforce', ...caps }],
});

function reasons(caps: object, request: Partial<AdmissionRequest>): readonly Reason[] {
  const policy = aPolicy(rulesWith(caps));
  const [rule] = policy.rules;
  if (rule?.stateless !== true) throw new Error('not a stateless rule');
  return rule.check(checkedJobOf({ jobId: 1, ...request }, { policy, directory: aDirectory, nowMs: NOW_MS }));
}

/** `KUBERNETES_CPU_REQUEST 12 > 8`, `redis: … invalid`, `sum: …`. */
const short = (reason: Reason): string => {
  if (reason.code === 'FIELD_MISSING') return `${reason.field} missing`;
  if (reason.code !== 'RESOURCE_CAP' && reason.code !== 'RESOURCE_INVALID') return reason.code;
  const who = `${reason.service === undefined ? '' : `${reason.service}: `}${reason.variable}`;
  if (reason.code === 'RESOURCE_INVALID') return `${who} invalid`;
  return `${reason.sum ? 'sum: ' : ''}${who} ${reason.asked} ${reason.isFloor ? '<' : '>'} ${reason.cap}`;
};

const said = (caps: object, request: Partial<AdmissionRequest>): readonly string[] =>
  reasons(caps, request).map(short);

test.each<[object, Variables, readonly string[]]>([
  // And a request is none.
  [
    { build: { memory_limit: '16Gi' } },
    { KUBERNETES_MEMORY_REQUEST: '64Gi' },
    ['KUBERNETES_MEMORY_LIMIT missing'],
  ],
  // The pod's holds, too.
  [{ build: { memory_limit: '16Gi' } }, { KUBERNETES_POD_MEMORY_LIMIT: '1Gi' }, []],
  // A billionth more is too much.
  [
    { build: { cpu: 8 } },
    { KUBERNETES_CPU_REQUEST: '8.000000001' },
    ['KUBERNETES_CPU_REQUEST 8000000001n > 8'],
  ],
  // A cap holds for request and limit.
  [
    { build: { cpu: 8 } },
    { KUBERNETES_CPU_REQUEST: '9', KUBERNETES_CPU_LIMIT: '10' },
    ['KUBERNETES_CPU_REQUEST 9 > 8', 'KUBERNETES_CPU_LIMIT 10 > 8'],
  ],
  // Who leaves out the request asks for the limit.
  [{ build: { cpu_request: 8 } }, { KUBERNETES_CPU_LIMIT: '64' }, ['KUBERNETES_CPU_LIMIT 64 > 8']],
  // A cap on the pod is for its own variables.
  [
    { pod: { cpu: 8 } },
    { KUBERNETES_POD_CPU_REQUEST: '9', KUBERNETES_CPU_REQUEST: '64' },
    ['KUBERNETES_POD_CPU_REQUEST 9 > 8'],
  ],
  // One that asks for less than the floor is refused.
  [
    { min: { build: { cpu_request: '500m' } } },
    { KUBERNETES_CPU_REQUEST: '1m', KUBERNETES_CPU_LIMIT: '1m' },
    ['KUBERNETES_CPU_REQUEST 1m < 500m'],
  ],
  // An empty value asks for nothing.
  [{ build: { cpu: 8 } }, { KUBERNETES_CPU_REQUEST: '' }, []],
  // A variable that is not expanded yet is no quantity.
  [{ build: { cpu: 8 } }, { KUBERNETES_CPU_REQUEST: '$CPUS' }, ['KUBERNETES_CPU_REQUEST invalid']],
  // What no cap holds for is not looked at.
  [{ build: { cpu: 8 } }, { KUBERNETES_MEMORY_REQUEST: 'x', KUBERNETES_HELPER_CPU_REQUEST: 'x' }, []],
])('%j on %j says %j', (caps, variables, expected) => {
  expect(said(caps, { variables })).toEqual(expected);
});

test.each<[object, Variables, readonly (Variables | undefined)[], readonly string[]]>([
  // Each service by itself.
  [
    { service: { cpu: 2 } },
    {},
    [{ KUBERNETES_SERVICE_CPU_REQUEST: '3' }, { KUBERNETES_SERVICE_CPU_LIMIT: '4' }],
    ['s0: KUBERNETES_SERVICE_CPU_REQUEST 3 > 2', 's1: KUBERNETES_SERVICE_CPU_LIMIT 4 > 2'],
  ],
  // But of one that has none.
  [
    { service: { cpu_request: 2 } },
    { KUBERNETES_SERVICE_CPU_LIMIT: '8' },
    [undefined],
    ['KUBERNETES_SERVICE_CPU_LIMIT 8 > 2'],
  ],
  // In a service's variables the short spelling means nothing.
  [{ build: { cpu: 2 } }, {}, [{ KUBERNETES_CPU_REQUEST: '64' }], []],
  // A sum that ends on the cap is allowed.
  [
    { job: { cpu: 12 } },
    { KUBERNETES_CPU_REQUEST: '8', KUBERNETES_HELPER_CPU_REQUEST: '1' },
    [{ KUBERNETES_SERVICE_CPU_REQUEST: '1' }, { KUBERNETES_SERVICE_CPU_REQUEST: '2' }],
    [],
  ],
  // A sum above it is not, and names what asks for most.
  [
    { job: { cpu: 12 } },
    { KUBERNETES_CPU_REQUEST: '8', KUBERNETES_HELPER_CPU_REQUEST: '1' },
    [{ KUBERNETES_SERVICE_CPU_REQUEST: '1' }, { KUBERNETES_SERVICE_CPU_REQUEST: '2001m' }],
    ['sum: KUBERNETES_CPU_REQUEST 12001m > 12'],
  ],
  // A small pod does not hide its containers.
  [
    { job: { cpu: 12 } },
    { KUBERNETES_POD_CPU_REQUEST: '1m', KUBERNETES_CPU_REQUEST: '99', KUBERNETES_POD_CPU_LIMIT: '12' },
    [],
    ['KUBERNETES_CPU_REQUEST 99 > 12'],
  ],
])('%j on %j with services %j says %j', (caps, variables, own, expected) => {
  const services = own.map((each, index) => ({
    name: `s${index}`,
    ...(each !== undefined && { variables: each }),
  }));
  expect(said(caps, { variables, services })).toEqual(expected);
});

test('a reason has all a person needs, and nothing that was written in the variable', () => {
  const variables = { KUBERNETES_CPU_REQUEST: '0012.50', KUBERNETES_MEMORY_LIMIT: 'hunter2' };
  const services = [{ name: 'redis:7', variables: { KUBERNETES_SERVICE_MEMORY_REQUEST: '1.5Gi' } }];
  const caps = { build: { cpu: '8', memory: '16Gi' }, service: { memory: '1Gi' } };
  const told = reasons(caps, { variables, services });
  expect(told).toEqual([
    {
      code: 'RESOURCE_CAP',
      resource: 'cpu',
      variable: 'KUBERNETES_CPU_REQUEST',
      asked: '12500m',
      cap: '8',
    },
    { code: 'RESOURCE_INVALID', variable: 'KUBERNETES_MEMORY_LIMIT' },
    {
      code: 'RESOURCE_CAP',
      resource: 'memory',
      variable: 'KUBERNETES_SERVICE_MEMORY_REQUEST',
      service: 'redis:7',
      asked: '1536Mi',
      cap: '1Gi',
    },
  ]);
  expect(JSON.stringify(told)).not.toContain('hunter2');
});

test('variables that GitLab did not send are a missing field, an empty set is not', () => {
  expect(said({ build: { cpu: 8 } }, {})).toEqual(['variables missing']);
  expect(said({ build: { cpu: 8 } }, { variables: {} })).toEqual([]);
});

import { expect, test } from 'vitest';
import {
  type Footprint,
  type FootprintDefaults,
  footprintOf,
} from '../../../policies/kubernetes/footprint.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';

const MI = 1024 ** 2;

const taken = (request: Partial<AdmissionRequest>, defaults: FootprintDefaults = {}): Footprint =>
  footprintOf({ jobId: 1, ...request }, defaults);

test.each<[Readonly<Record<string, string>>, number | undefined | 'invalid', string]>([
  [{}, undefined, 'who states nothing is not known'],
  [{ KUBERNETES_CPU_REQUEST: '' }, undefined, 'an empty value states nothing'],
  [{ KUBERNETES_CPU_REQUEST: '1500m' }, 1_500, 'the build is what it requests'],
  [{ KUBERNETES_CPU_LIMIT: '2' }, 2_000, 'or its limit, if it has that alone'],
  [{ KUBERNETES_CPU_REQUEST: '1', KUBERNETES_CPU_LIMIT: '8' }, 1_000, 'a request goes before the limit'],
  [{ KUBERNETES_CPU_REQUEST: '0' }, 0, 'a request of nothing is a request'],
  [{ KUBERNETES_CPU_REQUEST: '1', KUBERNETES_HELPER_CPU_REQUEST: '500m' }, 1_500, 'the helper is added'],
  [{ KUBERNETES_HELPER_CPU_LIMIT: '500m' }, 500, 'even alone'],
  [
    { KUBERNETES_CPU_REQUEST: '0.4m', KUBERNETES_HELPER_CPU_REQUEST: '0.4m' },
    1,
    'the sum is rounded up, not each part',
  ],
  [
    { KUBERNETES_POD_CPU_REQUEST: '4', KUBERNETES_CPU_REQUEST: '64', KUBERNETES_HELPER_CPU_REQUEST: '64' },
    4_000,
    'the pod goes before its containers',
  ],
  [{ KUBERNETES_POD_CPU_LIMIT: '6', KUBERNETES_CPU_REQUEST: '2' }, 6_000, 'so does its limit alone'],
  [{ KUBERNETES_POD_CPU_REQUEST: '4', KUBERNETES_POD_CPU_LIMIT: '6' }, 4_000, 'its request goes first'],
  [
    { KUBERNETES_POD_CPU_REQUEST: '4', KUBERNETES_CPU_REQUEST: 'x' },
    4_000,
    'what does not count may be wrong',
  ],
  [{ KUBERNETES_CPU_REQUEST: 'x' }, 'invalid', 'what counts may not'],
  [{ KUBERNETES_CPU_REQUEST: '1', KUBERNETES_HELPER_CPU_REQUEST: '$CPU' }, 'invalid', 'not in any part'],
  [{ KUBERNETES_CPU_REQUEST: '-1' }, 'invalid', 'nothing takes less than nothing'],
  [{ KUBERNETES_CPU_REQUEST: '9007199254740.991' }, Number.MAX_SAFE_INTEGER, 'the last number that is exact'],
  [{ KUBERNETES_CPU_REQUEST: '9007199254740.992' }, 'invalid', 'past it there is none'],
  [{ KUBERNETES_SERVICE_CPU_REQUEST: '4' }, undefined, 'a service the job does not have takes nothing'],
  [{ KUBERNETES_MEMORY_REQUEST: '4' }, undefined, 'memory is no CPU'],
])('%j takes %s millicpu: %s', (variables, millicpu) => {
  expect(taken({ variables }).millicpu).toBe(millicpu);
});

test.each<[Partial<AdmissionRequest>, number | undefined, string]>([
  [{}, 2_048 * MI, 'a job whose variables did not come takes the default'],
  [{ variables: {} }, 2_048 * MI, 'as does one that states nothing'],
  [{ variables: { KUBERNETES_MEMORY_LIMIT: '512Mi' } }, 512 * MI, 'its own word replaces the default'],
  [{ variables: { KUBERNETES_POD_MEMORY_REQUEST: '1Gi' } }, 1_024 * MI, 'as does that of the pod'],
  [
    { variables: { KUBERNETES_HELPER_MEMORY_REQUEST: '256Mi' } },
    2_304 * MI,
    'the default stands for the build alone, others are added',
  ],
])('with a default of 2 Gi %j takes %d bytes: %s', (request, bytes) => {
  expect(taken(request, { bytes: 2_048 * MI }).bytes).toBe(bytes);
});

test.each<[Readonly<Record<string, string>> | undefined, number, string]>([
  [undefined, 2, 'a service that says nothing follows the job'],
  [{ KUBERNETES_SERVICE_CPU_REQUEST: '5' }, 5, 'its own word goes before the job'],
  [{ KUBERNETES_CPU_REQUEST: '6' }, 2, 'the short spelling is not read, as by the runner'],
  [{ KUBERNETES_CPU_REQUEST: '6', KUBERNETES_SERVICE_CPU_REQUEST: '5' }, 5, 'beside the full one'],
  [{ KUBERNETES_CPU_REQUEST: '6', KUBERNETES_SERVICE_CPU_REQUEST: '' }, 2, 'nor beside an empty one'],
  [{ KUBERNETES_SERVICE_CPU_LIMIT: '9' }, 2, 'a request of the job goes before its own limit'],
  [{ KUBERNETES_HELPER_CPU_REQUEST: '9' }, 2, 'it cannot speak for another container'],
])('a service with %j takes %d CPUs: %s', (own, cpus) => {
  const service = own === undefined ? { name: 'redis' } : { name: 'redis', variables: own };
  const variables = { KUBERNETES_SERVICE_CPU_REQUEST: '2' };
  expect(taken({ variables, services: [service] }).millicpu).toBe(cpus * 1_000);
  expect(taken({ variables, services: [service, { name: 'other' }] }).millicpu).toBe((cpus + 2) * 1_000);
});

test("a service's own variables count even where the job's did not come", () => {
  const services = [{ name: 'redis', variables: { KUBERNETES_SERVICE_CPU_REQUEST: '2' } }];
  expect(taken({ services }).millicpu).toBe(2_000);
});

test('CPU and memory are told apart, so one that cannot be read leaves the other', () => {
  expect(taken({ variables: { KUBERNETES_CPU_REQUEST: 'x', KUBERNETES_MEMORY_REQUEST: '1Ki' } })).toEqual({
    millicpu: 'invalid',
    bytes: 1_024,
  });
});

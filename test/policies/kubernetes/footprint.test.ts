import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Reading } from '../../../policies/document/reading.ts';
import {
  type Footprint,
  type FootprintDefaults,
  footprintOf,
} from '../../../policies/kubernetes/footprint.ts';
import { readOverwrites } from '../../../policies/kubernetes/resource-caps.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';

const MI = 1024 ** 2;

const taken = (request: Partial<AdmissionRequest>, footprint: FootprintDefaults = {}): Footprint =>
  footprintOf({ jobId: 1, ...request }, { footprint });

test.each<[Readonly<Record<string, string>>, number | undefined | 'invalid', string]>([
  [{}, undefined, 'who states nothing is not known'],
  [{ KUBERNETES_CPU_REQUEST: '1500m' }, 1_500, 'the build is what it requests'],
  [{ KUBERNETES_CPU_LIMIT: '2' }, 2_000, 'or its limit, if it has that alone'],
  [{ KUBERNETES_CPU_REQUEST: '1', KUBERNETES_CPU_LIMIT: '8' }, 1_000, 'a request goes before the limit'],
  [{ KUBERNETES_CPU_REQUEST: '1', KUBERNETES_HELPER_CPU_REQUEST: '500m' }, 1_500, 'the helper is added'],
  [
    { KUBERNETES_CPU_REQUEST: '0.4m', KUBERNETES_HELPER_CPU_REQUEST: '0.4m' },
    1,
    'the sum is rounded up, not each part',
  ],
  [
    { KUBERNETES_POD_CPU_REQUEST: '4', KUBERNETES_CPU_REQUEST: '64', KUBERNETES_HELPER_CPU_REQUEST: '64' },
    128_000,
    'a pod that asks for less than its containers makes them no smaller',
  ],
  [
    { KUBERNETES_POD_CPU_REQUEST: '200', KUBERNETES_CPU_REQUEST: '64', KUBERNETES_HELPER_CPU_REQUEST: '64' },
    200_000,
    'one that asks for more takes more',
  ],
  [
    { KUBERNETES_POD_CPU_REQUEST: '4', KUBERNETES_CPU_REQUEST: 'x' },
    'invalid',
    'a pod hides no container that cannot be read',
  ],
  [{ KUBERNETES_CPU_REQUEST: 'x' }, 'invalid', 'what counts may not'],
  [{ KUBERNETES_CPU_REQUEST: '9007199254740.992' }, Number.MAX_SAFE_INTEGER, 'past it there is none larger'],
  [{ KUBERNETES_SERVICE_CPU_REQUEST: '4' }, undefined, 'a service the job does not have takes nothing'],
])('%j takes %s millicpu: %s', (variables, millicpu) => {
  expect(taken({ variables }).millicpu).toBe(millicpu);
});

test.each<[Partial<AdmissionRequest>, number | undefined, string]>([
  [{}, 2_048 * MI, 'a job whose variables did not come takes the default'],
  [{ variables: { KUBERNETES_MEMORY_REQUEST: '512Mi' } }, 2_048 * MI, 'one that asks for less takes it, too'],
  [{ variables: { KUBERNETES_MEMORY_LIMIT: '3Gi' } }, 3_072 * MI, 'one that asks for more takes more'],
  [
    { variables: { KUBERNETES_HELPER_MEMORY_REQUEST: '256Mi' } },
    2_304 * MI,
    'the default stands for the build alone, others are added',
  ],
])('with a default of 2 Gi %j takes %d bytes: %s', (request, bytes) => {
  expect(taken(request, { bytes: 2_048 * MI }).bytes).toBe(bytes);
});

const FOOTPRINT = { millicpu: 8_000, bytes: 4_096 * MI };
const VARIABLES = ['', 'HELPER_', 'SERVICE_', 'POD_'].flatMap((container) =>
  ['CPU', 'MEMORY', 'EPHEMERAL_STORAGE'].flatMap((resource) =>
    ['REQUEST', 'LIMIT'].map((bound) => `KUBERNETES_${container}${resource}_${bound}`),
  ),
);

test('where runners let jobs overwrite nothing, no variable of the job or its services changes what it takes', () => {
  const quantity = fc.constantFrom('0', '1m', '0.5', '64', '1Mi', '200Gi', '1E', 'x', '');
  const variables = fc.dictionary(fc.constantFrom(...VARIABLES), quantity);
  const services = fc.array(fc.record({ name: fc.constant('redis'), variables }), { maxLength: 3 });
  fc.assert(
    fc.property(variables, services, (own, ofServices) => {
      const request = { jobId: 1, variables: own, services: ofServices };
      expect(footprintOf(request, { footprint: FOOTPRINT, overwrites: new Map() })).toEqual(FOOTPRINT);
      const { millicpu, bytes } = footprintOf(request, { footprint: FOOTPRINT });
      expect(millicpu, 'while the class says nothing of it').toBeGreaterThanOrEqual(FOOTPRINT.millicpu);
      expect(bytes).toBeGreaterThanOrEqual(FOOTPRINT.bytes);
    }),
  );
});

test.each<[object, Readonly<Record<string, string>>, number, string]>([
  [{ cpu_request: 4 }, { KUBERNETES_CPU_REQUEST: '1m' }, 1, 'a job may take less, as its Runner lets it'],
  [{ cpu_request: 4 }, { KUBERNETES_CPU_REQUEST: '5' }, 4_000, 'above which the Runner fails the job'],
  [{ cpu_request: 4 }, { KUBERNETES_CPU_LIMIT: '64' }, 8_000, 'a limit leaves the request of the class'],
  [{ cpu_limit: 4 }, { KUBERNETES_CPU_REQUEST: '1m' }, 8_000, 'a maximum for limits is none for requests'],
  [{ pod_cpu_request: 32 }, { KUBERNETES_POD_CPU_REQUEST: '64' }, 32_000, 'the pod has its own'],
  [{ pod_cpu_request: 32 }, { KUBERNETES_POD_CPU_REQUEST: '1' }, 8_000, 'and holds all containers'],
  [{ helper_cpu_request: 1 }, { KUBERNETES_HELPER_CPU_REQUEST: '500m' }, 8_500, 'the helper is added'],
  [{ helper_cpu_request: 1 }, { KUBERNETES_HELPER_CPU_REQUEST: 'x' }, 8_000, 'unless it cannot be read'],
])('a class of 8 CPU with %j gives a job with %j %d millicpu: %s', (written, variables, millicpu) => {
  const reading = Reading.of(written);
  const overwrites = readOverwrites(reading);
  expect(reading.problems).toEqual([]);
  const size = { footprint: FOOTPRINT, ...(overwrites && { overwrites }) };
  expect(footprintOf({ jobId: 1, variables }, size).millicpu).toBe(millicpu);
});

import type { Reading } from '../document/reading.ts';
import { decimalText } from '../document/values.ts';
import type { Overwrites } from './footprint.ts';
import { NANOS_PER_BYTE, parseQuantity, QUANTITY_EXPECTED, type Quantity } from './quantity.ts';
import {
  type Bound,
  type ContainerKind,
  type ResourceName,
  resourceVariableName,
} from './resource-variables.ts';

type CapSubject = ContainerKind | 'job';

export interface Cap {
  readonly subject: CapSubject;
  readonly resource: ResourceName;
  readonly bound: Bound;
  readonly amount: Quantity;
  /** It was written for this bound alone (`memory_limit`), not for both (`memory`). */
  readonly isOwn: boolean;
  /** The least that may be requested, not the most. */
  readonly isFloor?: true;
}

export const CAP_SUBJECTS: readonly CapSubject[] = ['build', 'helper', 'service', 'pod', 'job'];

const RESOURCES = (['cpu', 'memory', 'ephemeral-storage'] as const).map((resource) => ({
  key: resource.replace('-', '_'),
  resource,
}));
const BOUNDS: readonly Bound[] = ['request', 'limit'];

/** Floors are for one container: what a container gets that states nothing is not known here, so neither is their sum. */
export const CONTAINER_KINDS: readonly ContainerKind[] = ['build', 'helper', 'service', 'pod'];

/**
 * Reads `overwrites` of a runner class: `none`, or the Runner's own maxima such as `{cpu_request: "4", helper_memory_limit: 1Gi}`.
 *
 * @see https://docs.gitlab.com/runner/executors/kubernetes/#overwrite-container-resources
 */
export function readOverwrites(reading: Reading): Overwrites | undefined {
  if (reading.value === 'none') return new Map();
  const rows = CONTAINER_KINDS.flatMap((kind) =>
    (['cpu', 'memory'] as const).flatMap((resource) =>
      BOUNDS.map((bound) => ({
        key: `${kind === 'build' ? '' : `${kind}_`}${resource}_${bound}`,
        resource,
        variable: resourceVariableName(kind, resource, bound),
      })),
    ),
  );
  if (typeof reading.value === 'string')
    return reading.expected("none, or an object such as {cpu_request: '4'}");
  if (!reading.object(rows.map(({ key }) => key))) return undefined;
  return new Map(
    rows.flatMap(({ key, resource, variable }) => {
      const max = readAmount(reading.at(key), resource);
      return max === undefined ? [] : [[variable, max] as const];
    }),
  );
}

/** Reads caps such as `build: {cpu: 8, memory_limit: 16Gi}`. `cpu` caps request and limit; `cpu_limit` overrides it. */
export const readCaps = (reading: Reading, subjects: readonly CapSubject[] = CAP_SUBJECTS): readonly Cap[] =>
  subjects.flatMap((subject) => readSubject(reading.at(subject), subject));

function readSubject(reading: Reading, subject: CapSubject): readonly Cap[] {
  if (!reading.isThere) return [];
  const resources = RESOURCES.filter(({ key }) => subject !== 'pod' || key !== 'ephemeral_storage');
  const keys = resources.flatMap(({ key }) => [key, ...BOUNDS.map((bound) => `${key}_${bound}`)]);
  if (!reading.object(keys)) return [];
  // An unknown key has its own problem; that there is no cap but for it is not worth a second one.
  if (reading.keys.every((key) => keys.includes(key) && !reading.at(key).isThere)) {
    reading.refuse(`has no caps; expected one of ${keys.join(', ')}`);
  }
  return resources.flatMap(({ key, resource }) => {
    const both = readAmount(reading.at(key), resource);
    return BOUNDS.flatMap((bound) => {
      const own = readAmount(reading.at(`${key}_${bound}`), resource);
      const amount = own ?? both;
      return amount === undefined ? [] : [{ subject, resource, bound, amount, isOwn: own !== undefined }];
    });
  });
}

function readAmount(reading: Reading, resource: ResourceName): Quantity | undefined {
  if (!reading.isThere) return undefined;
  const text = decimalText(reading.value);
  const amount = text === undefined ? undefined : parseQuantity(text);
  if (amount === undefined) return reading.expected(QUANTITY_EXPECTED);
  // `memory: 512m` is half a byte, and always a slip.
  if (resource !== 'cpu' && amount.nanos % NANOS_PER_BYTE !== 0n) {
    return reading.expected('a whole number of bytes, such as 512Mi (m means a thousandth)');
  }
  return amount;
}

import { isRecord, type Reading } from '../document/reading.ts';
import { NANOS_PER_BYTE, parseQuantity, QUANTITY_EXPECTED, type Quantity } from './quantity.ts';
import type { Bound, ContainerKind, ResourceName } from './resource-variables.ts';

/** What a cap holds for: one kind of container, the pod's own variables, or `job`, the sum over all containers. */
type CapSubject = ContainerKind | 'job';

export interface Cap {
  readonly subject: CapSubject;
  readonly resource: ResourceName;
  readonly bound: Bound;
  readonly max: Quantity;
  /** It was written for this bound alone (`memory_limit`), not for both (`memory`). */
  readonly isOwn: boolean;
}

export const CAP_SUBJECTS: readonly CapSubject[] = ['build', 'helper', 'service', 'pod', 'job'];

const RESOURCES: readonly { readonly key: string; readonly resource: ResourceName }[] = [
  { key: 'cpu', resource: 'cpu' },
  { key: 'memory', resource: 'memory' },
  { key: 'ephemeral_storage', resource: 'ephemeral-storage' },
];
const BOUNDS: readonly Bound[] = ['request', 'limit'];

/** An exact decimal as long as it has no more digits. */
const NUMBER_DIGITS_MAX = 15;

/**
 * Reads `build: {cpu: 8, memory_limit: 16Gi}` and the like, in the order reasons are told. `cpu` caps request and
 * limit; `cpu_request` and `cpu_limit` go before it.
 */
export const readCaps = (reading: Reading): readonly Cap[] =>
  CAP_SUBJECTS.flatMap((subject) => readSubject(reading.at(subject), subject));

function readSubject(reading: Reading, subject: CapSubject): readonly Cap[] {
  if (!reading.isThere) return [];
  const resources = RESOURCES.filter(({ key }) => subject !== 'pod' || key !== 'ephemeral_storage');
  const keys = resources.flatMap(({ key }) => [key, ...BOUNDS.map((bound) => `${key}_${bound}`)]);
  if (!reading.object(keys)) return [];
  // An unknown key has its own problem; that there is no cap but for it is not worth a second one.
  const written = Object.keys(isRecord(reading.value) ? reading.value : {});
  if (written.every((key) => keys.includes(key) && !reading.at(key).isThere)) {
    reading.refuse(`has no caps; expected one of ${keys.join(', ')}`);
  }
  return resources.flatMap(({ key, resource }) => {
    const both = readMax(reading.at(key), resource);
    return BOUNDS.flatMap((bound) => {
      const own = readMax(reading.at(`${key}_${bound}`), resource);
      const max = own ?? both;
      return max === undefined ? [] : [{ subject, resource, bound, max, isOwn: own !== undefined }];
    });
  });
}

function readMax(reading: Reading, resource: ResourceName): Quantity | undefined {
  if (!reading.isThere) return undefined;
  const text = quantityTextOf(reading.value);
  const max = text === undefined ? undefined : parseQuantity(text);
  if (max === undefined) return reading.expected(QUANTITY_EXPECTED);
  // `memory: 512m` is half a byte, and always a slip.
  if (resource !== 'cpu' && max.nanos % NANOS_PER_BYTE !== 0n) {
    return reading.expected('a whole number of bytes, such as 512Mi (m means a thousandth)');
  }
  return max;
}

/** A number stands for its shortest decimal text, which is what was written as long as it is short. */
function quantityTextOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  const text = String(value);
  return text.replaceAll(/\D/g, '').length <= NUMBER_DIGITS_MAX ? text : undefined;
}

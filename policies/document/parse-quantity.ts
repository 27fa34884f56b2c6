import { NANOS_PER_BYTE, NANOS_PER_MILLICPU, parseQuantity } from '../kubernetes/quantity.ts';

/** What CPU and memory are counted in: thousandths of a CPU, bytes. */
const NANOS_PER_UNIT = { cpu: NANOS_PER_MILLICPU, memory: NANOS_PER_BYTE } as const;

export const QUANTITIES_EXPECTED = {
  cpu: 'CPUs such as 64, 1.5 or 500m',
  memory: 'bytes such as 256Gi, 512Mi or 64G',
} as const;

/** Reads `64`, `500m` or `256Gi` into whole millicpu or bytes; undefined for anything else, and for parts of a unit. */
export function readQuantityUnits(value: unknown, resource: 'cpu' | 'memory'): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const quantity = parseQuantity(String(value));
  const perUnit = NANOS_PER_UNIT[resource];
  if (quantity === undefined || quantity.nanos % perUnit !== 0n) return undefined;
  const units = quantity.nanos / perUnit;
  return units <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(units) : undefined;
}

/** A frozen file as text: items as DynamoDB has them, and what was read of them. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { isRecord } from '../../policies/document/reading.ts';

export interface Frozen {
  readonly items: readonly Record<string, AttributeValue>[];
  readonly reads: unknown;
}

/** Maps become sorted pairs, bytes base64, and what a scan found is sorted. */
export const frozenText = ({ items, reads }: Frozen): string =>
  `${JSON.stringify({ items: sorted(items.map(plain)), reads: plain(reads) ?? null }, undefined, 2)}\n`;

export function readFrozen(text: string): Frozen {
  const frozen = JSON.parse(text, (_, value: unknown) =>
    isRecord(value) && typeof value.base64 === 'string' ? Buffer.from(value.base64, 'base64') : value,
  ) as Frozen;
  return { items: frozen.items, reads: (JSON.parse(text) as Frozen).reads };
}

function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString('base64') };
  if (value instanceof Map) return { pairs: sorted([...value].map(plain)) };
  if (Array.isArray(value)) {
    const all = value.map(plain);
    return all.some((each) => isRecord(each) && 'kind' in each) ? sorted(all) : all;
  }
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}

const sorted = (values: readonly unknown[]): readonly unknown[] =>
  [...values].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

import { fromBinary } from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import type { WireSchema } from '../../../relay/wire/schema.ts';

interface Registration {
  readonly controllerId: number;
  readonly instanceId: bigint;
  /** On the router's clock. */
  readonly atMs: number;
}

/** Registrations kept; a relay registers every few minutes, so this is weeks. */
const HISTORY_MAX = 10_000;

/** Who announced themselves. Presence only: routing looks at open streams, never here. */
export class Registrations {
  readonly #history: Registration[] = [];
  readonly #present = new Map<bigint, Registration>();

  /** Every Register call heard, oldest first. */
  get history(): readonly Registration[] {
    return this.#history;
  }

  /** Registered and not unregistered since. */
  present(): readonly Registration[] {
    return [...this.#present.values()];
  }

  add(registration: Registration): void {
    if (this.#history.length < HISTORY_MAX) this.#history.push(registration);
    this.#present.set(registration.instanceId, registration);
  }

  remove(instanceId: bigint): void {
    this.#present.delete(instanceId);
  }
}

/** Reads the instance id of a Register or Unregister message, by field name; 0 when the schema has none. */
export function instanceIdReader(schema: WireSchema, methodPath: string): (bytes: Uint8Array) => bigint {
  const [, service = '', method = ''] = methodPath.split('/');
  const desc = schema.registry
    .getService(service)
    ?.methods.find((candidate) => candidate.name === method)?.input;
  const field = desc?.fields.find((candidate) => candidate.name === 'instance_id');
  return (bytes) => {
    if (desc === undefined || field === undefined) return 0n;
    const value: unknown = reflect(desc, fromBinary(desc, bytes)).get(field);
    return typeof value === 'bigint' || typeof value === 'number' || typeof value === 'string'
      ? BigInt(value)
      : 0n;
  };
}

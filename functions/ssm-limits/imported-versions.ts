/** Remembers which version of each parameter was imported, one item per parameter. */
import type { LedgerClock } from '../core/environment/environment.ts';
import { itemAt, readAll, readItem, timedTable, writeItem } from '../core/store/calls.ts';
import { IMPORTED_PARAMETER_SK_PREFIX, ledgerKeys } from '../core/store/keys.ts';
import type { InstanceTable, Item } from '../core/store/operation.ts';
import { SK, TTL_ATTRIBUTE } from '../names.ts';

interface ImportedVersion {
  readonly version: number;
  /** Unix ms: a parameter that was deleted and made again begins with version 1. */
  readonly modifiedAtMs: number;
  /** Ids of the limits it names. A later version that does not name them removes them. */
  readonly limits: readonly string[];
}

export type ImportedVersions = ReturnType<typeof dynamoImportedVersions>;

const TIMEOUT_MS = 5_000;
const READ_ALL_TIMEOUT_MS = 30_000;
/** The program has no right to delete: an emptied item expires. */
const EMPTIED_KEPT_SECONDS = 86_400;

interface Deps extends InstanceTable {
  readonly clock: Pick<LedgerClock, 'nowMs'>;
}

export function dynamoImportedVersions({ table, instance, clock }: Deps) {
  const { importedParameter } = ledgerKeys(instance);
  const timed = timedTable(table, TIMEOUT_MS);
  return {
    async readAll(): Promise<ReadonlyMap<number, ImportedVersion>> {
      const sk = { begins: IMPORTED_PARAMETER_SK_PREFIX };
      const query = { pk: importedParameter(0).pk, sk, consistent: true };
      const items = await readAll(timedTable(table, READ_ALL_TIMEOUT_MS), 'imported parameters', query);
      return new Map(
        items.flatMap((item) => {
          const group = Number(item[SK]?.S?.slice(IMPORTED_PARAMETER_SK_PREFIX.length));
          const imported = decode(item);
          return imported === undefined ? [] : [[group, imported] as const];
        }),
      );
    },
    async read(group: number): Promise<ImportedVersion | undefined> {
      const item = await readItem(timed, 'an imported parameter', importedParameter(group));
      return item && decode(item);
    },
    async write(group: number, imported: ImportedVersion | undefined): Promise<void> {
      const expires = Math.ceil(clock.nowMs() / 1000) + EMPTIED_KEPT_SECONDS;
      const attributes: Item =
        imported === undefined
          ? { [TTL_ATTRIBUTE]: { N: String(expires) } }
          : {
              ve: { N: String(imported.version) },
              at: { N: String(imported.modifiedAtMs) },
              li: { S: JSON.stringify(imported.limits) },
            };
      await writeItem(timed, 'an imported parameter', itemAt(importedParameter(group), attributes));
    },
  };
}

function decode({ ve, at, li }: Item): ImportedVersion | undefined {
  if (ve?.N === undefined) return undefined;
  const limits: unknown = JSON.parse(li?.S ?? '[]');
  return {
    version: Number(ve.N),
    modifiedAtMs: Number(at?.N),
    limits: Array.isArray(limits) ? limits.map(String) : [],
  };
}

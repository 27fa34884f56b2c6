import { Document, isPair, isScalar, visit } from 'yaml';
import type { LimitsDocument } from '../../../functions/core/limits/limit-set.ts';
import type { LimitPointer, LimitTable } from '../../../functions/core/limits/limit-table.ts';
import { readChange, readLimitSet } from '../../../functions/core/limits/publish-limits.ts';
import { SPENT_KINDS } from '../../../policies/unit.ts';

const TIMEOUT_MS = 5_000;

export const livePointer = (table: LimitTable): Promise<LimitPointer | undefined> =>
  table.getPointer({ timeoutMs: TIMEOUT_MS });

export async function readLiveSet(table: LimitTable) {
  const pointer = await livePointer(table);
  return pointer && { pointer, ...(await readLimitSet(pointer.set, table)) };
}

/** @throws {Error} no set of this name is kept (any more). @throws {LimitsError} */
export async function readKept(set: string, table: LimitTable) {
  if ((await readChange(set, table)) === undefined)
    throw new Error(
      `there is no set "${set}": replaced sets are kept for 90 days; tollgate budget history names them`,
    );
  return { set, ...(await readLimitSet(set, table)) };
}

export const baseLine = (set: string, edit: number): string =>
  `# Set ${set}, edit ${edit}. An edit of it is published only while it is live (--base ${set})\n`;

/** The set a document says it is an edit of; undefined: it does not say. */
export const baseIn = (text: string): string | undefined => /^\uFEFF?# Set (\S+), edit \d+\./.exec(text)?.[1];

export function limitsYaml(document: LimitsDocument): string {
  const yaml = new Document(document);
  visit(yaml, {
    Scalar(key, node, path) {
      const pair = path.at(-1);
      if (key !== 'value' || !isPair(pair) || !isScalar(pair.key) || !AMOUNTS.has(String(pair.key.value)))
        return;
      if (typeof node.value !== 'string' || !DECIMAL.test(node.value)) return;
      const digits = node.value.split('.')[1]?.length ?? 0;
      node.value = Number(node.value);
      if (digits > 0) node.minFractionDigits = digits;
    },
  });
  return yaml.toString({ lineWidth: 0 });
}

const AMOUNTS: ReadonlySet<unknown> = new Set(SPENT_KINDS);
const DECIMAL = /^(?:0|[1-9]\d{0,8})(?:\.\d{1,6})?$/;

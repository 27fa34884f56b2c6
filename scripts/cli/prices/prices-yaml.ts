import { stringify } from 'yaml';
import { decimal } from '../../../functions/answers/statement/csv.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import { type PriceTable, priceVersions } from '../../../policies/prices/price.ts';
import type { ProposedFigure } from './compare-prices.ts';

/**
 * `prices` of policy.yaml with one version more, in force from the next month on: the newest one with other rates.
 *
 * @param written - `prices` as the document has them.
 */
export function pricesYaml(
  written: unknown,
  table: PriceTable,
  rates: ReadonlyMap<string, ProposedFigure>,
  nowMs: number,
): string {
  const versions: readonly unknown[] = Array.isArray(written) ? written : [written];
  const newest = versions.at(-1);
  const { classes, version: _, from: __, allow_jump: ___, ...rest } = isRecord(newest) ? newest : {};
  const from = nextMonth(Math.max(nowMs, table.later?.at(-1)?.fromMs ?? nowMs));
  const taken = new Set(priceVersions(table).map(({ version }) => version));
  const month = from.slice(0, 7);
  const proposed = {
    version: taken.has(month) ? `${month}-bill` : month,
    from,
    ...rest,
    classes: Array.isArray(classes) ? classes.map((each) => withRates(each, rates)) : [],
  };
  // Rates are read as text; as numbers they need no quotes, and have too few digits to change.
  const plain = (key: unknown, value: unknown): unknown =>
    typeof key === 'string' && key.startsWith('rate_per_') ? Number(value) : value;
  return stringify({ prices: [...versions, proposed] }, plain, {
    lineWidth: 120,
    aliasDuplicateObjects: false,
  });
}

function withRates(written: unknown, rates: ReadonlyMap<string, ProposedFigure>): unknown {
  if (!isRecord(written) || typeof written.name !== 'string') return written;
  const figure = rates.get(written.name);
  if (figure === undefined) return written;
  const { microsPerMinute, microsPerCpuHour, microsPerGibHour } = figure;
  return {
    ...written,
    rate_per_minute: decimal(microsPerMinute),
    ...(microsPerCpuHour !== undefined && { rate_per_cpu_hour: decimal(microsPerCpuHour) }),
    ...(microsPerGibHour !== undefined && { rate_per_gib_hour: decimal(microsPerGibHour) }),
  };
}

/** The first day of the next month in UTC: `2026-12-01`. */
function nextMonth(nowMs: number): string {
  const now = new Date(nowMs);
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString().slice(0, 10);
}

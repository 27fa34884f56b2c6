/** Where the kinds of bills have what a comparison needs. */
import { z } from 'zod';

/** A line of a bill. */
export interface BillLine {
  /** As written: a decimal that may be negative or have an exponent. */
  readonly cost: string;
  /** Undefined: the bill does not say. */
  readonly currency: string | undefined;
  /** Undefined: no date that can be read. */
  readonly startMs: number | undefined;
  /** The value of the tag; undefined: the line does not have the tag. */
  readonly tagValue: string | undefined;
}

type CsvCells = Readonly<Record<string, string>>;

/** A kind of bill that comes as CSV. */
export interface BillFormat {
  readonly name: 'FOCUS' | 'AWS CUR 2.0';
  /** Columns without which a file is not of this kind. */
  readonly needs: readonly string[];
  /** Undefined: the line is counted by other lines. */
  readonly line: (cells: CsvCells, tag: string) => BillLine | undefined;
}

const FOCUS: BillFormat = {
  name: 'FOCUS',
  needs: ['EffectiveCost', 'BillingCurrency', 'ChargePeriodStart', 'Tags'],
  line: (cells, tag) => ({
    cost: cells.EffectiveCost ?? '',
    currency: cells.BillingCurrency,
    startMs: instantOf(cells.ChargePeriodStart),
    tagValue: tagIn(cells.Tags, tag),
  }),
};

/** Their cost is in the lines they cover, by `…_effective_cost`. */
const CUR_COMMITMENTS: ReadonlySet<string> = new Set([
  'SavingsPlanNegation',
  'SavingsPlanRecurringFee',
  'SavingsPlanUpfrontFee',
  'RIFee',
]);

const CUR: BillFormat = {
  name: 'AWS CUR 2.0',
  needs: [
    'line_item_unblended_cost',
    'line_item_line_item_type',
    'line_item_currency_code',
    'line_item_usage_start_date',
  ],
  line: (cells, tag) => {
    const type = cells.line_item_line_item_type ?? '';
    if (CUR_COMMITMENTS.has(type)) return undefined;
    const cost =
      type === 'SavingsPlanCoveredUsage'
        ? cells.savings_plan_savings_plan_effective_cost
        : type === 'DiscountedUsage'
          ? cells.reservation_effective_cost
          : cells.line_item_unblended_cost;
    return {
      cost: cost ?? '',
      currency: cells.line_item_currency_code,
      startMs: instantOf(cells.line_item_usage_start_date),
      tagValue: tagIn(cells.resource_tags, tag) ?? columnOfTag(cells, tag),
    };
  },
};

export const BILL_FORMATS: readonly BillFormat[] = [FOCUS, CUR];

/** What OpenCost answers for `/allocation`: a map of allocations for each step of the window. */
export const OpenCostExport = z.object({
  data: z.array(
    z.record(
      z.string(),
      z.object({
        name: z.string(),
        start: z.string(),
        totalCost: z.number(),
        properties: z.object({ labels: z.record(z.string(), z.string()).optional() }).nullish(),
      }),
    ),
  ),
});

/** An export that is aggregated by the label has no labels, and the value as the name. */
export function openCostLines(bill: z.infer<typeof OpenCostExport>, tag: string): readonly BillLine[] {
  return bill.data.flatMap((step) =>
    Object.values(step).map(({ name, start, totalCost, properties }) => ({
      cost: String(totalCost),
      currency: undefined,
      startMs: instantOf(start),
      tagValue: properties?.labels === undefined ? name : valueOfTag(properties.labels, tag),
    })),
  );
}

/** `2026-11-01T00:00:00Z`, or as Athena and Parquet tools write it: `2026-11-01 00:00:00.000`. */
function instantOf(text: string | undefined): number | undefined {
  const match = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|[ ]?UTC|\+00:00)?$/.exec(text ?? '');
  const ms = match === null ? Number.NaN : Date.parse(`${match[1]}T${match[2]}Z`);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Tags as a JSON object in one cell. A cell that holds something else has no tags. */
function tagIn(cell: string | undefined, tag: string): string | undefined {
  if (cell === undefined || !cell.startsWith('{')) return undefined;
  try {
    return valueOfTag(JSON.parse(cell), tag);
  } catch {
    return undefined;
  }
}

function valueOfTag(tags: object, tag: string): string | undefined {
  const found: unknown = Object.entries(tags).find(([name]) => plainTag(name) === plainTag(tag))?.[1];
  return typeof found === 'string' && found !== '' ? found : undefined;
}

/** Reports that were set up before maps have a column for each tag. */
const columnOfTag = (cells: CsvCells, tag: string): string | undefined =>
  cells[`resource_tags_user_${plainTag(tag)}`] || undefined;

/** Bills write `tollgate-class` as `user:tollgate-class`, `user_tollgate_class` or `tollgate_class`. */
const plainTag = (name: string): string =>
  name
    .toLowerCase()
    .replace(/^user[:_]/, '')
    .replace(/[^a-z0-9]/g, '_');

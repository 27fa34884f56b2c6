/** Rules of FOCUS 1.2 for the columns of our charges: https://focus.finops.org/focus-specification/v1-2/ */
import { parse } from 'csv-parse/sync';

type Row = Readonly<Record<string, string>>;

export const readCsv = (
  text: string,
): { readonly columns: readonly string[]; readonly rows: readonly Row[] } => {
  const rows: Row[] = parse(text, { columns: true });
  return { columns: text.split('\r\n', 1)[0]?.split(',') ?? [], rows };
};

const namesIn = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Columns that must have a value. */
const NOT_NULL = namesIn(`
  BilledCost BillingAccountId BillingAccountType BillingCurrency BillingPeriodEnd BillingPeriodStart ChargeCategory
  ChargeFrequency ChargePeriodEnd ChargePeriodStart ContractedCost EffectiveCost InvoiceIssuerName ListCost ProviderName
  PublisherName ServiceCategory ServiceName ServiceSubcategory`);
/** Mandatory columns, or conditional ones whose condition holds for us, that may be empty. */
const NULLABLE = namesIn(`
  BillingAccountName ChargeClass ChargeDescription ConsumedQuantity ConsumedUnit ContractedUnitPrice ListUnitPrice
  PricingCategory PricingQuantity PricingUnit ResourceId ResourceName ResourceType SkuId SkuMeter SkuPriceDetails
  SkuPriceId SubAccountId SubAccountName`);
/** Those of a usage row that is no correction. */
const PRICED = namesIn(`
  ConsumedQuantity ConsumedUnit PricingQuantity PricingUnit PricingCategory ListUnitPrice ContractedUnitPrice SkuId
  SkuPriceId`);
/** What the specification allows and what fits our charges. */
const FORMS: readonly (readonly [names: RegExp, form: RegExp])[] = [
  // No plus sign, no exponent, no separators; an instant is UTC in ISO 8601.
  [/(Cost|Quantity|UnitPrice)$/, /^-?\d+(\.\d+)?$/],
  [/Period(Start|End)$/, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/],
  [/^BillingCurrency$/, /^[A-Z]{3}$/],
  [/^ChargeCategory$/, /^(Usage|Adjustment)$/],
  [/^ChargeClass$/, /^Correction$/],
  [/^(Consumed|Pricing)Unit$/, /^(Minutes|Seconds)$/],
  [/^SkuPriceDetails$/, /^\{"[A-Z][A-Za-z0-9]*":"[^"]*"\}$/],
];

const RULES: readonly (readonly [string, (row: Row) => boolean])[] = [
  [
    'a usage row that is no correction is priced',
    (row) =>
      row.ChargeCategory !== 'Usage' ||
      row.ChargeClass === 'Correction' ||
      (PRICED.every((name) => row[name] !== '') &&
        Math.abs(Number(row.ListUnitPrice) * Number(row.PricingQuantity) - Number(row.ListCost)) < 5e-7),
  ],
  ['a type has its id, and an id its type', (row) => (row.ResourceType === '') === (row.ResourceId === '')],
  [
    'the charge is within the billing period',
    (row) =>
      stamp(row.BillingPeriodStart) <= stamp(row.ChargePeriodStart) &&
      stamp(row.ChargePeriodStart) < stamp(row.ChargePeriodEnd) &&
      stamp(row.ChargePeriodEnd) <= stamp(row.BillingPeriodEnd),
  ],
  [
    'without discounts all costs are the same',
    (row) => new Set([row.BilledCost, row.EffectiveCost, row.ListCost, row.ContractedCost]).size === 1,
  ],
];

const stamp = (text = ''): number => Date.parse(text);

/** Every rule that a row breaks, and every column that is missing, twice, or not of FOCUS and yet not `x_`. */
export function focusProblems(text: string): readonly string[] {
  const { columns, rows } = readCsv(text);
  const known = [...NOT_NULL, ...NULLABLE, 'InvoiceId'];
  return [
    ...known.filter((name) => !columns.includes(name)).map((name) => `${name} is missing`),
    ...columns.filter((name) => !known.includes(name) && !/^x_[A-Z][A-Za-z0-9]*$/.test(name)),
    ...columns.filter((name, index) => columns.indexOf(name) < index).map((name) => `${name} comes twice`),
    ...(rows.length === 0 ? ['no rows'] : []),
    ...rows.flatMap((row, index) => {
      const cells = columns.filter((name) => {
        const cell = row[name] ?? '';
        if (cell === '') return NOT_NULL.includes(name);
        return FORMS.some(([names, form]) => names.test(name) && !form.test(cell));
      });
      const rules = RULES.filter(([, holds]) => !holds(row)).map(([rule]) => rule);
      return [...cells, ...rules].map((problem) => `row ${index + 1}: ${problem}`);
    }),
  ];
}

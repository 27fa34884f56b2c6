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
const DECIMALS = namesIn(`
  BilledCost ConsumedQuantity ContractedCost ContractedUnitPrice EffectiveCost ListCost ListUnitPrice PricingQuantity`);
/** Words that the specification allows and that fit our charges. */
const WORDS: Readonly<Record<string, RegExp>> = {
  ChargeCategory: /^(Usage|Purchase|Tax|Credit|Adjustment)$/,
  ChargeClass: /^Correction$/,
  ChargeFrequency: /^(One-Time|Recurring|Usage-Based)$/,
  PricingCategory: /^(Standard|Dynamic|Committed|Other)$/,
  ServiceSubcategory: /^(Continuous Integration and Deployment|Other \(Developer Tools\))$/,
};

/** Time units of the specification's unit format, in the plural it recommends. */
const TIME_UNITS = ['Years', 'Months', 'Days', 'Hours', 'Minutes', 'Seconds'];

function cellProblem(name: string, text: string): string | undefined {
  if (text === '') return NOT_NULL.includes(name) ? `${name} is null` : undefined;
  // No plus sign, no exponent, no separators; an instant is UTC in ISO 8601.
  if (DECIMALS.includes(name) && !/^-?\d+(\.\d+)?$/.test(text)) return `${name} is no decimal`;
  if (/Period(Start|End)$/.test(name) && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text))
    return `${name} is no instant`;
  if (name === 'SkuPriceDetails' && !isKeyValue(text)) return `${name} is no JSON of keys and values`;
  return WORDS[name]?.test(text) === false ? `${name} is none of the allowed` : undefined;
}

/** Keys of a provider's own are in pascal case; values are no objects. */
function isKeyValue(text: string): boolean {
  try {
    return Object.entries(JSON.parse(text)).every(
      ([key, each]) => /^[A-Z][A-Za-z0-9]*$/.test(key) && typeof each !== 'object',
    );
  } catch {
    return false;
  }
}

const isUsage = (row: Row): boolean => row.ChargeCategory === 'Usage';
/** Many columns may be null or off in a correction of an earlier billing period. */
const isCorrection = (row: Row): boolean => row.ChargeClass === 'Correction';
const isPlainUsage = (row: Row): boolean => isUsage(row) && !isCorrection(row);
const notNull = (row: Row, ...names: readonly string[]): boolean => names.every((name) => row[name] !== '');

/** Rules on several columns of a row. */
const RULES: readonly (readonly [string, (row: Row) => boolean])[] = [
  ['BillingCurrency is an ISO 4217 code', (row) => /^[A-Z]{3}$/.test(row.BillingCurrency ?? '')],
  [
    'units are those of time',
    (row) =>
      [row.ConsumedUnit, row.PricingUnit].every(
        (unit = '') => TIME_UNITS.includes(unit) || (unit === '' && !isPlainUsage(row)),
      ),
  ],
  [
    'unit prices are not negative',
    (row) => Number(row.ListUnitPrice) >= 0 && Number(row.ContractedUnitPrice) >= 0,
  ],
  ['the subcategory is one of the category', (row) => row.ServiceCategory === 'Developer Tools'],
  [
    'a usage row has what was consumed and priced, in what, at what',
    (row) =>
      !isUsage(row) ||
      isCorrection(row) ||
      notNull(
        row,
        'ConsumedQuantity',
        'ConsumedUnit',
        'PricingQuantity',
        'PricingUnit',
        'PricingCategory',
        'ListUnitPrice',
        'ContractedUnitPrice',
      ),
  ],
  [
    'a usage row that is no correction has its SKU',
    (row) => !isPlainUsage(row) || notNull(row, 'SkuId', 'SkuPriceId'),
  ],
  [
    'without a SKU there is no meter, without its price no details',
    (row) =>
      (notNull(row, 'SkuId') || row.SkuMeter === '') &&
      (notNull(row, 'SkuPriceId') || row.SkuPriceDetails === ''),
  ],
  [
    'a name has its id',
    (row) =>
      (row.SubAccountName === '' || row.SubAccountId !== '') &&
      (row.ResourceName === '' || row.ResourceId !== ''),
  ],
  ['a type has its id, and an id its type', (row) => (row.ResourceType === '') === (row.ResourceId === '')],
  [
    'periods end after they begin',
    (row) =>
      stamp(row.BillingPeriodStart) < stamp(row.BillingPeriodEnd) &&
      stamp(row.ChargePeriodStart) < stamp(row.ChargePeriodEnd),
  ],
  [
    'the charge is within the billing period',
    (row) =>
      stamp(row.BillingPeriodStart) <= stamp(row.ChargePeriodStart) &&
      stamp(row.ChargePeriodEnd) <= stamp(row.BillingPeriodEnd),
  ],
  [
    'price × quantity is the cost',
    (row) =>
      (row.PricingQuantity === '' && !isPlainUsage(row)) ||
      isCorrection(row) ||
      (product(row.ListUnitPrice, row.PricingQuantity, row.ListCost) &&
        product(row.ContractedUnitPrice, row.PricingQuantity, row.ContractedCost)),
  ],
  [
    'without discounts all costs are the same',
    (row) => new Set([row.BilledCost, row.EffectiveCost, row.ListCost, row.ContractedCost]).size === 1,
  ],
];

const stamp = (text = ''): number => Date.parse(text);

/** To the half of a micro-unit. */
const product = (price = '', quantity = '', cost = ''): boolean =>
  Math.abs(Number(price) * Number(quantity) - Number(cost)) < 5e-7;

/** Every rule that a row breaks, and every column that is missing, twice, or not of FOCUS and yet not `x_`. */
export function focusProblems(text: string): readonly string[] {
  const { columns, rows } = readCsv(text);
  const known = [...NOT_NULL, ...NULLABLE];
  return [
    ...known.filter((name) => !columns.includes(name)).map((name) => `${name} is missing`),
    ...columns
      .filter((name) => ![...known, 'InvoiceId'].includes(name) && !/^x_[A-Z][A-Za-z0-9]*$/.test(name))
      .map((name) => `${name} is no column of FOCUS`),
    ...columns.filter((name, index) => columns.indexOf(name) < index).map((name) => `${name} comes twice`),
    ...(rows.length === 0 ? ['no rows'] : []),
    ...rows.flatMap((row, index) => {
      const cells = columns.flatMap((name) => cellProblem(name, row[name] ?? '') ?? []);
      const rules = RULES.filter(([, holds]) => !holds(row)).map(([rule]) => rule);
      return [...cells, ...rules].map((problem) => `row ${index + 1}: ${problem}`);
    }),
  ];
}

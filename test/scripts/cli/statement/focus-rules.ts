/** Rules of FOCUS 1.2 for the columns a charge of ours has, written down apart from the code that makes them. */

type Row = Readonly<Record<string, string>>;

export function readCsv(text: string): {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
} {
  const table: string[][] = [[]];
  let [field, quoted] = ['', false];
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (quoted) {
      if (sign !== '"') field += sign;
      else if (text[at + 1] === '"') {
        field += '"';
        at += 1;
      } else quoted = false;
    } else if (sign === '"') quoted = true;
    else if (sign === ',' || sign === '\r') {
      table.at(-1)?.push(field);
      field = '';
      if (sign === '\r') {
        table.push([]);
        at += 1;
      }
    } else field += sign;
  }
  const [columns = [], ...rows] = table.slice(0, -1);
  return {
    columns,
    rows: rows.map((row) => Object.fromEntries(columns.map((name, index) => [name, row[index] ?? '']))),
  };
}

type Level = 'mandatory' | 'conditional' | 'recommended' | 'optional';
type Kind = 'decimal' | 'instant' | 'string' | 'json';

/** What the specification says of one column: https://focus.finops.org/focus-specification/v1-2/ */
interface Column {
  readonly name: string;
  readonly level: Level;
  readonly kind: Kind;
  readonly nulls: boolean;
  readonly values?: readonly string[];
}

const column = (
  level: Level,
  nulls: 'nulls' | 'no nulls',
  kind: Kind,
  name: string,
  values?: readonly string[],
): Column => ({ name, level, kind, nulls: nulls === 'nulls', ...(values !== undefined && { values }) });

/** Every column of FOCUS 1.2, in the order of the specification, by its content constraints. */
const COLUMNS: readonly Column[] = [
  column('recommended', 'nulls', 'string', 'AvailabilityZone'),
  column('mandatory', 'no nulls', 'decimal', 'BilledCost'),
  column('mandatory', 'no nulls', 'string', 'BillingAccountId'),
  column('mandatory', 'nulls', 'string', 'BillingAccountName'),
  column('conditional', 'no nulls', 'string', 'BillingAccountType'),
  column('mandatory', 'no nulls', 'string', 'BillingCurrency'),
  column('mandatory', 'no nulls', 'instant', 'BillingPeriodEnd'),
  column('mandatory', 'no nulls', 'instant', 'BillingPeriodStart'),
  column('conditional', 'nulls', 'string', 'CapacityReservationId'),
  column('conditional', 'nulls', 'string', 'CapacityReservationStatus', ['Used', 'Unused']),
  column('mandatory', 'no nulls', 'string', 'ChargeCategory', [
    'Usage',
    'Purchase',
    'Tax',
    'Credit',
    'Adjustment',
  ]),
  column('mandatory', 'nulls', 'string', 'ChargeClass', ['Correction']),
  column('mandatory', 'nulls', 'string', 'ChargeDescription'),
  column('recommended', 'no nulls', 'string', 'ChargeFrequency', ['One-Time', 'Recurring', 'Usage-Based']),
  column('mandatory', 'no nulls', 'instant', 'ChargePeriodEnd'),
  column('mandatory', 'no nulls', 'instant', 'ChargePeriodStart'),
  column('conditional', 'nulls', 'string', 'CommitmentDiscountCategory', ['Spend', 'Usage']),
  column('conditional', 'nulls', 'string', 'CommitmentDiscountId'),
  column('conditional', 'nulls', 'string', 'CommitmentDiscountName'),
  column('conditional', 'nulls', 'decimal', 'CommitmentDiscountQuantity'),
  column('conditional', 'nulls', 'string', 'CommitmentDiscountStatus', ['Used', 'Unused']),
  column('conditional', 'nulls', 'string', 'CommitmentDiscountType'),
  column('conditional', 'nulls', 'string', 'CommitmentDiscountUnit'),
  column('conditional', 'nulls', 'decimal', 'ConsumedQuantity'),
  column('conditional', 'nulls', 'string', 'ConsumedUnit'),
  column('mandatory', 'no nulls', 'decimal', 'ContractedCost'),
  column('conditional', 'nulls', 'decimal', 'ContractedUnitPrice'),
  column('mandatory', 'no nulls', 'decimal', 'EffectiveCost'),
  column('recommended', 'nulls', 'string', 'InvoiceId'),
  column('mandatory', 'no nulls', 'string', 'InvoiceIssuerName'),
  column('mandatory', 'no nulls', 'decimal', 'ListCost'),
  column('conditional', 'nulls', 'decimal', 'ListUnitPrice'),
  column('conditional', 'nulls', 'string', 'PricingCategory', ['Standard', 'Dynamic', 'Committed', 'Other']),
  column('conditional', 'nulls', 'string', 'PricingCurrency'),
  column('conditional', 'nulls', 'decimal', 'PricingCurrencyContractedUnitPrice'),
  column('conditional', 'nulls', 'decimal', 'PricingCurrencyEffectiveCost'),
  column('conditional', 'nulls', 'decimal', 'PricingCurrencyListUnitPrice'),
  column('mandatory', 'nulls', 'decimal', 'PricingQuantity'),
  column('mandatory', 'nulls', 'string', 'PricingUnit'),
  column('mandatory', 'no nulls', 'string', 'ProviderName'),
  column('mandatory', 'no nulls', 'string', 'PublisherName'),
  column('conditional', 'nulls', 'string', 'RegionId'),
  column('conditional', 'nulls', 'string', 'RegionName'),
  column('conditional', 'nulls', 'string', 'ResourceId'),
  column('conditional', 'nulls', 'string', 'ResourceName'),
  column('conditional', 'nulls', 'string', 'ResourceType'),
  column('mandatory', 'no nulls', 'string', 'ServiceCategory', [
    'AI and Machine Learning',
    'Analytics',
    'Business Applications',
    'Compute',
    'Databases',
    'Developer Tools',
    'Identity',
    'Integration',
    'Internet of Things',
    'Management and Governance',
    'Media',
    'Migration',
    'Mobile',
    'Multicloud',
    'Networking',
    'Security',
    'Storage',
    'Web',
    'Other',
  ]),
  column('mandatory', 'no nulls', 'string', 'ServiceName'),
  // Only those of the one category we use; other categories have others.
  column('recommended', 'no nulls', 'string', 'ServiceSubcategory', [
    'Developer Platforms',
    'Continuous Integration and Deployment',
    'Development Environments',
    'Source Code Management',
    'Quality Assurance',
    'Other (Developer Tools)',
  ]),
  column('conditional', 'nulls', 'string', 'SkuId'),
  column('conditional', 'nulls', 'string', 'SkuMeter'),
  column('conditional', 'nulls', 'json', 'SkuPriceDetails'),
  column('conditional', 'nulls', 'string', 'SkuPriceId'),
  column('conditional', 'nulls', 'string', 'SubAccountId'),
  column('conditional', 'nulls', 'string', 'SubAccountName'),
  column('conditional', 'nulls', 'string', 'SubAccountType'),
  column('conditional', 'nulls', 'json', 'Tags'),
];

/**
 * Conditional columns whose condition holds for us: usage is measured, prices are published, jobs are resources, groups
 * are sub accounts, and who pays is either a top-level group or a whole GitLab.
 */
const CONDITION_HOLDS = [
  'BillingAccountType',
  'ConsumedQuantity',
  'ConsumedUnit',
  'ListUnitPrice',
  'PricingCategory',
  'ResourceId',
  'ResourceName',
  'ResourceType',
  'SkuId',
  'SkuMeter',
  'SkuPriceDetails',
  'SkuPriceId',
  'SubAccountId',
  'SubAccountName',
];

/** Time units of the specification's unit format, in the plural it recommends. */
const TIME_UNITS = ['Years', 'Months', 'Days', 'Hours', 'Minutes', 'Seconds'];

/** No sign for what is positive, no exponent, no separators; an instant is UTC in ISO 8601. */
const IS_OF: Readonly<Record<Kind, (text: string) => boolean>> = {
  decimal: (text) => /^-?\d+(\.\d+)?$/.test(text),
  instant: (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text),
  string: (text) => text.trim() !== '',
  json: isKeyValue,
};

function isKeyValue(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    // Keys of a provider's own are in pascal case and not FOCUS's; values are no objects.
    return Object.entries(value).every(
      ([key, each]) =>
        /^[A-Z][A-Za-z0-9]*$/.test(key) && ['string', 'number', 'boolean'].includes(typeof each),
    );
  } catch {
    return false;
  }
}

function cellProblem({ name, kind, nulls, values }: Column, text: string): string | undefined {
  if (text === '') return nulls ? undefined : `${name} is null`;
  if (!IS_OF[kind](text)) return `${name} is no ${kind}`;
  return values === undefined || values.includes(text) ? undefined : `${name} is none of the allowed`;
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
  const known = new Map(COLUMNS.map((each) => [each.name, each]));
  const required = COLUMNS.filter(
    ({ name, level }) => level === 'mandatory' || CONDITION_HOLDS.includes(name),
  );
  return [
    ...required.filter(({ name }) => !columns.includes(name)).map(({ name }) => `${name} is missing`),
    ...columns
      .filter((name) => !known.has(name) && !/^x_[A-Z][A-Za-z0-9]*$/.test(name))
      .map((name) => `${name} is no column of FOCUS`),
    ...columns.filter((name, index) => columns.indexOf(name) < index).map((name) => `${name} comes twice`),
    ...(rows.length === 0 ? ['no rows'] : []),
    ...rows.flatMap((row, index) => {
      const cells = columns.flatMap((name) => {
        const of = known.get(name);
        return of === undefined ? [] : (cellProblem(of, row[name] ?? '') ?? []);
      });
      const rules = RULES.filter(([, holds]) => !holds(row)).map(([rule]) => rule);
      return [...cells, ...rules].map((problem) => `row ${index + 1}: ${problem}`);
    }),
  ];
}

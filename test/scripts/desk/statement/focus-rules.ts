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

const MANDATORY_FILLED = [
  'BilledCost',
  'BillingAccountId',
  'BillingCurrency',
  'BillingPeriodEnd',
  'BillingPeriodStart',
  'ChargeCategory',
  'ChargeDescription',
  'ChargePeriodEnd',
  'ChargePeriodStart',
  'ContractedCost',
  'EffectiveCost',
  'InvoiceIssuerName',
  'ListCost',
  'PricingQuantity',
  'PricingUnit',
  'ProviderName',
  'PublisherName',
  'ServiceCategory',
  'ServiceName',
];
const MANDATORY_NULLABLE = ['BillingAccountName', 'ChargeClass'];
const NUMBERS = [
  'BilledCost',
  'ConsumedQuantity',
  'ContractedCost',
  'ContractedUnitPrice',
  'EffectiveCost',
  'ListCost',
  'ListUnitPrice',
  'PricingQuantity',
];
const INSTANTS = ['BillingPeriodEnd', 'BillingPeriodStart', 'ChargePeriodEnd', 'ChargePeriodStart'];
const OPTIONAL = [
  'ChargeFrequency',
  'ConsumedQuantity',
  'ConsumedUnit',
  'ContractedUnitPrice',
  'ListUnitPrice',
  'PricingCategory',
  'ResourceId',
  'ResourceName',
  'ResourceType',
  'SkuId',
  'SkuPriceId',
  'SubAccountId',
  'SubAccountName',
];

const RULES: readonly (readonly [string, (row: Row) => boolean])[] = [
  ...MANDATORY_FILLED.map((name) => [`${name} is not null`, (row: Row) => row[name] !== ''] as const),
  ...NUMBERS.map(
    (name) => [`${name} is a number`, (row: Row) => /^-?\d+(\.\d+)?$/.test(row[name] ?? '')] as const,
  ),
  ...INSTANTS.map(
    (name) =>
      [
        `${name} is an instant in UTC`,
        (row: Row) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(row[name] ?? ''),
      ] as const,
  ),
  ['BillingCurrency is an ISO 4217 code', (row) => /^[A-Z]{3}$/.test(row.BillingCurrency ?? '')],
  [
    'ChargeCategory is one of the allowed',
    (row) => ['Usage', 'Purchase', 'Tax', 'Credit', 'Adjustment'].includes(row.ChargeCategory ?? ''),
  ],
  ['ChargeClass is null or Correction', (row) => ['', 'Correction'].includes(row.ChargeClass ?? '')],
  [
    'ChargeFrequency is one of the allowed',
    (row) => ['One-Time', 'Recurring', 'Usage-Based'].includes(row.ChargeFrequency ?? ''),
  ],
  [
    'PricingCategory is one of the allowed',
    (row) => ['Standard', 'Dynamic', 'Committed', 'Other'].includes(row.PricingCategory ?? ''),
  ],
  ['ServiceCategory is one of the allowed', (row) => row.ServiceCategory === 'Developer Tools'],
  [
    'a usage row has what was consumed, in what',
    (row) => row.ChargeCategory !== 'Usage' || (row.ConsumedQuantity !== '' && row.ConsumedUnit !== ''),
  ],
  [
    'a usage row that is no correction has its SKU',
    (row) => row.ChargeClass === 'Correction' || (row.SkuId !== '' && row.SkuPriceId !== ''),
  ],
  [
    'a name has its id',
    (row) =>
      (row.SubAccountName === '' || row.SubAccountId !== '') &&
      (row.ResourceName === '' || row.ResourceId !== ''),
  ],
  ['a type has its id', (row) => row.ResourceType === '' || row.ResourceId !== ''],
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
      product(row.ListUnitPrice, row.PricingQuantity, row.ListCost) &&
      product(row.ContractedUnitPrice, row.PricingQuantity, row.ContractedCost),
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

/** Every rule that a row breaks, and every column that is missing or not of FOCUS and yet not `x_`. */
export function focusProblems(text: string): readonly string[] {
  const { columns, rows } = readCsv(text);
  const known = new Set([...MANDATORY_FILLED, ...MANDATORY_NULLABLE, ...OPTIONAL]);
  return [
    ...[...MANDATORY_FILLED, ...MANDATORY_NULLABLE]
      .filter((name) => !columns.includes(name))
      .map((name) => `${name} is missing`),
    ...columns
      .filter((name) => !known.has(name) && !/^x_[A-Z]\w*$/.test(name))
      .map((name) => `${name} is no column of FOCUS`),
    ...(rows.length === 0 ? ['no rows'] : []),
    ...rows.flatMap((row, index) =>
      RULES.filter(([, holds]) => !holds(row)).map(([rule]) => `row ${index + 1}: ${rule}`),
    ),
  ];
}

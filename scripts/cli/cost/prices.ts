interface Price {
  /** US dollars, without taxes and discounts. */
  readonly usd: number;
  readonly per: number;
  readonly unit: string;
  readonly source: string;
  /** When it was last compared with a public statement of it. */
  readonly readOn: string;
}

export type PriceName = keyof typeof US_EAST_1;
export type Prices = Readonly<Record<PriceName, Price>>;

const MILLION = 1_000_000;

const price = (usd: number, per: number, unit: string, page: string): Price => ({
  ...{ usd, per, unit, source: `https://aws.amazon.com/${page}`, readOn: '2026-11-21' },
});

/** Northern Virginia. Quantities above the first tier of a price are none that a Tollgate reaches. */
const US_EAST_1 = {
  fargateCpu: price(0.03238, 1, 'vCPU-h', 'fargate/pricing/'),
  fargateMemory: price(0.00356, 1, 'GB-h', 'fargate/pricing/'),
  publicAddress: price(0.005, 1, 'address-h', 'vpc/pricing/'),
  writeUnit: price(0.625, MILLION, 'WRU', 'dynamodb/pricing/on-demand/'),
  readUnit: price(0.125, MILLION, 'RRU', 'dynamodb/pricing/on-demand/'),
  tableStorage: price(0.25, 1, 'GB-month', 'dynamodb/pricing/on-demand/'),
  tableBackup: price(0.2, 1, 'GB-month', 'dynamodb/pricing/on-demand/'),
  lambdaRequest: price(0.2, MILLION, 'requests', 'lambda/pricing/'),
  lambdaDuration: price(13.3334, MILLION, 'GB-s', 'lambda/pricing/'),
  apiCall: price(3.5, MILLION, 'calls', 'api-gateway/pricing/'),
  objectWrite: price(5, MILLION, 'requests', 's3/pricing/'),
  dataOut: price(0.09, 1, 'GB', 'ec2/pricing/on-demand/'),
  metric: price(0.3, 1, 'metrics', 'cloudwatch/pricing/'),
  alarm: price(0.1, 1, 'alarms', 'cloudwatch/pricing/'),
  dashboard: price(3, 1, 'dashboards', 'cloudwatch/pricing/'),
  compositeAlarm: price(0.5, 1, 'alarms', 'cloudwatch/pricing/'),
  logIngestion: price(0.5, 1, 'GB', 'cloudwatch/pricing/'),
  logStorage: price(0.03, 1, 'GB-month', 'cloudwatch/pricing/'),
  keyRequest: price(0.03, 10_000, 'requests', 'kms/pricing/'),
  /** Price of Scheduler and custom events. Schedules of rules have no listed price: this is an upper bound. */
  scheduledStart: price(1, MILLION, 'starts', 'eventbridge/pricing/'),
  natHour: price(0.045, 1, 'gateway-h', 'vpc/pricing/'),
  natData: price(0.045, 1, 'GB', 'vpc/pricing/'),
} as const satisfies Readonly<Record<string, Price>>;

/** Differences of a region from Northern Virginia. They are unverified: check the source before a decision. */
const listedOtherwise = (usd: Readonly<Partial<Record<PriceName, number>>>): Prices => {
  const changed = Object.entries(usd).map(([name, amount]) => {
    const known: Price = US_EAST_1[name as PriceName];
    return [name, { ...known, usd: amount, readOn: '2026-11-22' }];
  });
  return { ...US_EAST_1, ...Object.fromEntries(changed) };
};

/** Keyed by region. A region that is not here is refused rather than guessed. */
export const PRICES = {
  'us-east-1': US_EAST_1,
  'us-east-2': US_EAST_1,
  'us-west-2': US_EAST_1,
  'eu-west-1': listedOtherwise({
    ...{ writeUnit: 0.705, readUnit: 0.1415, tableStorage: 0.283, tableBackup: 0.2264 },
    ...{ logIngestion: 0.57, natHour: 0.048, natData: 0.048 },
  }),
  'eu-central-1': listedOtherwise({
    ...{ fargateCpu: 0.03725, fargateMemory: 0.00409 },
    ...{ writeUnit: 0.7625, readUnit: 0.1525, tableStorage: 0.306, tableBackup: 0.2448 },
    ...{
      logIngestion: 0.63,
      logStorage: 0.0324,
      natHour: 0.052,
      natData: 0.052,
      objectWrite: 5.4,
      apiCall: 3.7,
    },
  }),
} as const satisfies Readonly<Record<string, Prices>>;

export type Region = keyof typeof PRICES;

export const REGIONS = Object.keys(PRICES) as readonly Region[];

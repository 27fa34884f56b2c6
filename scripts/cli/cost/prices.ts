/** The price table. Add regions here; each price has its source. */

export interface Price {
  /** US dollars, without taxes and discounts. */
  readonly usd: number;
  /** For so many units. */
  readonly per: number;
  /** The billed unit. */
  readonly unit: string;
  readonly source: string;
  /** When it was last compared with a public statement of it. */
  readonly readOn: string;
  /** `stated`: seen in a public text on that day; `list`: taken from the provider's list as we know it. */
  readonly mark: 'stated' | 'list';
}

export type PriceName = keyof typeof US_EAST_1;
export type Prices = Readonly<Record<PriceName, Price>>;

const READ_ON = '2026-11-21';
const REGIONS_READ_ON = '2026-11-22';
const MILLION = 1_000_000;

const stated = (usd: number, per: number, unit: string, source: string): Price => ({
  usd,
  per,
  unit,
  source: `https://aws.amazon.com/${source}`,
  readOn: READ_ON,
  mark: 'stated',
});
const listed = (usd: number, per: number, unit: string, source: string): Price => ({
  ...stated(usd, per, unit, source),
  mark: 'list',
});

/** Northern Virginia. Quantities above the first tier of a price are none that a Tollgate reaches. */
const US_EAST_1 = {
  fargateCpu: stated(0.03238, 1, 'vCPU-h', 'fargate/pricing/'),
  fargateMemory: stated(0.00356, 1, 'GB-h', 'fargate/pricing/'),
  publicAddress: stated(0.005, 1, 'address-h', 'vpc/pricing/'),
  writeUnit: stated(0.625, MILLION, 'WRU', 'dynamodb/pricing/on-demand/'),
  readUnit: stated(0.125, MILLION, 'RRU', 'dynamodb/pricing/on-demand/'),
  tableStorage: listed(0.25, 1, 'GB-month', 'dynamodb/pricing/on-demand/'),
  tableBackup: listed(0.2, 1, 'GB-month', 'dynamodb/pricing/on-demand/'),
  streamRead: listed(0, MILLION, 'reads', 'dynamodb/pricing/on-demand/'),
  lambdaRequest: stated(0.2, MILLION, 'requests', 'lambda/pricing/'),
  lambdaDuration: stated(13.3334, MILLION, 'GB-s', 'lambda/pricing/'),
  objectWrite: listed(5, MILLION, 'requests', 's3/pricing/'),
  objectStorage: listed(0.023, 1, 'GB-month', 's3/pricing/'),
  dataOut: listed(0.09, 1, 'GB', 'ec2/pricing/on-demand/'),
  queueRequest: listed(0.4, MILLION, 'requests', 'sqs/pricing/'),
  notification: listed(0.5, MILLION, 'requests', 'sns/pricing/'),
  metric: stated(0.3, 1, 'metrics', 'cloudwatch/pricing/'),
  alarm: listed(0.1, 1, 'alarms', 'cloudwatch/pricing/'),
  compositeAlarm: listed(0.5, 1, 'alarms', 'cloudwatch/pricing/'),
  /** The first three of an account cost nothing; from the fourth on it is $3. */
  dashboard: stated(0, 1, 'dashboards', 'cloudwatch/pricing/'),
  logIngestion: stated(0.5, 1, 'GB', 'cloudwatch/pricing/'),
  logStorage: listed(0.03, 1, 'GB-month', 'cloudwatch/pricing/'),
  customerKey: stated(1, 1, 'keys', 'kms/pricing/'),
  keyRequest: stated(0.03, 10_000, 'requests', 'kms/pricing/'),
  parameter: listed(0, 1, 'parameters', 'systems-manager/pricing/'),
  /** Up to 40 a second; more has a price. */
  parameterCall: listed(0, 10_000, 'calls', 'systems-manager/pricing/'),
  /**
   * Price of Scheduler and custom events. Schedules of rules have no listed price: this is an upper bound.
   */
  scheduledStart: stated(1, MILLION, 'starts', 'eventbridge/pricing/'),
  imageStorage: listed(0.1, 1, 'GB-month', 'ecr/pricing/'),
  // A gateway and what goes through it; an endpoint in a zone and what goes through it.
  natHour: listed(0.045, 1, 'gateway-h', 'vpc/pricing/'),
  natData: listed(0.045, 1, 'GB', 'vpc/pricing/'),
  endpointHour: listed(0.01, 1, 'endpoint-h', 'privatelink/pricing/'),
  endpointData: listed(0.01, 1, 'GB', 'privatelink/pricing/'),
  trace: listed(5, MILLION, 'traces', 'xray/pricing/'),
  /** HTTPS, to browsers in North America and Europe; the free terabyte and ten million requests are not deducted. */
  cdnRequest: listed(0.01, 10_000, 'requests', 'cloudfront/pricing/'),
  cdnDataOut: listed(0.085, 1, 'GB', 'cloudfront/pricing/'),
} as const satisfies Readonly<Record<string, Price>>;

/**
 * Differences of a region from Northern Virginia. They are unverified: check the source before a decision.
 */
const listedOtherwise = (usd: Readonly<Partial<Record<PriceName, number>>>): Prices => {
  const changed = Object.entries(usd).map(([name, amount]) => {
    const known: Price = US_EAST_1[name as PriceName];
    return [name, { ...known, usd: amount, readOn: REGIONS_READ_ON, mark: 'list' } satisfies Price];
  });
  return { ...US_EAST_1, ...Object.fromEntries(changed) };
};

/** Keyed by region. A region that is not here is refused rather than guessed. */
export const PRICES = {
  'us-east-1': US_EAST_1,
  'us-east-2': listedOtherwise({}),
  'us-west-2': listedOtherwise({}),
  'eu-west-1': listedOtherwise({
    writeUnit: 0.705,
    readUnit: 0.1415,
    tableStorage: 0.283,
    tableBackup: 0.2264,
    logIngestion: 0.57,
    natHour: 0.048,
    natData: 0.048,
    endpointHour: 0.011,
  }),
  'eu-central-1': listedOtherwise({
    fargateCpu: 0.03725,
    fargateMemory: 0.00409,
    writeUnit: 0.7625,
    readUnit: 0.1525,
    tableStorage: 0.306,
    tableBackup: 0.2448,
    logIngestion: 0.63,
    logStorage: 0.0324,
    natHour: 0.052,
    natData: 0.052,
    endpointHour: 0.012,
  }),
} as const satisfies Readonly<Record<string, Prices>>;

export type Region = keyof typeof PRICES;

export const REGIONS = Object.keys(PRICES) as readonly Region[];

import type { ClosedMonths } from './model.ts';
import { daySpanMs, type monthSpanMs } from './month.ts';

// Fields and rows of CSV, RFC 4180: https://www.rfc-editor.org/rfc/rfc4180

const MICROS = 1_000_000;

/** All six places and no separators, so that every program reads it. */
export function decimal(micros: number): string {
  const absolute = Math.abs(micros);
  const fraction = String(absolute % MICROS).padStart(6, '0');
  return `${micros < 0 ? '-' : ''}${Math.floor(absolute / MICROS)}.${fraction}`;
}

export const csv = (rows: readonly (readonly string[])[]): string =>
  rows.map((fields) => `${fields.join(',')}\r\n`).join('');

/** Characters that start a formula in Excel, LibreOffice and Google Sheets, after skipped spaces. */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/;

/** Escapes an untrusted text: a possible formula gets an apostrophe. */
export function csvField(text: string): string {
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

// FOCUS 1.2: https://focus.finops.org/focus-specification/v1-2/

type SpanMs = Readonly<ReturnType<typeof monthSpanMs>>;

interface FocusCharge {
  readonly micros: number;
  readonly seconds: number;
  readonly jobs: number;
  /** False: there are no minutes that the cost is the price of. */
  readonly isPriced: boolean;
  readonly instance: string;
  readonly currency: string;
  readonly billing: SpanMs;
  readonly charged: SpanMs;
  /** Without an id, the whole GitLab. */
  readonly account: { readonly id?: number | string; readonly name: string };
  readonly subAccount?: { readonly id: number | string; readonly name: string };
  readonly category: 'Usage' | 'Adjustment';
  readonly isCorrection: boolean;
  readonly description: string;
  readonly invoiceId?: number;
  readonly priceVersions?: readonly string[];
}

/** Columns in their order, fields as CSV; further `x_` columns may follow. */
export type FocusFields = Readonly<Record<string, string>>;

export const focusRows = (rows: readonly FocusFields[]): string =>
  csv([Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))]);

const SKU = 'runner-minutes';

/** One charge for runner minutes at their average price. There are no discounts, so all four costs are the same. */
export function focusCharge(charge: FocusCharge): FocusFields {
  const { micros, seconds, isPriced, billing, charged, account, subAccount, invoiceId, priceVersions } =
    charge;
  const cost = decimal(micros);
  const instance = csvField(charge.instance);
  const minutes = seconds / 60;
  const unitPrice = shortDecimal(minutes === 0 ? 0 : micros / MICROS / minutes);
  const ifPriced = (text: string): string => (isPriced ? text : '');
  return {
    BilledCost: cost,
    BillingAccountId: csvField(String(account.id ?? charge.instance)),
    BillingAccountName: csvField(account.name),
    BillingAccountType: account.id === undefined ? 'GitLab Instance' : 'Group',
    BillingCurrency: charge.currency,
    BillingPeriodEnd: utcSecond(billing.endMs),
    BillingPeriodStart: utcSecond(billing.startMs),
    ChargeCategory: charge.category,
    ChargeClass: charge.isCorrection ? 'Correction' : '',
    ChargeDescription: csvField(charge.description),
    ChargeFrequency: 'Usage-Based',
    ChargePeriodEnd: utcSecond(charged.endMs),
    ChargePeriodStart: utcSecond(charged.startMs),
    ConsumedQuantity: ifPriced(String(seconds)),
    ConsumedUnit: ifPriced('Seconds'),
    ContractedCost: cost,
    ContractedUnitPrice: ifPriced(unitPrice),
    EffectiveCost: cost,
    InvoiceId: String(invoiceId ?? ''),
    InvoiceIssuerName: instance,
    ListCost: cost,
    ListUnitPrice: ifPriced(unitPrice),
    PricingCategory: ifPriced('Standard'),
    PricingQuantity: ifPriced(shortDecimal(minutes)),
    PricingUnit: ifPriced('Minutes'),
    ProviderName: instance,
    PublisherName: instance,
    ResourceId: '',
    ResourceName: '',
    ResourceType: '',
    ServiceCategory: 'Developer Tools',
    ServiceName: 'GitLab CI runner minutes',
    ServiceSubcategory: 'Continuous Integration and Deployment',
    SkuId: ifPriced(SKU),
    SkuMeter: ifPriced('Runner Time'),
    SkuPriceDetails: '',
    SkuPriceId: ifPriced(priceVersions === undefined ? SKU : csvField(`${SKU}@${priceVersions.join('+')}`)),
    SubAccountId: String(subAccount?.id ?? ''),
    SubAccountName: csvField(subAccount?.name ?? ''),
    x_JobCount: String(charge.jobs),
  };
}

const PLACES = 12;

/** At most twelve places, and no zeros at the end. */
export function shortDecimal(value: number): string {
  const digits = value.toFixed(PLACES).replace(/\.?0+$/, '');
  return digits === '-0' ? '0' : digits;
}

/** FOCUS wants whole seconds. */
const utcSecond = (atMs: number): string => `${new Date(atMs).toISOString().slice(0, 19)}Z`;

// A closed statement as rows that add up to what is due.

type ClosedStatement = ClosedMonths['statements'][number];
type ClosedRow = ReturnType<typeof closedRows>[number];

export const closedRows = ({ lines, adjustments }: ClosedStatement) => [
  ...lines.map(({ day, ...line }) => ({ kind: 'usage' as const, when: day, ...line, about: '' })),
  ...adjustments.map(({ month, jobs, seconds, micros, number, corrections }) => ({
    ...{ kind: 'adjustment' as const, when: month, jobs, seconds, micros },
    about: `statement ${number}, ${corrections} corrections`,
  })),
];

export const closedCsv = (statement: ClosedStatement): string =>
  csv([
    ['number', 'group', 'month', 'kind', 'when', 'jobs', 'seconds', 'cost', 'currency', 'about', 'sha256'],
    ...closedRows(statement).map(({ kind, when, jobs, seconds, micros, about }) => [
      ...[String(statement.number), csvField(statement.group), csvField(statement.month), kind, when],
      ...[String(jobs), String(seconds), decimal(micros), statement.currency, csvField(about)],
      statement.sha256,
    ]),
  ]);

/** A closed month has days and no runner classes, so a day is one charge. What turned out later is a correction. */
export const closedFocusCsv = (statement: ClosedStatement): string =>
  focusRows(closedRows(statement).map((row) => focusFields(row, statement)));

function focusFields(row: ClosedRow, statement: ClosedStatement): FocusFields {
  const { kind, jobs, seconds, micros, when, about } = row;
  const { instance, subject, group, currency, startMs, endMs, number, priceVersions, sha256 } = statement;
  // Jobs with an unknown end are charged without seconds, so there is no price per minute.
  const isPriced = kind === 'usage' && (seconds > 0 || micros === 0);
  const payer = subject === 'instance' ? undefined : { id: subject.slice('group/'.length), name: group };
  const counted = jobs === 1 ? '1 job' : `${jobs} jobs`;
  return {
    ...focusCharge({
      ...{ micros, seconds, jobs, isPriced, instance, currency, priceVersions },
      ...{ billing: { startMs, endMs }, charged: chargePeriod(row, statement) },
      account: payer ?? { name: group },
      ...(payer !== undefined && { subAccount: payer }),
      category: kind === 'usage' && !isPriced ? 'Adjustment' : 'Usage',
      isCorrection: kind === 'adjustment',
      description:
        kind === 'usage' ? `Runner minutes: ${counted} on ${when}` : `Late fact about ${when}: ${about}`,
      invoiceId: number,
    }),
    x_AdjustedMonth: kind === 'adjustment' ? csvField(when) : '',
    x_StatementSha256: sha256,
  };
}

/** The day, cut to the month; an adjustment is charged to the whole month. */
function chargePeriod(
  { kind, when }: ClosedRow,
  { startMs, endMs, zone, usageZone = zone }: ClosedStatement,
): SpanMs {
  if (kind !== 'usage') return { startMs, endMs };
  const day = daySpanMs(when, usageZone);
  if (day.startMs >= endMs || day.endMs <= startMs) return { startMs, endMs };
  return { startMs: Math.max(startMs, day.startMs), endMs: Math.min(endMs, day.endMs) };
}

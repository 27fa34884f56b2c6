/**
 * One charge for runner minutes as a row of a FOCUS 1.2 dataset. There are no discounts, so all four costs are the same, and its
 * price is the average of its minutes.
 *
 * @see https://focus.finops.org/focus-specification/v1-2/
 */
import { csvField, decimal } from './csv-text.ts';

interface SpanMs {
  readonly startMs: number;
  readonly endMs: number;
}

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
  /** The charged account; without an id, the whole GitLab. */
  readonly account: { readonly id?: number | string; readonly name: string };
  /** The group that the jobs are of. */
  readonly subAccount?: { readonly id: number | string; readonly name: string };
  readonly category: 'Usage' | 'Adjustment';
  readonly isCorrection?: boolean;
  readonly description: string;
  readonly invoiceId?: number;
  readonly priceVersions?: readonly string[];
}

/** Columns of FOCUS in their order, fields as CSV; further `x_` columns may follow. */
export type FocusFields = Readonly<Record<string, string>>;

const SKU = 'runner-minutes';

export function focusCharge(charge: FocusCharge): FocusFields {
  const { micros, seconds, isPriced, billing, charged, account, subAccount, invoiceId, priceVersions } =
    charge;
  const cost = decimal(micros);
  const instance = csvField(charge.instance);
  const minutes = seconds / 60;
  const unitPrice = shortDecimal(minutes === 0 ? 0 : micros / 1_000_000 / minutes);
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
    ChargeClass: charge.isCorrection === true ? 'Correction' : '',
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

/** ISO 8601 in UTC, whole seconds, as FOCUS wants them. */
export const utcSecond = (atMs: number): string => `${new Date(atMs).toISOString().slice(0, 19)}Z`;

/**
 * A closed statement as a FOCUS 1.2 dataset, CSV. A closed month has days and no runner classes, so a day is one charge at the
 * average price of its minutes. What turned out later is a correction, and what somebody gave by hand is a credit.
 *
 * @see https://focus.finops.org/focus-specification/v1-2/
 */
import { periodAt } from '../../../policies/limits/period.ts';
import { closedRows } from './closed-csv.ts';
import type { ClosedMonths } from './closed-model.ts';
import { csv, csvField, decimal } from './csv-text.ts';

type ClosedStatement = ClosedMonths['statements'][number];
type ClosedRow = ReturnType<typeof closedRows>[number];

const SKU = 'runner-minutes';

export const closedFocusCsv = (statement: ClosedStatement): string => {
  const rows = closedRows(statement).map((row) => focusFields(row, statement));
  const columns = Object.keys(rows[0] ?? {});
  return csv([columns, ...rows.map((row) => columns.map((name) => row[name] ?? ''))]);
};

function focusFields(row: ClosedRow, statement: ClosedStatement): Readonly<Record<string, string>> {
  const { kind, jobs, seconds, micros, byHand } = row;
  const { instance, subject, group, currency, startMs, endMs, number, priceVersions, sha256 } = statement;
  const cost = decimal(micros);
  const charge = chargePeriod(row, statement);
  const isInstance = subject === 'instance';
  const minutes = seconds / 60;
  // A job whose end nobody knows is charged without a second: then there is no price of a minute.
  const isPriced = !byHand && kind === 'usage' && (seconds > 0 || micros === 0);
  const unitPrice = places(minutes === 0 ? 0 : micros / 1_000_000 / minutes);
  return {
    BilledCost: cost,
    BillingAccountId: isInstance ? csvField(instance) : subject.slice('group/'.length),
    BillingAccountName: csvField(group),
    BillingAccountType: isInstance ? 'GitLab Instance' : 'Group',
    BillingCurrency: currency,
    BillingPeriodEnd: second(endMs),
    BillingPeriodStart: second(startMs),
    ChargeCategory: byHand ? 'Credit' : kind === 'usage' && !isPriced ? 'Adjustment' : 'Usage',
    ChargeClass: kind === 'adjustment' ? 'Correction' : '',
    ChargeDescription: csvField(describedCharge(row)),
    ChargeFrequency: byHand ? 'One-Time' : 'Usage-Based',
    ChargePeriodEnd: second(charge.endMs),
    ChargePeriodStart: second(charge.startMs),
    ConsumedQuantity: isPriced ? String(seconds) : '',
    ConsumedUnit: isPriced ? 'Seconds' : '',
    ContractedCost: cost,
    ContractedUnitPrice: isPriced ? unitPrice : '',
    EffectiveCost: cost,
    InvoiceId: String(number),
    InvoiceIssuerName: csvField(instance),
    ListCost: cost,
    ListUnitPrice: isPriced ? unitPrice : '',
    PricingCategory: isPriced ? 'Standard' : '',
    PricingQuantity: isPriced ? places(minutes) : '',
    PricingUnit: isPriced ? 'Minutes' : '',
    ProviderName: csvField(instance),
    PublisherName: csvField(instance),
    ResourceId: '',
    ResourceName: '',
    ResourceType: '',
    ServiceCategory: 'Developer Tools',
    ServiceName: 'GitLab CI runner minutes',
    ServiceSubcategory: 'Continuous Integration and Deployment',
    SkuId: isPriced ? SKU : '',
    SkuMeter: isPriced ? 'Runner Time' : '',
    SkuPriceDetails: '',
    SkuPriceId: isPriced ? csvField(`${SKU}@${priceVersions.join('+')}`) : '',
    SubAccountId: isInstance ? '' : subject.slice('group/'.length),
    SubAccountName: isInstance ? '' : csvField(group),
    x_JobCount: String(jobs),
    x_AdjustedMonth: kind === 'adjustment' ? csvField(row.when) : '',
    x_StatementSha256: sha256,
  };
}

function describedCharge({ kind, when, jobs, about, byHand }: ClosedRow): string {
  const counted = jobs === 1 ? '1 job' : `${jobs} jobs`;
  if (byHand) return `Credit ${about}`;
  return kind === 'usage' ? `Runner minutes: ${counted} on ${when}` : `Late truth about ${when}: ${about}`;
}

/** The day, cut to the month; what is of no day is of the whole month. */
function chargePeriod(
  { kind, when }: ClosedRow,
  { startMs, endMs, usageZone }: ClosedStatement,
): { readonly startMs: number; readonly endMs: number } {
  if (kind !== 'usage') return { startMs, endMs };
  for (let atMs = startMs; atMs < endMs; ) {
    const day = periodAt('day', usageZone, atMs);
    if (day.key === when)
      return { startMs: Math.max(startMs, day.startMs), endMs: Math.min(endMs, day.endMs) };
    atMs = day.endMs;
  }
  return { startMs, endMs };
}

const PLACES = 12;

const places = (value: number): string => {
  const digits = value.toFixed(PLACES).replace(/\.?0+$/, '');
  return digits === '-0' ? '0' : digits;
};

/** ISO 8601 in UTC, whole seconds, as FOCUS wants them. */
const second = (atMs: number): string => `${new Date(atMs).toISOString().slice(0, 19)}Z`;

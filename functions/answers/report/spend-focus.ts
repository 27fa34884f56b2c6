/**
 * What every group spent, as a FOCUS 1.2 dataset, CSV. A group is one charge of the period at the average price of its minutes: its own
 * projects, since subgroups have charges of their own.
 *
 * @see https://focus.finops.org/focus-specification/v1-2/
 */
import { csv, csvField, decimal } from '../statement/csv-text.ts';
import type { SpendLine, SpendList } from './model.ts';

const SKU = 'runner-minutes';
const PLACES = 12;

/** What nobody is charged for is left out. @param isFirst - whether the names of the columns come first */
export function spendFocusCsv(list: SpendList, isFirst: boolean): string {
  const columns = Object.keys(focusFields(NOTHING, list));
  const charged = list.lines.filter(({ micros, seconds }) => micros !== 0 || seconds !== 0);
  const rows = charged.map((line) => focusFields(line, list));
  return csv([...(isFirst ? [columns] : []), ...rows.map((row) => columns.map((name) => row[name] ?? ''))]);
}

function focusFields(line: SpendLine, list: SpendList): Readonly<Record<string, string>> {
  const { micros, seconds, jobs, groupId, path, rootId, rootPath } = line;
  const { instance, currency, startMs, endMs, fromDay, toDay } = list;
  const cost = decimal(micros);
  const minutes = seconds / 60;
  // A job whose end nobody knows is charged without a second: then there is no price of a minute.
  const isPriced = seconds > 0;
  const unitPrice = isPriced ? places(micros / 1_000_000 / minutes) : '';
  const isGroup = groupId !== undefined;
  return {
    BilledCost: cost,
    BillingAccountId: rootId === undefined ? csvField(instance) : String(rootId),
    BillingAccountName: csvField(rootPath ?? 'All groups'),
    BillingAccountType: rootId === undefined ? 'GitLab Instance' : 'Group',
    BillingCurrency: currency,
    BillingPeriodEnd: second(endMs),
    BillingPeriodStart: second(startMs),
    ChargeCategory: isPriced ? 'Usage' : 'Adjustment',
    ChargeClass: '',
    ChargeDescription: csvField(
      `Runner minutes: ${jobs === 1 ? '1 job' : `${jobs} jobs`} from ${fromDay} to ${toDay}`,
    ),
    ChargeFrequency: 'Usage-Based',
    ChargePeriodEnd: second(endMs),
    ChargePeriodStart: second(startMs),
    ConsumedQuantity: isPriced ? String(seconds) : '',
    ConsumedUnit: isPriced ? 'Seconds' : '',
    ContractedCost: cost,
    ContractedUnitPrice: unitPrice,
    EffectiveCost: cost,
    InvoiceId: '',
    InvoiceIssuerName: csvField(instance),
    ListCost: cost,
    ListUnitPrice: unitPrice,
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
    SkuPriceId: isPriced ? SKU : '',
    SubAccountId: isGroup ? String(groupId) : '',
    SubAccountName: isGroup ? csvField(path) : '',
    x_JobCount: String(jobs),
    x_JobsRejected: String(line.rejected),
    x_JobsNeverRan: String(line.neverRan),
  };
}

const NOTHING: SpendLine = {
  ...{ path: '', withBelowMicros: 0, beforeMicros: 0, micros: 0, heldMicros: 0, jobs: 0, seconds: 0 },
  ...{ rejected: 0, ranRejected: 0, neverRan: 0, endUnknown: 0, unmetered: 0, bypass: 0, exempt: 0 },
  ...{ estimated: 0, overEstimate: 0 },
};

const places = (value: number): string => {
  const digits = value.toFixed(PLACES).replace(/\.?0+$/, '');
  return digits === '-0' ? '0' : digits;
};

/** ISO 8601 in UTC, whole seconds, as FOCUS wants them. */
const second = (atMs: number): string => `${new Date(atMs).toISOString().slice(0, 19)}Z`;

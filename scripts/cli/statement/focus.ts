import { csv, csvField, decimal, shortDecimal, utcSecond } from '../../../functions/answers/statement/csv.ts';
import type { Statement, StatementLine } from '../../../functions/answers/statement/model.ts';

/** The statement as a FOCUS 1.2 dataset, CSV. */
export const focusCsv = (statement: Statement): string =>
  csv([
    FOCUS_COLUMNS.map(({ name }) => name),
    ...statement.lines.map((line) =>
      FOCUS_COLUMNS.map(({ kind, value }) => {
        const field = value(line, statement) ?? '';
        return kind === 'text' ? csvField(field) : field;
      }),
    ),
  ]);

/** A column: text is untrusted and escaped in CSV; all else is ours. `null` is an empty field. */
interface FocusColumn {
  readonly name: string;
  readonly kind: 'text' | 'word' | 'number' | 'instant';
  readonly value: (line: StatementLine, statement: Statement) => string | null;
}

/**
 * Columns of FOCUS 1.2 that a charge for runner minutes has something to say in: all mandatory ones, and those of
 * accounts, resources, prices and usage. There are no discounts, so all four costs are the same. What Tollgate knows
 * beyond FOCUS is in `x_` columns. See https://focus.finops.org/focus-specification/v1-2/
 */
const FOCUS_COLUMNS: readonly FocusColumn[] = [
  number('BilledCost', costOf),
  // The top-level group pays; if unknown, the GitLab itself.
  text('BillingAccountId', ({ rootId }, { instance }) => idText(rootId) ?? instance),
  text('BillingAccountName', ({ rootPath }) => rootPath ?? null),
  word('BillingAccountType', ({ rootId }) => (rootId === undefined ? 'GitLab Instance' : 'Top-Level Group')),
  word('BillingCurrency', (_, { currency }) => currency),
  instant('BillingPeriodEnd', (_, { endMs }) => endMs),
  instant('BillingPeriodStart', (_, { startMs }) => startMs),
  word('ChargeCategory', () => 'Usage'),
  // Only what an earlier statement of this month did not have; within the month a correction is no correction to FOCUS.
  word('ChargeClass', ({ late }) => (late ? 'Correction' : null)),
  text('ChargeDescription', descriptionOf),
  word('ChargeFrequency', () => 'Usage-Based'),
  instant('ChargePeriodEnd', ({ dayEndMs }) => dayEndMs),
  instant('ChargePeriodStart', ({ dayStartMs }) => dayStartMs),
  number('ConsumedQuantity', ({ seconds }) => String(seconds)),
  word('ConsumedUnit', () => 'Seconds'),
  number('ContractedCost', costOf),
  number('ContractedUnitPrice', priceOf),
  number('EffectiveCost', costOf),
  text('InvoiceIssuerName', (_, { instance }) => instance),
  number('ListCost', costOf),
  number('ListUnitPrice', priceOf),
  word('PricingCategory', () => 'Standard'),
  number('PricingQuantity', pricedMinutes),
  word('PricingUnit', () => 'Minutes'),
  text('ProviderName', (_, { instance }) => instance),
  text('PublisherName', (_, { instance }) => instance),
  text('ResourceId', ({ job, projectId }) => idText(job?.id ?? projectId)),
  text('ResourceName', ({ job, projectId, projectPath }) =>
    job !== undefined ? (job.name ?? null) : projectId === undefined ? null : (projectPath ?? null),
  ),
  word('ResourceType', ({ job, projectId }) =>
    job !== undefined ? 'CI Job' : projectId === undefined ? null : 'Project',
  ),
  word('ServiceCategory', () => 'Developer Tools'),
  word('ServiceName', () => 'GitLab CI runner minutes'),
  word('ServiceSubcategory', () => 'Continuous Integration and Deployment'),
  text('SkuId', ({ runnerClass }) => runnerClass),
  word('SkuMeter', () => 'Runner Time'),
  text('SkuPriceDetails', ({ runnerClass }) => JSON.stringify({ RunnerClass: runnerClass })),
  text('SkuPriceId', ({ runnerClass, priceVersion }) => `${runnerClass}@${priceVersion}`),
  text('SubAccountId', ({ groupId }) => idText(groupId)),
  text('SubAccountName', ({ groupId, groupPath }) => (groupId === undefined ? null : (groupPath ?? null))),
  text('x_GroupPath', ({ groupPath }) => groupPath ?? null),
  text('x_ProjectPath', ({ projectPath }) => projectPath ?? null),
  number('x_ProjectId', ({ projectId }) => idText(projectId)),
  text('x_RunnerClass', ({ runnerClass }) => runnerClass),
  number('x_JobCount', ({ jobs }) => String(jobs)),
  number('x_JobId', ({ job }) => idText(job?.id)),
  word('x_DecisionId', ({ job }) => job?.decisionId ?? null),
  word('x_Unchecked', ({ job }) => job?.unchecked ?? null),
  word('x_CorrectionCause', ({ cause }) => cause ?? null),
  word('x_LateTruth', ({ late }) => String(late)),
];

type Value = FocusColumn['value'];

function text(name: string, value: Value): FocusColumn {
  return { name, kind: 'text', value };
}

function word(name: string, value: Value): FocusColumn {
  return { name, kind: 'word', value };
}

function number(name: string, value: Value): FocusColumn {
  return { name, kind: 'number', value };
}

function instant(name: string, valueMs: (line: StatementLine, statement: Statement) => number): FocusColumn {
  return { name, kind: 'instant', value: (line, statement) => utcSecond(valueMs(line, statement)) };
}

function costOf({ micros }: StatementLine): string {
  return decimal(micros);
}

function priceOf({ microsPerMinute }: StatementLine): string {
  return decimal(microsPerMinute);
}

/** Billed minutes: cost ÷ price, because durations are rounded up; real minutes if free. */
function pricedMinutes({ micros, seconds, microsPerMinute }: StatementLine): string {
  return shortDecimal(microsPerMinute === 0 ? seconds / 60 : micros / microsPerMinute);
}

function descriptionOf({ kind, cause, jobs, runnerClass, projectPath, job }: StatementLine): string {
  const whose = projectPath === undefined ? '' : ` of ${projectPath}`;
  const counted = job !== undefined ? `job ${job.name ?? job.id}` : jobs === 1 ? '1 job' : `${jobs} jobs`;
  const what = `${counted}${whose} on ${runnerClass}`;
  return kind === 'usage' ? `Runner minutes: ${what}` : `Correction (${cause ?? 'unknown'}): ${what}`;
}

function idText(id: number | undefined): string | null {
  return id === undefined ? null : String(id);
}

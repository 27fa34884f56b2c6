/**
 * A closed statement as a FOCUS 1.2 dataset, CSV. A closed month has days and no runner classes, so a day is one charge at the
 * average price of its minutes. What turned out later is a correction.
 */
import { periodAt } from '../../../policies/limits/period.ts';
import { closedRows } from './closed-csv.ts';
import type { ClosedMonths } from './closed-model.ts';
import { csv, csvField } from './csv-text.ts';
import { type FocusFields, focusCharge } from './focus-charge.ts';

type ClosedStatement = ClosedMonths['statements'][number];
type ClosedRow = ReturnType<typeof closedRows>[number];

export const closedFocusCsv = (statement: ClosedStatement): string => {
  const rows = closedRows(statement).map((row) => focusFields(row, statement));
  const columns = Object.keys(rows[0] ?? {});
  return csv([columns, ...rows.map((row) => columns.map((name) => row[name] ?? ''))]);
};

function focusFields(row: ClosedRow, statement: ClosedStatement): FocusFields {
  const { kind, jobs, seconds, micros } = row;
  const { instance, subject, group, currency, startMs, endMs, number, priceVersions, sha256 } = statement;
  // Jobs with an unknown end are charged without seconds, so there is no price per minute.
  const isPriced = kind === 'usage' && (seconds > 0 || micros === 0);
  const payer = subject === 'instance' ? undefined : { id: subject.slice('group/'.length), name: group };
  return {
    ...focusCharge({
      ...{ micros, seconds, jobs, isPriced, instance, currency, priceVersions },
      ...{ billing: { startMs, endMs }, charged: chargePeriod(row, statement) },
      account: payer ?? { name: group },
      ...(payer !== undefined && { subAccount: payer }),
      category: kind === 'usage' && !isPriced ? 'Adjustment' : 'Usage',
      isCorrection: kind === 'adjustment',
      description: describedCharge(row),
      invoiceId: number,
    }),
    x_AdjustedMonth: kind === 'adjustment' ? csvField(row.when) : '',
    x_StatementSha256: sha256,
  };
}

function describedCharge({ kind, when, jobs, about }: ClosedRow): string {
  const counted = jobs === 1 ? '1 job' : `${jobs} jobs`;
  return kind === 'usage' ? `Runner minutes: ${counted} on ${when}` : `Late truth about ${when}: ${about}`;
}

/** The day, cut to the month; what is of no day is of the whole month. */
function chargePeriod(
  { kind, when }: ClosedRow,
  { startMs, endMs, zone, usageZone = zone }: ClosedStatement,
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

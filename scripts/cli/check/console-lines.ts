/** Prints the decisions of a console or ledger about a pipeline. */
import type { CheckedPipeline, LimitLeftRow } from '../../../functions/answers/job/model.ts';
import { amountText, bareAmountText } from '../../../policies/units/unit-texts.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import { table, wrapped } from '../../terminal/table.ts';
import type { PipelineFinding } from './findings.ts';
import type { LiveCheck } from './live-step.ts';
import type { PipelineCheck } from './pipeline-check.ts';

/**
 * Lists rejections that the files alone do not show, above all by used-up limits. Rules that need more than
 * the files have stay undecided.
 */
export function rejectingNow(
  { jobs }: PipelineCheck,
  now: LiveCheck | undefined,
): readonly PipelineFinding[] {
  const found = new Map<string, PipelineFinding & { readonly jobs: PipelineFinding['jobs'][number][] }>();
  for (const [index, job] of jobs.entries()) {
    if (job.verdict === 'rejected') continue;
    const reasons = now?.jobs[index]?.reasons ?? [];
    for (const { rule, mode, code, text } of reasons) {
      const isUntold = code === 'FIELD_MISSING' || job.untold.some((each) => each.rule === rule);
      if (mode !== 'enforce' || isUntold) continue;
      const key = JSON.stringify([rule, code, text]);
      const present = found.get(key) ?? { rule, mode, text: `[${code}] ${text}`, jobs: [], everyJob: false };
      present.jobs.push(job);
      found.set(key, present);
    }
  }
  return [...found.values()].map((each) => ({ ...each, everyJob: each.jobs.length === jobs.length }));
}

/** Returns the number of jobs rejected now. */
export const rejectedNow = (check: PipelineCheck, now: LiveCheck | undefined): number =>
  new Set(rejectingNow(check, now).flatMap(({ jobs }) => jobs)).size;

/** `asks 0.24, left 3.10 of 7.50 EUR for November 2026`. */
export const asksAndLeftText = (row: LimitLeftRow, currency: string): string =>
  `asks ${asksText(row)}, left ${restText(row, currency)}`;

const asksText = ({ asked, unit }: LimitLeftRow): string => bareAmountText(asked, unit, 'up');

function restText({ left, amount, unit, periodLabel, mode }: LimitLeftRow, currency: string): string {
  const during = periodLabel === undefined ? '' : ` for ${periodLabel}`;
  const watching = mode === 'enforce' ? '' : ` (${mode})`;
  return `${bareAmountText(Math.max(0, left), unit, 'down')} of ${amountText(amount, unit, currency)}${during}${watching}`;
}

/**
 * For a terminal.
 *
 * @param whole - everything was read that the pipeline rests on.
 */
export function leftSection(
  now: CheckedPipeline,
  whole: boolean,
  { columns, paint }: { readonly columns: number; readonly paint: Paint },
): string {
  const { limits, currency, place } = now;
  const rows = limits.map((row) => [
    `  ${row.fits ? row.limit : paint.warn(row.limit)}`,
    printable(row.label),
    asksText(row),
    restText(row, currency),
  ]);
  const tight = limits
    .filter(({ fits }) => !fits)
    .map(({ limit, label }) => {
      const text = `  More is asked of ${limit} of ${printable(label)} than is left.`;
      return paint.warn(wrapped(text, columns, '    '));
    });
  const hidden = hiddenText(now);
  const notes = [hidden, whole ? '' : UNREAD_ASKS].filter((note) => note !== '');
  const more = [...tight, ...notes.map((note) => paint.dim(wrapped(`  ${note}`, columns, '    ')))];
  if (rows.length + more.length === 0) return '';
  const right = { align: 'right' } as const;
  const titles = [{ title: '  limit' }, { title: 'of' }, { title: 'asks', ...right }, { title: 'left' }];
  const listed = rows.length === 0 ? '' : table(titles, rows, columns, paint.dim);
  return `${paint.strong(`Left now, in ${printable(place.path)}`)}\n${listed}${more.map((line) => `${line}\n`).join('')}`;
}

/** Added if part of the pipeline was not read. */
export const UNREAD_ASKS = 'Jobs and values that were not read may ask for more.';

/** Number of hidden limits as text. Empty: none. */
export const hiddenText = ({ limitsHidden }: CheckedPipeline): string =>
  limitsHidden === 0
    ? ''
    : `${limitsHidden} ${limitsHidden === 1 ? 'limit is' : 'limits are'} on the way whose figures are not told here.`;

import type {
  RolloutClassRow,
  RolloutForecast,
  RolloutRow,
  RolloutStepRow,
} from '../../functions/answers/rollout/model.ts';
import { rolloutNeedText } from '../../functions/answers/rollout/rollout-moves.ts';
import { DAY_MS } from '../../policies/limits/calendar.ts';
import type { RolloutStep } from '../../policies/rollout-step.ts';
import { type Paint, printable } from '../terminal/paint.ts';
import { right, table } from '../terminal/table.ts';
import { shadowCount } from './report/shadow-words.ts';

interface RolloutFormat {
  readonly columns: number;
  readonly paint: Paint;
  readonly nowMs: number;
}

export const rolloutTable = (rows: readonly RolloutRow[], { columns, paint, nowMs }: RolloutFormat): string =>
  table(
    [
      ...['group', 'rules', 'step', 'since'],
      ...['days', 'jobs', 'violations', 'asked'].map(right),
      'the next step needs',
    ],
    rows.flatMap((row) =>
      row.classes.map((each, index) => [
        index === 0 ? rolloutName(row) : '',
        each.class,
        painted(each.step, paint),
        sinceText(each, row, nowMs),
        String(each.days),
        shadowCount(each.jobs),
        shadowCount(each.wouldFail),
        each.coveragePercent === undefined ? '–' : `${each.coveragePercent} %`,
        nextText(each, paint),
      ]),
    ),
    columns,
    paint.dim,
  );

export const rolloutName = ({ subject, path }: Pick<RolloutRow, 'subject' | 'path'>): string =>
  subject === 'instance' ? subject : path;

const painted = (step: RolloutStep, paint: Paint): string =>
  step === 'enforce' ? paint.good(step) : step === 'warn' ? paint.warn(step) : step;

/** `12 days`, `as instance`. */
function sinceText(
  { from, fromPath, sinceMs }: RolloutClassRow,
  { subject }: RolloutRow,
  nowMs: number,
): string {
  if (from !== undefined && from !== subject) return `as ${from === 'instance' ? from : (fromPath ?? from)}`;
  return sinceMs === undefined ? '' : `${Math.floor((nowMs - sinceMs) / DAY_MS)} days`;
}

function nextText({ next, needs }: RolloutClassRow, paint: Paint): string {
  if (next === undefined) return '';
  const missing = needs.filter(({ met }) => !met).map(rolloutNeedText);
  return `${next}: ${missing.length === 0 ? paint.good('ready') : missing.join('; ')}`;
}

/** `acme  cost  shadow → warn` */
export const stepsText = (moved: readonly RolloutStepRow[], columns: number): string =>
  table(
    [{}, {}, {}, {}],
    moved.map((step) => [
      rolloutName(step),
      step.class,
      `${step.from} → ${step.to}`,
      step.unmet.length === 0 ? '' : `forced: ${step.unmet.join('; ')}`,
    ]),
    columns,
  );

export function forecastText({ jobs, wouldFail, days, rows }: RolloutForecast, columns: number): string {
  const head = `If enforced now: ${shadowCount(wouldFail)} of ${shadowCount(jobs)} jobs of the last ${days} days would have failed that run as it is.\n`;
  const shown = rows.map(({ path, rule, limitLabel = '', code, jobs: count, examples: [example] }) => [
    ...[path, rule, `${code}  ${limitLabel}`, shadowCount(count)],
    ...[example?.url ?? (example === undefined ? '' : `job ${example.jobId}`)],
  ]);
  return `${head}${table([{}, {}, {}, { align: 'right' }, {}], shown, columns)}`;
}

export const heldText = (held: readonly RolloutRow[], paint: Paint): string =>
  held
    .map((row) => {
      const missing = row.classes.flatMap(({ needs }) =>
        needs.filter(({ met }) => !met).map(rolloutNeedText),
      );
      return `${paint.bad('stays')}  ${printable(rolloutName(row))}: ${[...new Set(missing)].join('; ')}\n`;
    })
    .join('');

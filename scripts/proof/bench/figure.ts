import { quantile } from '../../local/quantile.ts';

/** One line of the bench: what was measured, what it must reach, and whether it did. */
export interface Figure {
  readonly name: string;
  /** The measured value; NaN where it could not be measured, which reaches nothing. */
  readonly value: number;
  readonly must: { readonly atLeast: number } | { readonly atMost: number };
  readonly unit: '×' | 'per job' | 'tx' | 'MB' | 'ms' | 'µs' | '%' | 's';
  /** How it was got: exact counts repeat on any machine, ratios and CPU time come from interleaved rounds, models say so. */
  readonly kind: 'ratio' | 'cpu' | 'count' | 'modelled';
  /** Smallest and largest of the rounds, for ratios and CPU time. */
  readonly range?: readonly [number, number];
  /** Rounds that differ by more than 2× were disturbed by the machine. It is printed, and excuses nothing. */
  readonly noisy?: boolean;
  readonly note?: string;
}

/** Whether another try may come to something else. */
export const isMeasured = ({ kind }: Figure): boolean => kind === 'ratio' || kind === 'cpu';

export const reached = ({ value, must }: Figure): boolean =>
  'atLeast' in must ? value >= must.atLeast : value <= must.atMost;

/** Beyond this spread between rounds a figure says more about the machine than about the code. */
const NOISY_SPREAD = 2;
/** Share of the rounds at either end: one of fifteen that met a neighbour moves no median and is not counted as noise. */
const OUTLIERS_SHARE = 0.1;

export interface Spread {
  readonly median: number;
  readonly range: readonly [number, number];
  readonly noisy: boolean;
}

/**
 * Runs two sides in turn, A B B A A B …, and returns the ratio of their speeds per round with its median.
 * The order changes every round so that a machine that speeds up or slows down favours neither.
 */
export async function ratioOfRounds(
  rounds: number,
  fast: () => Promise<number>,
  base: () => Promise<number>,
): Promise<Spread> {
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 0) {
      const a = await fast();
      ratios.push(a / (await base()));
    } else {
      const b = await base();
      ratios.push((await fast()) / b);
    }
  }
  return spreadOf(ratios);
}

/** What rounds come to: their median, their range, and whether they are too far apart to mean much. */
export function spreadOf(ratios: readonly number[]): Spread {
  const sorted = ratios.toSorted((a, b) => a - b);
  const low = sorted[0] ?? Number.NaN;
  const high = sorted.at(-1) ?? Number.NaN;
  const outliers = Math.floor(ratios.length * OUTLIERS_SHARE);
  const spread = (sorted.at(-1 - outliers) ?? Number.NaN) / (sorted[outliers] ?? Number.NaN);
  return { median: median(sorted), range: [low, high], noisy: spread > NOISY_SPREAD };
}

export const median = (sorted: readonly number[]): number => quantile(sorted, 0.5);

/** The table for people. */
export function renderTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.name,
    `${show(figure.value)}${figure.unit === '×' ? '×' : ` ${figure.unit}`}`,
    'atLeast' in figure.must ? `≥ ${figure.must.atLeast}` : `≤ ${figure.must.atMost}`,
    figure.range === undefined ? '' : `${show(figure.range[0])}–${show(figure.range[1])}`,
    figure.kind,
    verdict(figure),
  ]);
  const head = ['figure', 'measured', 'must', 'rounds', 'kind', ''];
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  const notes = figures
    .filter(({ note }) => note !== undefined)
    .map(({ name, note }) => `  ${name}: ${note}`);
  return [line(head), ...rows.map(line), ...(notes.length > 0 ? ['', ...notes] : [])].join('\n');
}

/** Noise is no excuse: a regression may hide in it, and whoever cannot measure has not shown anything. */
export const isFailedFigure = (figure: Figure): boolean => !reached(figure);

const verdict = (figure: Figure): string =>
  `${reached(figure) ? 'ok' : 'MISSED'}${figure.noisy ? ' (noisy)' : ''}`;

const show = (value: number): string =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);

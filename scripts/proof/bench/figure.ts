import { quantile } from '../../local/random.ts';
import { table } from '../../terminal/table.ts';

export interface Figure {
  readonly name: string;
  /** NaN where it could not be measured, which misses every bound. */
  readonly value: number;
  readonly must: { readonly atLeast: number } | { readonly atMost: number };
  readonly unit: '×' | 'per job' | 'tx' | 'MB';
  /** Counts repeat exactly on any machine, ratios come from interleaved rounds, models rest on constants. */
  readonly kind: 'ratio' | 'count' | 'modelled';
  readonly range?: readonly [number, number];
  readonly note?: string;
}

export const reached = ({ value, must }: Figure): boolean =>
  'atLeast' in must ? value >= must.atLeast : value <= must.atMost;

export type Spread = ReturnType<typeof spreadOf>;

/**
 * Runs two sides in turn, A B B A A B …, and returns the ratio of their values per round with its median.
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

export function spreadOf(ratios: readonly number[]) {
  const sorted = ratios.toSorted((a, b) => a - b);
  const range: readonly [number, number] = [sorted[0] ?? Number.NaN, sorted.at(-1) ?? Number.NaN];
  return { median: median(sorted), range };
}

export const median = (values: readonly number[]): number =>
  quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );

export function ratioFigure(
  name: string,
  { median: value, range }: Spread,
  must: Figure['must'],
  note?: string,
): Figure {
  return { name, value, must, unit: '×', kind: 'ratio', range, ...(note !== undefined && { note }) };
}

export function renderTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.name,
    `${show(figure.value)}${figure.unit === '×' ? '×' : ` ${figure.unit}`}`,
    'atLeast' in figure.must ? `≥ ${figure.must.atLeast}` : `≤ ${figure.must.atMost}`,
    figure.range === undefined ? '' : `${show(figure.range[0])}–${show(figure.range[1])}`,
    figure.kind,
    reached(figure) ? 'ok' : 'MISSED',
  ]);
  const notes = figures.flatMap(({ name, note }) => (note === undefined ? [] : [`  ${name}: ${note}`]));
  const titles = ['figure', 'measured', 'must', 'rounds', 'kind', ''];
  return [table(titles, rows, Number.POSITIVE_INFINITY).trimEnd(), '', ...notes].join('\n').trimEnd();
}

const show = (value: number): string =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);

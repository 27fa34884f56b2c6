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
  readonly note?: string | undefined;
}

export const reached = ({ value, must }: Figure): boolean =>
  'atLeast' in must ? value >= must.atLeast : value <= must.atMost;

/**
 * Runs two sides in turn, A B B A A B …, so that a machine that speeds up or slows down favours neither.
 *
 * @returns both values of each round.
 */
export async function inTurns<T>(rounds: number, own: () => Promise<T>, base: () => Promise<T>) {
  const pairs: (readonly [own: T, base: T])[] = [];
  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 0) {
      pairs.push([await own(), await base()]);
    } else {
      const below = await base();
      pairs.push([await own(), below]);
    }
  }
  return pairs;
}

export const median = (values: readonly number[]): number =>
  quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );

export const ratioFigure = (
  name: string,
  ratios: readonly number[],
  must: Figure['must'],
  note?: string,
): Figure => ({ name, value: median(ratios), must, unit: '×', kind: 'ratio', note });

export function renderTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.name,
    `${show(figure.value)}${figure.unit === '×' ? '×' : ` ${figure.unit}`}`,
    'atLeast' in figure.must ? `≥ ${figure.must.atLeast}` : `≤ ${figure.must.atMost}`,
    figure.kind,
    reached(figure) ? 'ok' : 'MISSED',
  ]);
  const notes = figures.flatMap(({ name, note }) => (note === undefined ? [] : [`  ${name}: ${note}`]));
  const titles = ['figure', 'measured', 'must', 'kind', ''];
  return [table(titles, rows, Number.POSITIVE_INFINITY).trimEnd(), '', ...notes].join('\n').trimEnd();
}

const show = (value: number): string =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);

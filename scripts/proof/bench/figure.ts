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

const newFigure =
  (kind: Figure['kind']) =>
  (name: string, value: number, must: Figure['must'], unit: Figure['unit'], note?: string): Figure => ({
    ...{ name, value, must, unit, kind, note },
  });

export const countFigure = newFigure('count');
export const modelFigure = newFigure('modelled');
export const ratioFigure = (name: string, ratios: readonly number[], must: Figure['must'], note?: string) =>
  newFigure('ratio')(name, median(ratios), must, '×', note);

export const reached = ({ value, must }: Figure): boolean =>
  'atLeast' in must ? value >= must.atLeast : value <= must.atMost;

/** Ratios of times differ between runs of equal code, so theirs are targets. */
export const passes = (figure: Figure): boolean => figure.kind === 'ratio' || reached(figure);

/**
 * Measures each side once a round, A B B A A B …, so that a machine that speeds up or slows down favours neither.
 *
 * @returns the values of each round by side.
 */
export async function inTurns<Name extends string, Side, Value>(
  rounds: number,
  sides: Readonly<Record<Name, Side>>,
  measure: (side: Side) => Promise<Value>,
) {
  const names = Object.keys(sides) as Name[];
  const measured: Readonly<Record<Name, Value>>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const values = {} as Record<Name, Value>;
    for (const name of round % 2 === 0 ? names : names.toReversed())
      values[name] = await measure(sides[name]);
    measured.push(values);
  }
  return measured;
}

export const median = (values: readonly number[]): number =>
  quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );

export function renderTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.name,
    `${show(figure.value)}${figure.unit === '×' ? '×' : ` ${figure.unit}`}`,
    'atLeast' in figure.must ? `≥ ${figure.must.atLeast}` : `≤ ${figure.must.atMost}`,
    figure.kind,
    reached(figure) ? 'ok' : passes(figure) ? 'off target' : 'MISSED',
  ]);
  const notes = figures.flatMap(({ name, note }) => (note === undefined ? [] : [`  ${name}: ${note}`]));
  const titles = ['figure', 'measured', 'must', 'kind', ''];
  return [table(titles, rows, Number.POSITIVE_INFINITY).trimEnd(), '', ...notes].join('\n').trimEnd();
}

const show = (value: number): string =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);

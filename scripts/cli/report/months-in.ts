import type { SpendReport } from '../../../functions/answers/report/model.ts';

interface MonthDays {
  readonly from: string;
  readonly to: string;
}

/** The months of a report by month, cut to its days. */
export const monthsIn = ({
  fromDay,
  toDay,
  rows,
}: Pick<SpendReport, 'fromDay' | 'toDay' | 'rows'>): readonly MonthDays[] =>
  rows.map(({ name }) => ({
    from: fromDay.startsWith(name) ? fromDay : `${name}-01`,
    to: toDay.startsWith(name) ? toDay : lastDay(name),
  }));

const lastDay = (month: string): string => {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10);
};

import { readWrittenDay } from '../../../policies/document/written.ts';
import { JOB_KEY_TEXTS, type SpendKey, type SpendQuery } from '../../answers/report/model.ts';
import type { Markup } from './parts/layout.tsx';

const PERIODS = [
  ['month', 'this month'],
  ['last-month', 'last month'],
  ['quarter', 'this quarter'],
  ['last-quarter', 'last quarter'],
  ['year', 'this year'],
  ['last-year', 'last year'],
] as const;

export const KEY_TEXTS: Readonly<Record<SpendKey, string>> = {
  group: 'group',
  project: 'project',
  class: 'runner class',
  ...JOB_KEY_TEXTS,
  day: 'day',
  month: 'month',
};

interface FormShown {
  /** Key of the report's rows. */
  readonly by: SpendKey | undefined;
  /** Available keys for this subject and user. */
  readonly keys: readonly SpendKey[];
}

/** Period, subject and key. Two given days win over the selected period. */
export const reportForm = (asked: SpendQuery, { by, keys }: FormShown): Markup => (
  <form class="filters" method="get" action="/reports" role="search">
    <label>
      Period
      <select name="period">
        {isNamed(asked.period) && <option selected>{asked.period}</option>}
        {PERIODS.map(([value, text]) => (
          <option value={value} selected={value === (asked.period ?? 'month')}>
            {text}
          </option>
        ))}
      </select>
    </label>
    <label>
      or from
      <input type="date" name="from" value={isoDay(asked.from)} />
    </label>
    <label>
      to
      <input type="date" name="to" value={isoDay(asked.to)} />
    </label>
    {asked.project === undefined ? (
      <label>
        Group
        <input type="search" name="group" value={asked.group ?? ''} placeholder="company/team" />
      </label>
    ) : (
      <input type="hidden" name="project" value={asked.project} />
    )}
    <label>
      By
      <select name="by">
        <option value="">the next level</option>
        {keys.map((key) => (
          <option value={key} selected={asked.by !== undefined && key === by}>
            {KEY_TEXTS[key]}
          </option>
        ))}
      </select>
    </label>
    <label>
      Beside
      <select name="compare">
        <option value="">the period before</option>
        <option value="no" selected={asked.compare === false}>
          nothing
        </option>
      </select>
    </label>
    <button>Show</button>
  </form>
);

const isNamed = (period: string | undefined): boolean =>
  period !== undefined && !PERIODS.some(([value]) => value === period);

/** Query of the same report. */
/** A calendar of the browser's takes no other form. */
function isoDay(written: string | undefined): string {
  const read = readWrittenDay(written ?? '');
  return read.ok ? read.text : '';
}

export const sameQuery = ({ period, from, to, group, project, by, compare }: SpendQuery) => ({
  ...{ period, from, to, group, project, by },
  compare: compare === false ? 'no' : undefined,
});

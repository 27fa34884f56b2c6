/** The hours of a week: a line for each weekday, and in each hour a square as large as what was spent in it. */
import type { SpendReport } from '../../../answers/report/model.ts';
import { address } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { type PageFormat, pageAmount, pageCount } from '../parts/page-format.tsx';

export const HEATS = ['micros', 'jobs'] as const;
/** Quantity of the squares. */
export type HeatKind = (typeof HEATS)[number];

const HEAT_TEXTS: Readonly<Record<HeatKind, string>> = { micros: 'money', jobs: 'jobs' };
const WEEKDAYS = [
  ['Mon', 'Monday'],
  ['Tue', 'Tuesday'],
  ['Wed', 'Wednesday'],
  ['Thu', 'Thursday'],
  ['Fri', 'Friday'],
  ['Sat', 'Saturday'],
  ['Sun', 'Sunday'],
] as const;
const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0'));
/** The squares have so many sizes: the classes `heat1` to `heat9`. */
const SIZES = 9;
/** On narrow pages every sixth hour has a label. */
const LABEL_EVERY = 6;

interface HourMapShown {
  readonly heat: HeatKind;
  /** The query without the quantity of the squares. */
  readonly same: Readonly<Record<string, string | number | undefined>>;
}

export function hourMap(report: SpendReport, { heat, same }: HourMapShown, telling: PageFormat): Markup {
  const { rows, other, zone } = report;
  const byName = new Map(rows.map((row) => [row.name, row]));
  const most = rows.toSorted((a, b) => b[heat] - a[heat])[0];
  const highest = Math.max(1, most?.[heat] ?? 0);
  const told = (row: { readonly micros: number; readonly jobs: number }): string =>
    `${pageAmount(row.micros, 'micros', telling)}, ${pageCount(row.jobs, 'job')}`;
  return (
    <>
      <p class="actions">
        {HEATS.map((each) => (
          <a
            class={each === heat ? 'button main' : 'button'}
            href={address('/reports', { ...same, heat: each === 'micros' ? undefined : each })}
            aria-current={each === heat ? 'true' : undefined}
          >
            {HEAT_TEXTS[each]}
          </a>
        ))}
      </p>
      <div class="scroll" role="group" aria-label={`Hours of the week by ${HEAT_TEXTS[heat]}`} tabindex={0}>
        <table class="heat">
          <caption class="hidden">
            {heat === 'micros' ? `Spent, ${telling.currency}` : 'Jobs'}, by weekday and hour, {zone}
          </caption>
          <thead>
            <tr>
              <td />
              {HOURS.map((hour, index) => (
                <th scope="col">
                  <span class={index % LABEL_EVERY === 0 ? undefined : 'wide'}>{hour}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {WEEKDAYS.map(([short, day]) => (
              <tr>
                <th scope="row">
                  <abbr title={day}>{short}</abbr>
                </th>
                {HOURS.map((hour) => {
                  const row = byName.get(`${short} ${hour}:00`);
                  if (row === undefined || row[heat] <= 0) return <td />;
                  return (
                    <td class={`heat${sizeOf(row[heat], highest)}`} title={`${day} ${hour}:00: ${told(row)}`}>
                      <span>{cellText(row[heat], heat)}</span>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="soft">
        {most === undefined ? 'The hours of these jobs are unknown.' : `Most on ${most.name}: ${told(most)}.`}{' '}
        An hour is the one in which a job was decided, by the clocks of {zone}; a square twice as large is
        twice as much.
        {other.jobs !== 0 && ` In no hour: ${other.label.toLowerCase()}, ${told(other)}.`}
      </p>
    </>
  );
}

/** The area says how much, so the side grows with the root. */
const sizeOf = (amount: number, highest: number): number =>
  Math.max(1, Math.round(Math.sqrt(Math.min(1, amount / highest)) * SIZES));

const COMPACT = new Intl.NumberFormat('en-US', {
  ...{ notation: 'compact', roundingPriority: 'lessPrecision' },
  ...{ maximumSignificantDigits: 3, maximumFractionDigits: 2 },
});
const MICROS = 1_000_000;

const cellText = (amount: number, heat: HeatKind): string => {
  const whole = heat === 'micros' ? amount / MICROS : amount;
  return whole > 0 && whole < 0.01 ? '<.01' : COMPACT.format(whole);
};

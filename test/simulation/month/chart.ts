/** One group's month as SVG: pure text, the same course gives the same bytes. Readable on light and dark ground. */
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import type { Course, HourOfCourse } from './course.ts';
import { MONTH_DAYS, MONTH_END_MS, MONTH_START_MS } from './shape.ts';

const WIDTH = 640;
const HEIGHT = 560;
/** Where the money is drawn, and below it the rejections. */
const MONEY = { left: 76, right: 612, top: 96, bottom: 380 } as const;
const REJECTIONS = { top: 420, bottom: 500 } as const;
const DAYS_PER_TICK = 5;
const MICROS = 1_000_000;

const STYLE = `
.ground{fill:#ffffff}text{fill:#1f2328;font:14px system-ui,sans-serif}.title{font-size:18px;font-weight:600}
.quiet{fill:#57606a}.grid{stroke:#d0d7de}.axis{stroke:#57606a}.spent{fill:#0969da}.held{fill:#bf8700}
.limit{stroke:#cf222e;stroke-width:2;stroke-dasharray:8 5;fill:none}.rejected{fill:#cf222e}
@media (prefers-color-scheme:dark){.ground{fill:#0d1117}text{fill:#e6edf3}.quiet{fill:#9198a1}.grid{stroke:#30363d}
.axis{stroke:#9198a1}.spent{fill:#4493f8}.held{fill:#e3b341}.limit{stroke:#ff7b72}.rejected{fill:#ff7b72}}`;

export function monthChart({ path, limitMicros, hours }: Course): string {
  const shown = hours.filter(({ atMs }) => atMs <= MONTH_END_MS);
  const highest = Math.max(
    limitMicros,
    ...shown.map(({ spentMicros, heldMicros }) => spentMicros + heldMicros),
  );
  const money = axis(highest / MICROS);
  const daily = rejectionsByDay(shown);
  const count = axis(Math.max(...daily));
  const y = (micros: number): number =>
    MONEY.bottom - (micros / MICROS / money.top) * (MONEY.bottom - MONEY.top);
  const spent = shown.map((hour) => [xAt(hour.atMs), y(hour.spentMicros)] as const);
  const both = shown.map((hour) => [xAt(hour.atMs), y(hour.spentMicros + hour.heldMicros)] as const);
  const ground = [
    [xAt(MONTH_START_MS), MONEY.bottom] as const,
    [xAt(shown.at(-1)?.atMs ?? MONTH_START_MS), MONEY.bottom] as const,
  ];
  const total = shown.reduce((sum, { rejections }) => sum + rejections, 0);
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="title desc">`,
    `<title id="title">Group ${escaped(path)}: budget in November 2026</title>`,
    `<desc id="desc">Spent and held money against the limit of ${euros(limitMicros)} EUR, by hour, and ${total} rejections, by day.</desc>`,
    `<style>${STYLE.trim()}</style>`,
    `<rect class="ground" width="${WIDTH}" height="${HEIGHT}"/>`,
    `<text class="title" x="20" y="34">${escaped(path)}: budget in November 2026 (simulated)</text>`,
    legend(limitMicros),
    ...money.ticks.map((tick) => row(y(tick * MICROS), String(tick))),
    `<text class="quiet" transform="translate(20 ${(MONEY.top + MONEY.bottom) / 2}) rotate(-90)" text-anchor="middle">EUR</text>`,
    area('held', [...both, ...spent.toReversed()]),
    area('spent', [...spent, ...ground.toReversed()]),
    `<path class="limit" d="M${MONEY.left} ${round(y(limitMicros))}H${MONEY.right}"/>`,
    line(MONEY.bottom),
    ...count.ticks.map((tick) => row(rejectionY(tick, count.top), String(tick))),
    `<text class="quiet" transform="translate(20 ${(REJECTIONS.top + REJECTIONS.bottom) / 2}) rotate(-90)" text-anchor="middle">jobs a day</text>`,
    ...daily.map((rejections, day) => bar(day, rejectionY(rejections, count.top))),
    line(REJECTIONS.bottom),
    ...dayTicks(),
    `<text class="quiet" x="${(MONEY.left + MONEY.right) / 2}" y="${HEIGHT - 14}" text-anchor="middle">day of the month</text>`,
    '</svg>',
  ].join('\n')}\n`;
}

const xAt = (atMs: number): number =>
  MONEY.left + ((atMs - MONTH_START_MS) / (MONTH_END_MS - MONTH_START_MS)) * (MONEY.right - MONEY.left);

const rejectionY = (rejections: number, top: number): number =>
  REJECTIONS.bottom - (rejections / top) * (REJECTIONS.bottom - REJECTIONS.top);

function rejectionsByDay(hours: readonly HourOfCourse[]): readonly number[] {
  const days = Array.from({ length: MONTH_DAYS }, () => 0);
  for (const { atMs, rejections } of hours) {
    // The hour that ends at midnight belongs to the day before.
    const day = Math.ceil((atMs - MONTH_START_MS) / DAY_MS) - 1;
    days[day] = (days[day] ?? 0) + rejections;
  }
  return days;
}

/** From 0 in steps of 1, 2 or 5 times a power of ten, at most five of them. */
function axis(highest: number): { readonly top: number; readonly ticks: readonly number[] } {
  const rough = Math.max(highest, 1) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10));
  const steps = Math.max(1, Math.ceil(highest / step));
  return { top: steps * step, ticks: Array.from({ length: steps + 1 }, (_, index) => index * step) };
}

function legend(limitMicros: number): string {
  const at = (x: number, mark: string, text: string): string =>
    `${mark}<text x="${x + 24}" y="67">${text}</text>`;
  const box = (name: string, x: number): string =>
    `<rect class="${name}" x="${x}" y="55" width="16" height="14" rx="2"/>`;
  return [
    at(76, box('spent', 76), 'spent'),
    at(160, box('held', 160), 'held'),
    at(244, '<path class="limit" d="M240 62h22"/>', `&#8201;limit ${euros(limitMicros)} EUR`),
    at(430, box('rejected', 430), 'rejected jobs'),
  ].join('');
}

const row = (y: number, label: string): string =>
  `<path class="grid" d="M${MONEY.left} ${round(y)}H${MONEY.right}"/>` +
  `<text class="quiet" x="${MONEY.left - 8}" y="${round(y + 5)}" text-anchor="end">${label}</text>`;

const line = (y: number): string => `<path class="axis" d="M${MONEY.left} ${y}H${MONEY.right}"/>`;

const area = (name: string, points: readonly (readonly [number, number])[]): string =>
  `<path class="${name}" d="M${points.map(([x, y]) => `${round(x)} ${round(y)}`).join('L')}Z"/>`;

function bar(day: number, top: number): string {
  if (top >= REJECTIONS.bottom) return '';
  const left = xAt(MONTH_START_MS + day * DAY_MS);
  const width = xAt(MONTH_START_MS + DAY_MS) - MONEY.left - 4;
  const height = round(REJECTIONS.bottom - top);
  return `<rect class="rejected" x="${round(left + 2)}" y="${round(top)}" width="${round(width)}" height="${height}"/>`;
}

function dayTicks(): readonly string[] {
  const days = [
    1,
    ...Array.from({ length: MONTH_DAYS / DAYS_PER_TICK }, (_, index) => (index + 1) * DAYS_PER_TICK),
  ];
  return days.map((day) => {
    const x = round(xAt(MONTH_START_MS + (day - 0.5) * DAY_MS));
    return `<text class="quiet" x="${x}" y="${REJECTIONS.bottom + 20}" text-anchor="middle">${day}</text>`;
  });
}

const round = (value: number): string => String(Math.round(value * 10) / 10);

const euros = (micros: number): string => (micros / MICROS).toFixed(2);

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

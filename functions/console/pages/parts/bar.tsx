import type { Markup } from './markup.ts';

/** Once for the whole page; bars refer to them. Stripes, because colour is never the only sign. */
export const HELD_PATTERNS = (
  <svg class="patterns" aria-hidden="true">
    <defs>
      <pattern id="held" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect class="held-ground" width="5" height="5" />
        <path class="held-line" d="M1 0V5" stroke-width="2.4" />
      </pattern>
      <pattern
        id="held-over"
        width="5"
        height="5"
        patternUnits="userSpaceOnUse"
        patternTransform="rotate(45)"
      >
        <rect class="held-ground" width="5" height="5" />
        <path class="held-over" d="M1 0V5" stroke-width="2.4" />
      </pattern>
    </defs>
  </svg>
);

interface BarFigures {
  /** Whole units. */
  readonly spent: number;
  readonly held: number;
  readonly limit: number;
  /** Expected spend at the end of the period; absent: unknown. */
  readonly forecast?: number | undefined;
}

/** Draws spend solid, held amounts striped, and the forecast as a mark. The figures are shown as text. */
export function Bar({ spent, held, limit, forecast }: BarFigures): Markup {
  // Past the limit the bar is the whole, and an edge shows where the limit was.
  const full = Math.max(limit, spent + held, 1);
  const at = (amount: number): string => `${round((amount / full) * 100)}%`;
  const over = spent + held - limit;
  const heldWithin = Math.max(0, Math.min(held, limit - spent));
  const mark = forecast === undefined ? undefined : Math.min(forecast, full);
  return (
    <svg class="bar" aria-hidden="true">
      {spent > 0 && <rect class="spent" width={at(Math.min(spent, limit))} height="100%" />}
      {spent > limit && <rect class="over" x={at(limit)} width={at(spent - limit)} height="100%" />}
      {heldWithin > 0 && <rect fill="url(#held)" x={at(spent)} width={at(heldWithin)} height="100%" />}
      {held > heldWithin && (
        <rect
          fill="url(#held-over)"
          x={at(Math.max(spent, limit))}
          width={at(held - heldWithin)}
          height="100%"
        />
      )}
      {over > 0 && limit > 0 && <rect class="edge" x={at(limit)} width="2" height="100%" />}
      {mark !== undefined && <rect class="mark" x={`calc(${at(mark)} - 2px)`} width="2" height="100%" />}
    </svg>
  );
}

export const BAR_KEY = (
  <ul class="key" aria-label="Signs of the bars">
    <li>
      <svg aria-hidden="true">
        <rect class="spent" width="100%" height="100%" />
      </svg>
      spent
    </li>
    <li>
      <svg aria-hidden="true">
        <rect fill="url(#held)" width="100%" height="100%" />
      </svg>
      held by running jobs
    </li>
    <li>
      <svg aria-hidden="true">
        <rect class="over" width="100%" height="100%" />
      </svg>
      over the limit
    </li>
    <li>
      <svg aria-hidden="true">
        <rect class="mark" fill="currentColor" x="18" width="2" height="100%" />
      </svg>
      forecast for the end of the period
    </li>
  </ul>
);

const round = (percent: number): number => Math.round(percent * 100) / 100;

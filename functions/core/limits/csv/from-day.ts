/** Limits as they shall be from a day on: each ends the day before, and another one takes over. Pure. */
import { readWrittenDay } from '../../../../policies/document/written.ts';
import {
  calendarDay,
  DAY_MS,
  dayNumber,
  dayOfIso,
  dayStartMs,
  isoDay,
} from '../../../../policies/limits/calendar.ts';
import { type Limit, lineOf } from '../../../../policies/limits/limit.ts';
import { type LimitSet, limitPeriod } from '../../../../policies/limits/limits.ts';
import { isValidAt } from '../../../../policies/limits/period.ts';
import { limitsByPlace } from '../change-rows.ts';
import type { Cells } from './columns.ts';
import { entryKey, type PlacedEntry } from './export-limits.ts';
import type { CellContext, LimitEntry } from './read-cells.ts';

const DAYS_AHEAD_MAX = 800;
const PERIOD_KEYS = ['per', 'zone', 'fiscal_start'] as const;

/** Why no file can be about this day; undefined: one can. @param from - `2027-01-01` */
export function notFrom(from: string, nowMs: number): string | undefined {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(from) && isoDay(calendarDay(dayNumber(dayOfIso(from)))) === from;
  const ahead = isDay ? dayNumber(dayOfIso(from)) - Math.floor(nowMs / DAY_MS) : 0;
  return ahead > 0 && ahead <= DAYS_AHEAD_MAX
    ? undefined
    : `'${from}'; expected a day after today, within two years, such as 2027-01-01`;
}

export class FromDay {
  readonly #from: string;
  readonly #nowMs: number;
  readonly #limits = new Map<string, Limit>();
  /** The entry of each line that is in force on the day. */
  readonly #onDay = new Map<string, PlacedEntry>();

  constructor(from: string, limits: LimitSet, placed: readonly PlacedEntry[], nowMs: number) {
    this.#from = from;
    this.#nowMs = nowMs;
    for (const [subject, all] of limitsByPlace(limits))
      for (const limit of all) this.#limits.set(entryKey(subject, limit.id), limit);
    for (const each of placed) {
      const limit = this.#limitOf(each);
      if (limit !== undefined && isValidAt(limit, this.#startMs(limit)))
        this.#onDay.set(entryKey(each.subject, lineOf(limit)), each);
    }
  }

  /**
   * The limit that a row is about. A row of one that is over by that day is about the limit that took over, unless it has
   * the end of the old one, or the file has a row of each.
   */
  meant(standing: PlacedEntry, { valid_until = '' }: Cells, keys: ReadonlySet<string>): PlacedEntry {
    const limit = this.#limitOf(standing);
    const until = readWrittenDay(valid_until);
    const hasEnd = until.ok && until.text === standing.entry.until;
    if (limit === undefined || hasEnd || !this.#isOver(limit)) return standing;
    const then = this.#onDay.get(entryKey(standing.subject, lineOf(limit)));
    return then === undefined || keys.has(entryKey(then.subject, then.id)) ? standing : then;
  }

  added(entry: LimitEntry): LimitEntry {
    return entry.from === undefined ? { ...entry, from: this.#from } : entry;
  }

  /** A limit that the file does not name, and that goes with the day. Undefined: it never is in force. */
  ended(standing: PlacedEntry): LimitEntry | undefined {
    const limit = this.#limitOf(standing);
    if (limit === undefined || this.#isOver(limit)) return standing.entry;
    return this.#begins(limit) ? undefined : { ...standing.entry, until: this.#dayBefore() };
  }

  changed(
    standing: PlacedEntry,
    next: LimitEntry,
    refuse: CellContext['refuse'],
  ): readonly LimitEntry[] | undefined {
    const { subject, id, entry } = standing;
    const limit = this.#limitOf(standing);
    if (limit === undefined || this.#begins(limit)) return [next];
    const name = `${id} of ${subject}`;
    if (this.#isOver(limit))
      return refuse('limit_id', `${name} has ended before ${this.#from}; leave its row as it was`);
    const startMs = this.#startMs(limit);
    const period = limitPeriod(limit, startMs);
    if (period?.startMs !== startMs || startMs <= this.#nowMs)
      return refuse(
        'period',
        `${name} has no period that begins on ${this.#from} in ${limit.zone}, after now; leave its row as it was, and change it in a file of its own`,
      );
    if (PERIOD_KEYS.some((key) => next[key] !== entry[key]) || next.from !== entry.from)
      return refuse('period', `${name} keeps its period, zone and begin in a file from a day on`);
    return [
      { ...entry, until: this.#dayBefore() },
      { ...next, id: `${lineOf(limit)}-${this.#from}`, from: this.#from },
    ];
  }

  #limitOf({ subject, id }: PlacedEntry): Limit | undefined {
    return this.#limits.get(entryKey(subject, id));
  }

  #startMs({ zone }: Limit): number {
    return dayStartMs(zone, dayOfIso(this.#from));
  }

  #isOver(limit: Limit): boolean {
    return limit.untilMs !== undefined && limit.untilMs <= this.#startMs(limit);
  }

  /** It begins on the day or later: nothing of it has to end before. */
  #begins(limit: Limit): boolean {
    return limit.fromMs !== undefined && limit.fromMs >= this.#startMs(limit);
  }

  #dayBefore(): string {
    return isoDay(calendarDay(dayNumber(dayOfIso(this.#from)) - 1));
  }
}

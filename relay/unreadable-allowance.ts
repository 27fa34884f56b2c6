/** Unreadable questions admitted per project and hour: enough for an odd job, too few to live on. */
export const UNREADABLE_PER_HOUR = 20;
const HOUR_MS = 3_600_000;
/** Projects counted in one hour; beyond, those that come new share one count. */
export const PROJECTS_MAX = 10_000;

/**
 * How many questions that nobody can judge may still be admitted: a job made unreadable on purpose must not be a free
 * job. Until a first question was read the schema is the suspect, not the jobs: a relay started with the wrong
 * descriptors must not fail a whole company's CI.
 */
export class UnreadableAllowance {
  readonly #monotonicMs: () => number;
  readonly #perHour: number;
  readonly #taken = new Map<string, number>();
  #hour = Number.NEGATIVE_INFINITY;
  #schemaProven = false;

  constructor(monotonicMs: () => number, perHour: number = UNREADABLE_PER_HOUR) {
    this.#monotonicMs = monotonicMs;
    this.#perHour = perHour;
  }

  /** A question was read: the schema fits. */
  schemaFits(): void {
    this.#schemaProven = true;
  }

  /** Whether a question has ever been read with this schema. */
  get schemaProven(): boolean {
    return this.#schemaProven;
  }

  /** Takes one of the project's hour; false when there is none left. */
  take(project: string): boolean {
    if (!this.#schemaProven) return true;
    const hour = Math.floor(this.#monotonicMs() / HOUR_MS);
    if (hour !== this.#hour) {
      this.#hour = hour;
      this.#taken.clear();
    }
    const counted = this.#taken.has(project) || this.#taken.size < PROJECTS_MAX ? project : 'others';
    const taken = this.#taken.get(counted) ?? 0;
    if (taken >= this.#perHour) return false;
    this.#taken.set(counted, taken + 1);
    return true;
  }
}

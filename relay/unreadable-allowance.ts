/** Unreadable questions admitted per project and hour: enough for an odd job, too few to live on. */
export const UNREADABLE_PER_HOUR = 20;
const HOUR_MS = 3_600_000;
/** Projects counted in one hour; beyond, the first ones are forgotten. */
export const PROJECTS_MAX = 10_000;

/**
 * How many questions that nobody can judge may still be admitted: a job made unreadable on purpose must not be a free
 * job. Each project has its own number: nobody pays for a neighbour.
 */
export class UnreadableAllowance {
  readonly #monotonicMs: () => number;
  readonly #perHour: number;
  readonly #taken = new Map<string, number>();
  #hour = Number.NEGATIVE_INFINITY;

  constructor(monotonicMs: () => number, perHour: number = UNREADABLE_PER_HOUR) {
    this.#monotonicMs = monotonicMs;
    this.#perHour = perHour;
  }

  /** Takes one of the project's hour; false when there is none left. */
  take(project: string): boolean {
    const hour = Math.floor(this.#monotonicMs() / HOUR_MS);
    if (hour !== this.#hour) {
      this.#hour = hour;
      this.#taken.clear();
    }
    const taken = this.#taken.get(project) ?? 0;
    if (taken >= this.#perHour) return false;
    this.#taken.set(project, taken + 1);
    const [oldest] = this.#taken.keys();
    if (this.#taken.size > PROJECTS_MAX && oldest !== undefined) this.#taken.delete(oldest);
    return true;
  }
}

export const COMPARED = {
  answers: 'answers: admitted or rejected, and by which limits',
  claims: 'claims of a decision: counter, amount, whether it asks',
  ends: 'ends of jobs: state, and the charge on each counter',
  counters: 'counters after each commit',
  waits: 'jobs that wait: for what, how long, in which order',
  usage: 'usage of a subject and day, by the rollup',
} as const;

export type ComparedFigure = keyof typeof COMPARED;

export interface Comparisons {
  readonly counts: Readonly<
    Record<ComparedFigure, { readonly compared: number; readonly otherwise: number }>
  >;
  readonly examples: readonly string[];
}

const EXAMPLES_MAX = 5;

export class Findings {
  readonly #counts = Object.fromEntries(
    Object.keys(COMPARED).map((what) => [what, { compared: 0, otherwise: 0 }]),
  ) as Record<ComparedFigure, { compared: number; otherwise: number }>;
  readonly errors: unknown[] = [];

  compare(what: ComparedFigure, check: () => void): void {
    const count = this.#counts[what];
    count.compared += 1;
    try {
      check();
    } catch (error) {
      count.otherwise += 1;
      if (this.errors.length < EXAMPLES_MAX) this.errors.push(error);
    }
  }

  get comparisons(): Comparisons {
    const examples = this.errors.map((error) => (error instanceof Error ? error.message : String(error)));
    return { counts: this.#counts, examples };
  }
}

export function must(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Error(otherwise);
}

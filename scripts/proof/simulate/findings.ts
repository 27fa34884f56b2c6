/** What was compared with the expectation, and what was otherwise. */

/** What is compared, each as often as it happens. */
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
  /** The first few, in words. */
  readonly examples: readonly string[];
}

const EXAMPLES_MAX = 5;

export class Findings {
  readonly #counts = {
    answers: { compared: 0, otherwise: 0 },
    claims: { compared: 0, otherwise: 0 },
    ends: { compared: 0, otherwise: 0 },
    counters: { compared: 0, otherwise: 0 },
    waits: { compared: 0, otherwise: 0 },
    usage: { compared: 0, otherwise: 0 },
  };
  readonly #examples: string[] = [];

  /** @param otherwise - what is wrong; absent: nothing is. */
  compared(what: ComparedFigure, otherwise: string | undefined): void {
    const count = this.#counts[what];
    count.compared += 1;
    if (otherwise === undefined) return;
    count.otherwise += 1;
    if (this.#examples.length < EXAMPLES_MAX) this.#examples.push(otherwise);
  }

  get isClean(): boolean {
    return this.#examples.length === 0;
  }

  get comparisons(): Comparisons {
    return { counts: this.#counts, examples: this.#examples };
  }
}

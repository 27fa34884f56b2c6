import type { RelayClock } from '../exchange.ts';

/** Deadlines within the same span share one timer and run at its start: early, never late. */
export const SPAN_MS = 20;

/** Runs functions at their deadlines, with one timer for all instead of one per question. */
export class Deadlines {
  readonly #clock: RelayClock;
  readonly #spans = new Map<number, Set<() => void>>();
  #armed: { readonly span: number; readonly cancel: () => void } | undefined;

  constructor(clock: RelayClock) {
    this.#clock = clock;
  }

  /** Runs `run` within {@link SPAN_MS} before `deadlineMs` (monotonic). The result cancels it. */
  at(deadlineMs: number, run: () => void): () => void {
    const span = Math.floor(deadlineMs / SPAN_MS);
    const due = this.#spans.get(span);
    if (due === undefined) this.#spans.set(span, new Set([run]));
    else due.add(run);
    this.#arm(span);
    return () => this.#cancel(span, run);
  }

  close(): void {
    this.#armed?.cancel();
    this.#armed = undefined;
    this.#spans.clear();
  }

  #cancel(span: number, run: () => void): void {
    const due = this.#spans.get(span);
    due?.delete(run);
    if (due?.size === 0) this.#spans.delete(span);
  }

  #arm(span: number): void {
    if (this.#armed !== undefined && this.#armed.span <= span) return;
    this.#armed?.cancel();
    const delayMs = Math.max(0, Math.ceil(span * SPAN_MS - this.#clock.monotonicMs()));
    this.#armed = { span, cancel: this.#clock.after(delayMs, () => this.#run()) };
  }

  #run(): void {
    this.#armed = undefined;
    const nowSpan = Math.floor(this.#clock.monotonicMs() / SPAN_MS);
    // At most the spans of the longest deadline, e.g. 100 for 2 s.
    const due = [...this.#spans.keys()].filter((span) => span <= nowSpan).sort((a, b) => a - b);
    for (const span of due) {
      const runs = this.#spans.get(span);
      this.#spans.delete(span);
      for (const run of runs ?? []) run();
    }
    const next = Math.min(...this.#spans.keys());
    if (Number.isFinite(next)) this.#arm(next);
  }
}

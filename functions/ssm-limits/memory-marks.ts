import type { ListingPass, Marks, ParameterMark } from './marks.ts';
import { SsmLimitsError } from './ssm-limits-error.ts';

export type MarksOperation = keyof Marks;

/** Marks in memory, for tests and local runs. */
export class MemoryMarks implements Marks {
  readonly #marks = new Map<number, ParameterMark>();
  #pass: ListingPass = {};
  readonly #fault: (operation: MarksOperation) => 'lost-before' | 'lost-after' | undefined;

  /** @param fault - asked once per operation; `lost-after` applies it and loses the answer. */
  constructor(
    fault: (operation: MarksOperation) => 'lost-before' | 'lost-after' | undefined = () => undefined,
  ) {
    this.#fault = fault;
  }

  readAll(): Promise<ReadonlyMap<number, ParameterMark>> {
    return this.#answer('readAll', () => new Map(this.#marks));
  }

  write(marks: readonly ParameterMark[]): Promise<void> {
    return this.#answer('write', () => {
      for (const mark of marks) this.#marks.set(mark.group, mark);
    });
  }

  forget(groups: readonly number[]): Promise<void> {
    return this.#answer('forget', () => {
      for (const group of groups) this.#marks.delete(group);
    });
  }

  readPass(): Promise<ListingPass> {
    return this.#answer('readPass', () => this.#pass);
  }

  writePass(pass: ListingPass): Promise<void> {
    return this.#answer('writePass', () => {
      this.#pass = pass;
    });
  }

  async #answer<T>(operation: MarksOperation, apply: () => T): Promise<T> {
    const fault = this.#fault(operation);
    if (fault === 'lost-before') throw lost(operation);
    const answer = apply();
    if (fault === 'lost-after') throw lost(operation);
    return answer;
  }
}

const lost = (operation: MarksOperation): SsmLimitsError =>
  new SsmLimitsError('marks_unavailable', `${operation}: no answer (injected fault)`);

import { PipelineError } from './pipeline-error.ts';

/** Most values that all steps may read and make. A pipeline of 119 jobs in 20 files takes a tenth of this. */
export const WORK_MAX = 2_000_000;

/** Work used by the expansion of one pipeline. It is counted before it is done. */
export interface WorkBudget {
  readonly used: number;
  /**
   * @param place - the file, or the job or template, that asks for the work.
   * @throws {PipelineError} `too_large`
   */
  spend(values: number, place: string): void;
}

export function workBudget(max: number = WORK_MAX): WorkBudget {
  let used = 0;
  return {
    get used() {
      return used;
    },
    spend(values, place) {
      if (used + values > max) throw tooMuch(place, max);
      used += values;
    },
  };
}

const tooMuch = (place: string, max: number): PipelineError =>
  new PipelineError(
    'too_large',
    `anchors, extends, !reference or matrices multiply to more than ${max} values; nest fewer of them`,
    place,
  );

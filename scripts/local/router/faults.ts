import type { CallRefusal } from './controllers.ts';

/** The moment at which a stream is cut. */
export type CutPoint =
  /** A job took the stream; the question was not sent. */
  | 'before_question'
  /** The question went out; the controller decides. */
  | 'after_question'
  /** The answer arrived and is not read: the decision is lost. */
  | 'before_reading'
  /** The answer counts, but the controller never sees the clean end. */
  | 'after_answer';

/** `status`: the call ends with UNAVAILABLE. `connection`: its TCP connection is reset, with every stream on it. */
export type CutMeans = 'status' | 'connection';

type RouterMethod = 'admit' | 'register' | 'get_job';

/** Faults of the router, switchable while it runs. All are off at the start. */
export class Faults {
  /** Never ends a stream after its answer. */
  keepAnsweredStreams = false;
  /** Bytes appended to every question, e.g. fields of a newer GitLab. */
  appendToQuestions: Uint8Array | undefined;
  #cuts: { point: CutPoint; means: CutMeans; left: number }[] = [];
  #refusals: { refusal: CallRefusal; method: RouterMethod | 'any'; left: number }[] = [];

  /** Cuts the next `questions` streams that reach `point`. */
  cutStreams(point: CutPoint, options: { means?: CutMeans; questions?: number } = {}): void {
    const { means = 'status', questions = 1 } = options;
    this.#cuts.push({ point, means, left: questions });
  }

  /**
   * Refuses the next `calls` calls with a gRPC status, before any token check. `Infinity` lasts until `clear`.
   *
   * @param options - `afterMs`: the time from the call to its refusal. @default 0
   */
  refuseCalls(
    code: number,
    options: { calls?: number; details?: string; method?: RouterMethod | 'any'; afterMs?: number } = {},
  ): void {
    const { details = `refused on purpose with ${code}`, afterMs = 0, method = 'any', calls = 1 } = options;
    this.#refusals.push({ refusal: { code, details, afterMs }, method, left: calls });
  }

  clear(): void {
    this.keepAnsweredStreams = false;
    this.appendToQuestions = undefined;
    this.#cuts = [];
    this.#refusals = [];
  }

  /** Returns the cut of a stream at this point, and uses it up. */
  takeCut(point: CutPoint): CutMeans | undefined {
    return take(this.#cuts, (cut) => cut.point === point)?.means;
  }

  /** Returns the refusal of a call, and uses it up. */
  takeRefusal(method: RouterMethod): CallRefusal | undefined {
    return take(this.#refusals, (each) => each.method === 'any' || each.method === method)?.refusal;
  }
}

function take<Fault extends { left: number }>(faults: Fault[], applies: (fault: Fault) => boolean) {
  const at = faults.findIndex(applies);
  const fault = faults[at];
  if (fault === undefined) return undefined;
  fault.left -= 1;
  if (fault.left <= 0) faults.splice(at, 1);
  return fault;
}

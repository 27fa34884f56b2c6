import type { CallRefusal } from './controllers.ts';

/** Where in the life of an asked stream it is cut. */
export type CutPoint =
  /** Taken for a job, then lost before the question was sent. */
  | 'before_question'
  /** Lost right after the question went out, while the controller decides. */
  | 'after_question'
  /** Lost when the answer arrives, unread: the controller decided and nobody heard it. */
  | 'before_reading'
  /** The answer counts, but the controller never sees the clean end. */
  | 'after_answer';

/** `status`: the call ends with UNAVAILABLE. `connection`: its TCP connection is reset, and every stream with it. */
export type CutMeans = 'status' | 'connection';

type RouterMethod = 'admit' | 'register' | 'get_job';

/** What goes wrong on purpose, switchable while the router runs. Everything is off at the start. */
export class Faults {
  /** Ends every new stream at once with OK: a router that drains and never stops. */
  endStreamsAtOnce = false;
  /** Never ends a stream that was answered, however long ago. */
  keepAnsweredStreams = false;
  /** Bytes appended to every question, e.g. fields of a newer GitLab. */
  appendToQuestions: Uint8Array | undefined;

  #cuts: { point: CutPoint; means: CutMeans; left: number }[] = [];
  #refusals: {
    refusal: CallRefusal;
    method: RouterMethod | 'any';
    left: number;
  }[] = [];

  /** Cuts the next `questions` streams that reach `point`. */
  cutStreams(point: CutPoint, options: { means?: CutMeans; questions?: number } = {}): void {
    this.#cuts.push({
      point,
      means: options.means ?? 'status',
      left: options.questions ?? 1,
    });
  }

  /** Refuses the next `calls` calls with a gRPC status code, before any token check. `Infinity` lasts until `clear`. */
  refuseCalls(
    code: number,
    options: {
      calls?: number;
      details?: string;
      method?: RouterMethod | 'any';
      /** How long a stream stands before it is refused. @default 0 */
      afterMs?: number;
    } = {},
  ): void {
    const { details = `refused on purpose with ${code}`, afterMs = 0 } = options;
    this.#refusals.push({
      refusal: { code, details, afterMs },
      method: options.method ?? 'any',
      left: options.calls ?? 1,
    });
  }

  clear(): void {
    this.endStreamsAtOnce = false;
    this.keepAnsweredStreams = false;
    this.appendToQuestions = undefined;
    this.#cuts = [];
    this.#refusals = [];
  }

  /** Asked by the stream at each point; uses up one cut. */
  takeCut(point: CutPoint): CutMeans | undefined {
    if (this.#cuts.length === 0) return undefined;
    const cut = this.#cuts.find((candidate) => candidate.point === point);
    if (cut === undefined) return undefined;
    cut.left -= 1;
    if (cut.left <= 0) this.#cuts = this.#cuts.filter((candidate) => candidate !== cut);
    return cut.means;
  }

  /** Asked for every call; uses up one refusal. */
  takeRefusal(method: RouterMethod): CallRefusal | undefined {
    if (this.#refusals.length === 0) return undefined;
    const found = this.#refusals.find(
      (candidate) => candidate.method === 'any' || candidate.method === method,
    );
    if (found === undefined) return undefined;
    found.left -= 1;
    if (found.left <= 0) this.#refusals = this.#refusals.filter((candidate) => candidate !== found);
    return found.refusal;
  }
}

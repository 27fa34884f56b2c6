/** A mistake of ours, found at run time: told with the place and never with a value. */

/** Where it happened. Labels of a metric: a fixed set. */
export type FaultPlace =
  /** Reading the question. */
  | 'read'
  /** Between a readable request and its answer. */
  | 'decide'
  /** The fallback itself. */
  | 'fallback'
  /** On the way from the answer to the stream. */
  | 'stream'
  /** After the answer: the books, the log and the metrics. */
  | 'tell'
  /** The way of a whole batch to the deciding service. */
  | 'batch';

export interface OwnFault {
  readonly type: 'own_fault';
  readonly place: FaultPlace;
  /** The error's class, e.g. `TypeError`. */
  readonly error: string;
  /** The nearest frames of its stack. */
  readonly frames: readonly string[];
}

/** The nearest ones tell the place; all of them would be a page of the event loop's. */
const FRAMES_MAX = 8;

/** The message of an error is left out: it may quote what came from outside. */
export const ownFault = (place: FaultPlace, error: unknown): OwnFault => ({
  type: 'own_fault',
  place,
  error: error instanceof Error ? error.name : typeof error,
  frames: framesOf(error),
});

export const framesOf = (error: unknown): readonly string[] =>
  error instanceof Error && error.stack !== undefined
    ? error.stack
        .split('\n')
        .filter((line) => /^\s+at /.test(line))
        .slice(0, FRAMES_MAX)
        .map((line) => line.trim())
    : [];

/**
 * The life of one AdmitJob stream: opening → waiting → deciding → answered → ended. One question per stream; what does
 * not fit the state (a second question, an answer after the end) is refused by the transition, not by its callers.
 */
export type StreamState =
  /** The call exists, the connection may not. */
  | { readonly name: 'opening'; readonly sinceMs: number }
  /** The router may pick it. */
  | { readonly name: 'waiting'; readonly sinceMs: number }
  /** It carried its question; the answer is being found. */
  | { readonly name: 'deciding'; readonly sinceMs: number }
  /** Answered and half-closed; the router has yet to end it. */
  | { readonly name: 'answered'; readonly sinceMs: number }
  | { readonly name: 'ended'; readonly sinceMs: number };

export type StreamStep = 'accepted' | 'question' | 'answer' | 'end';

const NEXT: Readonly<Record<StreamState['name'], Partial<Record<StreamStep, StreamState['name']>>>> = {
  // A question may overtake the news that the connection stands.
  opening: { accepted: 'waiting', question: 'deciding', end: 'ended' },
  waiting: { question: 'deciding', end: 'ended' },
  deciding: { answer: 'answered', end: 'ended' },
  answered: { end: 'ended' },
  ended: {},
};

/** The state after a step, or undefined if the step does not apply and nothing may be done. */
export function next(state: StreamState, step: StreamStep, nowMs: number): StreamState | undefined {
  const name = NEXT[state.name][step];
  return name === undefined ? undefined : { name, sinceMs: nowMs };
}

/** Neither carried a question nor ended. */
export const isFree = (state: StreamState): boolean => state.name === 'opening' || state.name === 'waiting';

/**
 * How long a stream may stay in one state before we end it ourselves; waiting has no bound, the router ages those.
 * Connecting includes DNS, TLS and a proxy; the router gives a decision up within 20 s, and ends an answered stream at
 * once.
 */
const LONGEST_MS = { opening: 20_000, deciding: 30_000, answered: 10_000 } as const;

export const isOverdue = (state: StreamState, nowMs: number): boolean =>
  state.name !== 'waiting' && state.name !== 'ended' && nowMs - state.sinceMs > LONGEST_MS[state.name];

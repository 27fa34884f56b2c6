/**
 * The life of one AdmitJob stream: opening → waiting → deciding → answered → sent → ended. One question per stream; what
 * does not fit the state (a second question, an answer after the end) is refused by the transition, not by its callers.
 */
export type StreamState =
  /** The call exists, the connection may not. */
  | { readonly name: 'opening'; readonly sinceMs: number }
  /** The router may pick it. */
  | { readonly name: 'waiting'; readonly sinceMs: number }
  /** It carried its question; the answer is being found. */
  | { readonly name: 'deciding'; readonly sinceMs: number }
  /** Answered; the transport has yet to take the answer. */
  | { readonly name: 'answered'; readonly sinceMs: number }
  /** The transport has the answer; the router has yet to end the stream. */
  | { readonly name: 'sent'; readonly sinceMs: number }
  | { readonly name: 'ended'; readonly sinceMs: number };

export type StreamStep = 'accepted' | 'question' | 'answer' | 'taken' | 'end';

const NEXT: Readonly<Record<StreamState['name'], Partial<Record<StreamStep, StreamState['name']>>>> = {
  // A question may overtake the news that the connection stands.
  opening: { accepted: 'waiting', question: 'deciding', end: 'ended' },
  waiting: { question: 'deciding', end: 'ended' },
  deciding: { answer: 'answered', end: 'ended' },
  answered: { taken: 'sent', end: 'ended' },
  sent: { end: 'ended' },
  ended: {},
};

/** The state after a step, or undefined if the step does not apply and nothing may be done. */
export function next(state: StreamState, step: StreamStep, nowMs: number): StreamState | undefined {
  const name = NEXT[state.name][step];
  return name === undefined ? undefined : { name, sinceMs: nowMs };
}

/** Neither carried a question nor ended. */
export const isFree = (state: StreamState): boolean => state.name === 'opening' || state.name === 'waiting';

/** Carried a question, answered or not. */
export const wasAsked = (state: StreamState): boolean => !isFree(state) && state.name !== 'ended';

/**
 * How long a stream may stay in one state before we end it ourselves; waiting has no bound, the router ages those.
 * Connecting includes DNS, TLS and a proxy; the router gives a decision up within 20 s, and ends an answered stream at
 * once. One that is slower is left in peace for a while: servers and proxies take many cancelled streams for an attack.
 */
const LONGEST_MS = { opening: 20_000, deciding: 30_000, answered: 10_000, sent: 10_000 } as const;

export const isOverdue = (state: StreamState, nowMs: number): boolean =>
  state.name !== 'waiting' && state.name !== 'ended' && nowMs - state.sinceMs > LONGEST_MS[state.name];

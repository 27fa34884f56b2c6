import type { ServerDuplexStream } from '@grpc/grpc-js';
import { STATUS } from '../../../relay/router/router.ts';
import type { CallRefusal, RouterState } from './admission.ts';
import type { ControllerAnswer } from './messages.ts';

type StreamOutcome =
  | { readonly result: 'admitted' }
  | { readonly result: 'rejected'; readonly reason: string }
  | { readonly result: 'lost'; readonly reason: string };

/** A controller must half-close within this time after its answer; then the router ends the stream. */
const HALF_CLOSE_MS = 1_000;

type State = 'waiting' | 'asked' | 'answered' | 'ended';

export class AdmitStream {
  readonly #call: ServerDuplexStream<Uint8Array, Uint8Array>;
  readonly #router: RouterState;
  #state: State = 'waiting';
  #cancelTimer: (() => void) | undefined;
  #resolve: ((outcome: StreamOutcome) => void) | undefined;

  constructor(call: ServerDuplexStream<Uint8Array, Uint8Array>, router: RouterState) {
    this.#call = call;
    this.#router = router;
    call.on('data', (bytes: Uint8Array) => this.#onMessage(bytes));
    call.on('end', () => this.#onHalfClose());
    call.on('cancelled', () => this.#onCancelled());
    call.on('error', () => this.#onCancelled());
  }

  ask(question: Uint8Array): Promise<StreamOutcome> {
    if (this.#state !== 'waiting')
      return Promise.resolve({ result: 'lost', reason: 'the stream had just ended' });
    this.#state = 'asked';
    return new Promise((resolve) => {
      this.#resolve = resolve;
      if (this.#cut('before_question')) return;
      const { clock, decisionTimeoutMs } = this.#router;
      this.#cancelTimer = clock.after(decisionTimeoutMs, () =>
        this.#fail(STATUS.DEADLINE_EXCEEDED, `no answer within ${decisionTimeoutMs} ms`),
      );
      // The callback runs after the bytes have left, so that the cut never overtakes its question.
      this.#call.write(question, () => this.#cut('after_question'));
    });
  }

  #endCleanly(): void {
    if (this.#state === 'ended') return;
    this.#leave();
    this.#call.end();
  }

  #fail(code: number, details: string): void {
    this.#settle({ result: 'lost', reason: details });
    this.#leave();
    this.#call.emit('error', Object.assign(new Error(details), { code, details }));
  }

  #onMessage(bytes: Uint8Array): void {
    switch (this.#state) {
      case 'waiting':
        this.#violated('answer_before_question');
        this.#fail(STATUS.INVALID_ARGUMENT, 'the answer came before the question');
        return;
      case 'asked':
        if (!this.#cut('before_reading')) this.#onAnswer(this.#router.readAnswer(bytes));
        return;
      case 'answered':
        this.#violated('second_answer');
        return;
      case 'ended':
    }
  }

  #onAnswer(answer: ControllerAnswer): void {
    if (answer.result === 'invalid') {
      this.#violated('invalid_answer');
      this.#fail(STATUS.INVALID_ARGUMENT, answer.problem);
      return;
    }
    this.#settle(answer);
    if (this.#cut('after_answer')) return;
    this.#state = 'answered';
    this.#cancelTimer = this.#router.clock.after(HALF_CLOSE_MS, () => {
      this.#violated('not_half_closed');
      this.#endCleanly();
    });
  }

  #onHalfClose(): void {
    if (this.#state === 'asked') {
      this.#violated('closed_unanswered');
      this.#fail(STATUS.INVALID_ARGUMENT, 'the stream was half-closed without an answer');
      return;
    }
    this.#endCleanly();
  }

  #onCancelled(): void {
    if (this.#state === 'ended') return;
    this.#settle({ result: 'lost', reason: 'the controller or the network ended the stream' });
    this.#leave();
  }

  #cut(point: CutPoint): boolean {
    if (this.#state === 'ended' || !this.#router.faults.takeCut(point)) return false;
    for (const listener of this.#router.listeners) listener.reset(this.#call.getPeer());
    this.#onCancelled();
    return true;
  }

  #violated(how: string): void {
    this.#router.counters.violations.push(how);
    this.#router.conditions.look();
  }

  #settle(outcome: StreamOutcome): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#resolve?.(outcome);
    this.#resolve = undefined;
  }

  #leave(): void {
    this.#state = 'ended';
    this.#cancelTimer?.();
    for (const pool of this.#router.pools.values()) pool.remove(this);
    this.#router.conditions.look();
  }
}

type CutPoint =
  | 'before_question'
  | 'after_question'
  | 'before_reading'
  /** The answer counts, but the controller never sees the clean end. */
  | 'after_answer';

type RouterMethod = 'admit' | 'register' | 'get_job';

export class Faults {
  #cuts: { point: CutPoint; left: number }[] = [];
  #refusals: { refusal: CallRefusal; method: RouterMethod; left: number }[] = [];

  /** Resets the TCP connections of the next `questions` streams that reach `point`, with every stream on them. */
  cutStreams(point: CutPoint, { questions = 1 } = {}): void {
    this.#cuts.push({ point, left: questions });
  }

  /** Refuses the next `calls` calls with a gRPC status, before any token check. `Infinity` never ends. */
  refuseCalls(code: number, { method, calls = 1 }: { method: RouterMethod; calls?: number }): void {
    const refusal = { code, details: `refused on purpose with ${code}` };
    this.#refusals.push({ refusal, method, left: calls });
  }

  takeCut(point: CutPoint): boolean {
    return take(this.#cuts, (cut) => cut.point === point) !== undefined;
  }

  takeRefusal(method: RouterMethod): CallRefusal | undefined {
    return take(this.#refusals, (each) => each.method === method)?.refusal;
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

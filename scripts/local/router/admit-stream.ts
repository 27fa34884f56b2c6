import type { ServerDuplexStream } from '@grpc/grpc-js';
import { STATUS } from '../../../relay/router/router.ts';
import type { RouterClock } from '../clock/clock.ts';
import type { ProtocolViolation } from './counters.ts';
import type { CutMeans, CutPoint, Faults } from './faults.ts';
import type { ControllerAnswer } from './messages.ts';

/** The outcome of a stream for its job. `lost`: no answer counts any more. */
type StreamOutcome =
  | { readonly result: 'admitted' }
  | { readonly result: 'rejected'; readonly reason: string }
  | { readonly result: 'lost'; readonly reason: string };

/** The router, as its streams see it. */
export interface StreamSurroundings {
  readonly clock: RouterClock;
  readonly faults: Faults;
  readonly decisionTimeoutMs: number;
  readAnswer(bytes: Uint8Array): ControllerAnswer;
  /** Resets the TCP connection under a call. */
  resetConnectionOf(peer: string): void;
  onViolation(violation: ProtocolViolation): void;
  /** The stream can no longer be asked. */
  onGone(stream: AdmitStream): void;
}

/** A controller must half-close within this time after its answer; then the router ends the stream. */
const HALF_CLOSE_MS = 1_000;

type State = 'waiting' | 'asked' | 'answered' | 'ended';

/** One AdmitJob call: it waits, carries one question and one answer, and ends. */
export class AdmitStream {
  readonly #call: ServerDuplexStream<Uint8Array, Uint8Array>;
  readonly #around: StreamSurroundings;
  #state: State = 'waiting';
  #cancelTimer: (() => void) | undefined;
  #resolve: ((outcome: StreamOutcome) => void) | undefined;

  constructor(call: ServerDuplexStream<Uint8Array, Uint8Array>, around: StreamSurroundings) {
    this.#call = call;
    this.#around = around;
    call.on('data', (bytes: Uint8Array) => this.#onMessage(bytes));
    call.on('end', () => this.#onHalfClose());
    call.on('cancelled', () => this.#onCancelled());
    call.on('error', () => this.#onCancelled());
  }

  /** Sends the question and waits for the answer. Always resolves. */
  ask(question: Uint8Array): Promise<StreamOutcome> {
    if (this.#state !== 'waiting')
      return Promise.resolve({ result: 'lost', reason: 'the stream had just ended' });
    this.#state = 'asked';
    return new Promise((resolve) => {
      this.#resolve = resolve;
      if (this.#cut('before_question')) return;
      const { clock, decisionTimeoutMs } = this.#around;
      this.#cancelTimer = clock.after(decisionTimeoutMs, () =>
        this.#fail(STATUS.DEADLINE_EXCEEDED, `no answer within ${decisionTimeoutMs} ms`),
      );
      // The callback runs after the bytes have left, so that the cut never overtakes its question.
      this.#call.write(question, () => this.#cut('after_question'));
    });
  }

  /** Ends the call with OK. */
  endCleanly(): void {
    if (this.#state === 'ended') return;
    this.#leave();
    this.#call.end();
  }

  /** Ends the call with a status; a job that waits for its answer gets the details. */
  #fail(code: number, details: string): void {
    this.#settle({ result: 'lost', reason: details });
    this.#leave();
    this.#call.emit('error', Object.assign(new Error(details), { code, details }));
  }

  #onMessage(bytes: Uint8Array): void {
    switch (this.#state) {
      case 'waiting':
        this.#around.onViolation('answer_before_question');
        this.#fail(STATUS.INVALID_ARGUMENT, 'the answer came before the question');
        return;
      case 'asked':
        if (!this.#cut('before_reading')) this.#onAnswer(this.#around.readAnswer(bytes));
        return;
      case 'answered':
        this.#around.onViolation('second_answer');
        return;
      case 'ended':
    }
  }

  #onAnswer(answer: ControllerAnswer): void {
    if (answer.result === 'invalid') {
      this.#around.onViolation('invalid_answer');
      this.#fail(STATUS.INVALID_ARGUMENT, answer.problem);
      return;
    }
    this.#settle(answer);
    if (this.#cut('after_answer')) return;
    this.#state = 'answered';
    this.#cancelTimer = this.#around.clock.after(HALF_CLOSE_MS, () => {
      this.#around.onViolation('not_half_closed');
      this.endCleanly();
    });
  }

  #onHalfClose(): void {
    if (this.#state === 'asked') {
      this.#around.onViolation('closed_unanswered');
      this.#fail(STATUS.INVALID_ARGUMENT, 'the stream was half-closed without an answer');
      return;
    }
    if (this.#state === 'answered' && this.#around.faults.keepAnsweredStreams) {
      this.#cancelTimer?.();
      return;
    }
    this.endCleanly();
  }

  #onCancelled(): void {
    if (this.#state === 'ended') return;
    this.#settle({ result: 'lost', reason: 'the controller or the network ended the stream' });
    this.#leave();
  }

  #cut(point: CutPoint): boolean {
    if (this.#state === 'ended') return false;
    const means: CutMeans | undefined = this.#around.faults.takeCut(point);
    if (means === 'status') this.#fail(STATUS.UNAVAILABLE, `cut on purpose: ${point}`);
    if (means === 'connection') this.#around.resetConnectionOf(this.#call.getPeer());
    if (means === 'connection') this.#onCancelled();
    return means !== undefined;
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
    this.#around.onGone(this);
  }
}

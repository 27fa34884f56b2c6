import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { ControllerState } from '../../../functions/core/gitlab/controller.ts';
import { STATUS } from '../../../relay/router/router.ts';
import { loadSchema, type WireSchema } from '../../../relay/wire/schema.ts';
import { machineClock, type RouterClock } from '../clock.ts';
import type { Listener } from './listeners.ts';
import { answerReader, type ControllerAnswer, type RouterGitLab } from './messages.ts';

export interface RouterParts {
  readonly schema?: WireSchema;
  readonly controllers: readonly RegisteredController[];
  readonly gitlab?: RouterGitLab;
  /** Time that a job waits for an idle stream. @default 20_000, GitLab's last known number */
  readonly findTimeoutMs?: number;
  /** Time that a job waits for its answer. @default 10_000; GitLab's number is not public */
  readonly decisionTimeoutMs?: number;
  readonly clock?: RouterClock;
  readonly random?: () => number;
}

export type RouterState = ReturnType<typeof newRouterState>;

export function newRouterState(parts: RouterParts) {
  const { schema = loadSchema(), clock = machineClock, random = Math.random, gitlab } = parts;
  return {
    ...{ schema, clock, random, gitlab, readAnswer: answerReader(schema) },
    ...{ faults: new Faults(), conditions: new ConditionWaiters(), listeners: [] as Listener[] },
    pools: new Map<number, WaitingStreams>(),
    registered: new Map<bigint, number>(),
    controllers: new Map(parts.controllers.map((controller) => [controller.id, controller])),
    counters: {
      ...{ streams: { opened: 0, refused: 0, asked: 0 }, connections: { opened: 0 } },
      violations: [] as string[],
    },
    findTimeoutMs: parts.findTimeoutMs ?? 20_000,
    decisionTimeoutMs: parts.decisionTimeoutMs ?? 10_000,
  };
}

export interface RegisteredController {
  readonly id: number;
  /** Active tokens. GitLab allows several, so that a token is changed without a gap. */
  readonly tokens: readonly string[];
  readonly state: ControllerState;
  /** Runners whose jobs it decides. @default all */
  readonly runnerIds?: readonly number[];
}

export interface AdmissionResult {
  /** `disabled`: no controller applied, and the job goes through. */
  readonly result: 'admitted' | 'rejected' | 'failed' | 'disabled';
  readonly reason?: string;
  readonly controllerId?: number;
}

export const allControllers = ({ controllers, gitlab }: RouterState): readonly RegisteredController[] => [
  ...controllers.values(),
  ...(gitlab?.controllers() ?? []),
];

export function poolOf({ pools, clock, random }: RouterState, id: number): WaitingStreams {
  const pool = pools.get(id) ?? newWaitingStreams(clock, random);
  pools.set(id, pool);
  return pool;
}

const NOT_FOUND = { result: 'lost', reason: 'Agent connection not found' } as const;

/**
 * Sends the request to every applicable controller, one after another, until an enabled one stops the job. The answer
 * of a dry-run controller is only recorded.
 */
export async function admitJob(
  state: RouterState,
  request: Uint8Array,
  runnerId?: number,
): Promise<AdmissionResult> {
  const applicable = allControllers(state).filter(
    (each) =>
      each.state !== 'disabled' &&
      (each.runnerIds === undefined || runnerId === undefined || each.runnerIds.includes(runnerId)),
  );
  for (const { id: controllerId, state: mode } of applicable) {
    const stream = await poolOf(state, controllerId).take(state.findTimeoutMs);
    if (stream !== undefined) state.counters.streams.asked += 1;
    const outcome = (await stream?.ask(request)) ?? NOT_FOUND;
    if (mode === 'dry_run' || outcome.result === 'admitted') continue;
    return { ...outcome, result: outcome.result === 'lost' ? 'failed' : 'rejected', controllerId };
  }
  return { result: applicable.length === 0 ? 'disabled' : 'admitted' };
}

const FINDERS_MAX = 100_000;

type WaitingStreams = ReturnType<typeof newWaitingStreams>;

/**
 * The idle streams of one controller. A job takes one at random, as GitLab does by walking an unordered map. If no
 * stream is idle, the job waits, and the next stream serves the oldest job.
 */
function newWaitingStreams(clock: RouterClock, random: () => number) {
  const streams: AdmitStream[] = [];
  const finders = new Set<(stream: AdmitStream | undefined) => void>();
  return {
    size: (): number => streams.length,
    add(stream: AdmitStream): void {
      const [finder] = finders;
      if (finder === undefined) streams.push(stream);
      else finder(stream);
    },
    remove(stream: AdmitStream): void {
      const index = streams.indexOf(stream);
      if (index >= 0) streams.splice(index, 1);
    },
    async take(timeoutMs: number): Promise<AdmitStream | undefined> {
      const [stream] = streams.splice(Math.floor(random() * streams.length), 1);
      if (stream !== undefined || finders.size >= FINDERS_MAX) return stream;
      return new Promise((resolve) => {
        const finish = (found: AdmitStream | undefined): void => {
          finders.delete(finish);
          cancelTimeout();
          resolve(found);
        };
        const cancelTimeout = clock.after(timeoutMs, () => finish(undefined));
        finders.add(finish);
      });
    },
    close(): void {
      for (const finder of [...finders]) finder(undefined);
    },
  };
}

export interface AwaitedCondition {
  readonly what?: string;
  /** Real time, so that a hanging test fails with a reason. @default 120_000 */
  readonly timeoutMs?: number;
}

export class ConditionWaiters {
  readonly #pending = new Set<() => void>();

  look(): void {
    for (const check of this.#pending) check();
  }

  async until(holds: () => boolean, condition: AwaitedCondition = {}): Promise<void> {
    if (holds()) return;
    const { what = 'the condition', timeoutMs = 120_000 } = condition;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const check = (): void => {
      if (holds()) resolve();
    };
    const timer = setTimeout(() => reject(new Error(`waited ${timeoutMs} ms for ${what}`)), timeoutMs);
    this.#pending.add(check);
    try {
      await promise;
    } finally {
      this.#pending.delete(check);
      clearTimeout(timer);
    }
  }
}

type StreamOutcome =
  | Exclude<ControllerAnswer, { readonly result: 'invalid' }>
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

  ask(request: Uint8Array): Promise<StreamOutcome> {
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
      this.#call.write(request, () => this.#cut('after_question'));
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

export interface CallRefusal {
  readonly code: number;
  readonly details: string;
}

class Faults {
  readonly #cuts: { point: CutPoint; left: number }[] = [];
  readonly #refusals: { refusal: CallRefusal; method: RouterMethod; left: number }[] = [];

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

import { fromBinary } from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import {
  type handleBidiStreamingCall,
  type handleUnaryCall,
  Server,
  type ServerDuplexStream,
  type ServerErrorResponse,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import { STATUS } from '../../../relay/router/router.ts';
import type { WireSchema } from '../../../relay/wire/schema.ts';
import type { RouterClock } from '../clock.ts';
import {
  bearerToken,
  type CallRefusal,
  type Controllers,
  type ProtocolViolation,
  type RegisteredController,
  type RouterCounters,
  unauthenticated,
} from './admission.ts';
import { type ControllerAnswer, GET_JOB_PATH } from './messages.ts';

interface ServiceParts {
  readonly schema: WireSchema;
  readonly controllers: Controllers;
  readonly registered: Map<bigint, number>;
  readonly counters: RouterCounters;
  readonly surroundings: StreamSurroundings;
  readonly serverOptions: Readonly<Record<string, number>>;
  onStream(controller: RegisteredController, stream: AdmitStream, token: string): void;
  readonly getJob: ((runnerToken: string) => Promise<Bytes | undefined>) | undefined;
  onRegistered(): void;
}

type Bytes = Uint8Array;
/** Messages stay bytes on this level: the schema is input. */
const asBuffer = (bytes: Bytes): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
const asBytes = (buffer: Buffer): Bytes => buffer;

export function admitService(parts: ServiceParts): Server {
  const { schema, surroundings } = parts;
  const server = new Server({ 'grpc.enable_channelz': 0, ...parts.serverOptions });

  const admit: handleBidiStreamingCall<Bytes, Bytes> = (call) => {
    const refusal = surroundings.faults.takeRefusal('admit');
    const controller = refusal ?? parts.controllers.identify(call.metadata);
    if (isRefusal(controller)) {
      parts.counters.streams.refused += 1;
      const refuse = () => call.emit('error', asError(controller));
      if (controller.afterMs === undefined || controller.afterMs === 0) refuse();
      else surroundings.clock.after(controller.afterMs, refuse);
      return;
    }
    parts.counters.streams.opened += 1;
    parts.onStream(controller, new AdmitStream(call, surroundings), bearerToken(call.metadata) ?? '');
  };
  server.register(schema.admitJobPath, admit, asBuffer, asBytes, 'bidi');
  registerUnary(schema.registerPath, (controllerId, id) => void parts.registered.set(id, controllerId));
  registerUnary(schema.unregisterPath, (_controllerId, id) => void parts.registered.delete(id));
  const { getJob } = parts;
  if (getJob !== undefined) server.register(GET_JOB_PATH, jobHandler(getJob), asBuffer, asBytes, 'unary');
  return server;

  function jobHandler(get: NonNullable<typeof getJob>): handleUnaryCall<Bytes, Bytes> {
    return (call, callback) => {
      const refusal = surroundings.faults.takeRefusal('get_job');
      const [type] = call.metadata.get('gitlab-agent-type');
      if (refusal !== undefined) callback(asError(refusal));
      else if (type !== 'runner') callback(asError(UNKNOWN_RUNNER));
      else
        get(bearerToken(call.metadata) ?? '').then(
          (job) => (job === undefined ? callback(asError(UNKNOWN_RUNNER)) : callback(null, job)),
          (error: unknown) => callback(asError({ code: status.INTERNAL, details: String(error) })),
        );
    };
  }

  function registerUnary(
    path: string | undefined,
    record: (controllerId: number, instanceId: bigint) => void,
  ): void {
    if (path === undefined) return;
    const readInstanceId = instanceIdReader(schema, path);
    const handle: handleUnaryCall<Bytes, Bytes> = (call, callback: sendUnaryData<Bytes>) => {
      const controller =
        surroundings.faults.takeRefusal('register') ?? parts.controllers.identify(call.metadata);
      if (isRefusal(controller)) {
        callback(asError(controller));
        return;
      }
      record(controller.id, readInstanceId(call.request));
      parts.onRegistered();
      callback(null, new Uint8Array());
    };
    server.register(path, handle, asBuffer, asBytes, 'unary');
  }
}

const UNKNOWN_RUNNER = unauthenticated('no runner has this token');

const isRefusal = (found: RegisteredController | CallRefusal): found is CallRefusal => 'code' in found;

const asError = ({ code, details }: CallRefusal): ServerErrorResponse =>
  Object.assign(new Error(details), { code, details });

function instanceIdReader(schema: WireSchema, methodPath: string): (bytes: Uint8Array) => bigint {
  const [, service = '', method = ''] = methodPath.split('/');
  const methods = schema.registry.getService(service)?.methods;
  const desc = methods?.find(({ name }) => name === method)?.input;
  const field = desc?.fields.find(({ name }) => name === 'instance_id');
  if (desc === undefined || field === undefined) return () => 0n;
  return (bytes) => BigInt(String(reflect(desc, fromBinary(desc, bytes)).get(field)));
}

type StreamOutcome =
  | { readonly result: 'admitted' }
  | { readonly result: 'rejected'; readonly reason: string }
  | { readonly result: 'lost'; readonly reason: string };

export interface StreamSurroundings {
  readonly clock: RouterClock;
  readonly faults: Faults;
  readonly decisionTimeoutMs: number;
  readAnswer(bytes: Uint8Array): ControllerAnswer;
  resetConnectionOf(peer: string): void;
  onViolation(violation: ProtocolViolation): void;
  onGone(stream: AdmitStream): void;
}

/** A controller must half-close within this time after its answer; then the router ends the stream. */
const HALF_CLOSE_MS = 1_000;

type State = 'waiting' | 'asked' | 'answered' | 'ended';

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
      this.#endCleanly();
    });
  }

  #onHalfClose(): void {
    if (this.#state === 'asked') {
      this.#around.onViolation('closed_unanswered');
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
    if (this.#state === 'ended' || !this.#around.faults.takeCut(point)) return false;
    this.#around.resetConnectionOf(this.#call.getPeer());
    this.#onCancelled();
    return true;
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

export type CutPoint =
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

  /**
   * Refuses the next `calls` calls with a gRPC status, before any token check. `Infinity` never ends.
   *
   * @param options - `afterMs`: the time from the call to its refusal. @default 0
   */
  refuseCalls(code: number, options: { method: RouterMethod; calls?: number; afterMs?: number }): void {
    const { method, afterMs = 0, calls = 1 } = options;
    this.#refusals.push({
      ...{ refusal: { code, details: `refused on purpose with ${code}`, afterMs }, method, left: calls },
    });
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

import type { Metadata } from '@grpc/grpc-js';
import type { ControllerState } from '../../../functions/core/gitlab/controller.ts';
import { STATUS } from '../../../relay/router/router.ts';
import type { RouterClock } from '../clock.ts';
import type { AdmitStream } from './admit-service.ts';

export interface AdmissionResult {
  readonly result: JobResult;
  readonly reason?: string;
  readonly controllerId?: number;
}

interface AdmissionParts {
  readonly controllers: Controllers;
  readonly streamsOf: (controllerId: number) => WaitingStreams<AdmitStream>;
  readonly counters: RouterCounters;
  readonly findTimeoutMs: number;
  readonly runnerId?: number | undefined;
}

const NOT_FOUND = { result: 'lost', reason: 'Agent connection not found' } as const;

/**
 * Sends the request to every applicable controller, one after another, until an enabled one stops the job. The answer
 * of a dry-run controller is only recorded.
 */
export async function admitJob(question: Uint8Array, parts: AdmissionParts): Promise<AdmissionResult> {
  const { counters, controllers, streamsOf, findTimeoutMs } = parts;
  const applicable = controllers.applicable(parts.runnerId);
  const done = (admission: AdmissionResult): AdmissionResult => {
    counters.job_router_admission_control_total[admission.result] += 1;
    return admission;
  };
  for (const { id: controllerId, state } of applicable) {
    const stream = await streamsOf(controllerId).take(findTimeoutMs);
    if (stream !== undefined) counters.streams.asked += 1;
    const outcome = (await stream?.ask(question)) ?? NOT_FOUND;
    if (state === 'dry_run' || outcome.result === 'admitted') continue;
    return done({ ...outcome, result: outcome.result === 'lost' ? 'failed' : 'rejected', controllerId });
  }
  return done({ result: applicable.length === 0 ? 'disabled' : 'admitted' });
}

const FINDERS_MAX = 100_000;

/**
 * The idle streams of one controller. A job takes one at random, as GitLab does by walking an unordered map. If no
 * stream is idle, the job waits, and the next stream serves the oldest job.
 */
export class WaitingStreams<Stream> {
  readonly #streams: Stream[] = [];
  readonly #finders = new Set<(stream: Stream | undefined) => void>();
  readonly #clock: RouterClock;
  readonly #random: () => number;

  constructor(clock: RouterClock, random: () => number = Math.random) {
    this.#clock = clock;
    this.#random = random;
  }

  get size(): number {
    return this.#streams.length;
  }

  add(stream: Stream): void {
    const [finder] = this.#finders;
    if (finder === undefined) this.#streams.push(stream);
    else finder(stream);
  }

  remove(stream: Stream): void {
    const place = this.#streams.indexOf(stream);
    if (place >= 0) this.#streams.splice(place, 1);
  }

  take(timeoutMs: number): Promise<Stream | undefined> {
    const place = Math.floor(this.#random() * this.#streams.length);
    const [stream] = this.#streams.splice(place, 1);
    if (stream !== undefined) return Promise.resolve(stream);
    if (this.#finders.size >= FINDERS_MAX) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const finish = (found: Stream | undefined) => {
        this.#finders.delete(finish);
        cancelTimeout();
        resolve(found);
      };
      const cancelTimeout = this.#clock.after(timeoutMs, () => finish(undefined));
      this.#finders.add(finish);
    });
  }

  close(): void {
    for (const finder of [...this.#finders]) finder(undefined);
  }
}

export interface RegisteredController {
  readonly id: number;
  /** Active tokens. GitLab allows several, so that a token is changed without a gap. */
  readonly tokens: readonly string[];
  readonly state: ControllerState;
  /** Runners whose jobs it decides. @default all */
  readonly runnerIds?: readonly number[];
}

export interface CallRefusal {
  readonly code: number;
  readonly details: string;
  readonly afterMs?: number;
}

export class Controllers {
  readonly #byId: Map<number, RegisteredController>;
  readonly #live: () => readonly RegisteredController[];

  constructor(controllers: readonly RegisteredController[], live: () => readonly RegisteredController[]) {
    this.#live = live;
    this.#byId = new Map(controllers.map((controller) => [controller.id, controller]));
  }

  applicable(runnerId?: number): RegisteredController[] {
    return this.#all().filter(
      ({ state, runnerIds }) =>
        state !== 'disabled' &&
        (runnerIds === undefined || runnerId === undefined || runnerIds.includes(runnerId)),
    );
  }

  #all(): RegisteredController[] {
    return [...this.#byId.values(), ...this.#live()];
  }

  change(id: number, change: Partial<Omit<RegisteredController, 'id'>>): void {
    const controller = this.#byId.get(id);
    if (controller === undefined)
      throw new Error(`no controller ${id}; the router has ${[...this.#byId.keys()].join(', ')}`);
    this.#byId.set(id, { ...controller, ...change });
  }

  identify(metadata: Metadata): RegisteredController | CallRefusal {
    if (metadata.get('gitlab-agent-type')[0] !== 'runnerc')
      return unauthenticated('metadata gitlab-agent-type is not "runnerc"');
    const token = bearerToken(metadata);
    if (token === undefined) return unauthenticated('metadata authorization carries no bearer token');
    const known = this.#all().find(({ tokens }) => tokens.includes(token));
    return known ?? unauthenticated('the token is unknown or was revoked');
  }
}

export function bearerToken(metadata: Metadata): string | undefined {
  const [header] = metadata.get('authorization');
  return typeof header === 'string' && header.startsWith('Bearer ')
    ? header.slice('Bearer '.length)
    : undefined;
}

export const unauthenticated = (details: string): CallRefusal => ({
  code: STATUS.UNAUTHENTICATED,
  details,
});

export const newCounters = () => ({
  /** One per job. `disabled`: no controller applied, and the job goes through. */
  job_router_admission_control_total: { admitted: 0, rejected: 0, failed: 0, disabled: 0 },
  streams: { opened: 0, refused: 0, asked: 0 },
  connections: { opened: 0 },
  violations: {
    invalid_answer: 0,
    answer_before_question: 0,
    second_answer: 0,
    closed_unanswered: 0,
    not_half_closed: 0,
    text_frame: 0,
    wrong_subprotocol: 0,
  },
});

export type RouterCounters = ReturnType<typeof newCounters>;
type JobResult = keyof RouterCounters['job_router_admission_control_total'];
export type ProtocolViolation = keyof RouterCounters['violations'];

export interface AwaitedCondition {
  readonly what?: string;
  /** Real time, so that a hanging test fails with a reason. @default 120_000 */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 120_000;

export class ConditionWaiters {
  readonly #pending = new Set<() => void>();

  look(): void {
    for (const check of this.#pending) check();
  }

  until(holds: () => boolean, condition: AwaitedCondition = {}): Promise<void> {
    if (holds()) return Promise.resolve();
    const { what = 'the condition', timeoutMs = TIMEOUT_MS } = condition;
    return new Promise((resolve, reject) => {
      const check = () => {
        if (!holds()) return;
        this.#pending.delete(check);
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#pending.delete(check);
        reject(new Error(`waited ${timeoutMs} ms for ${what}`));
      }, timeoutMs);
      this.#pending.add(check);
    });
  }
}

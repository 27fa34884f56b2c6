import type { Metadata } from '@grpc/grpc-js';
import type { ControllerState } from '../../../functions/core/gitlab/controller.ts';
import { STATUS } from '../../../relay/router/router.ts';
import type { WireSchema } from '../../../relay/wire/schema.ts';
import type { RouterClock } from '../clock.ts';
import type { AdmitStream, Faults } from './admit-stream.ts';
import type { Listener } from './listeners.ts';
import type { ControllerAnswer, RouterGitLab } from './messages.ts';

export interface RouterState {
  readonly schema: WireSchema;
  readonly clock: RouterClock;
  readonly random: () => number;
  readonly gitlab: RouterGitLab | undefined;
  readonly controllers: Map<number, RegisteredController>;
  readonly pools: Map<number, WaitingStreams<AdmitStream>>;
  readonly listeners: Listener[];
  readonly registered: Map<bigint, number>;
  readonly counters: {
    readonly streams: { opened: number; refused: number; asked: number };
    readonly connections: { opened: number };
    readonly violations: string[];
  };
  readonly faults: Faults;
  readonly conditions: ConditionWaiters;
  readonly findTimeoutMs: number;
  readonly decisionTimeoutMs: number;
  readonly readAnswer: (bytes: Uint8Array) => ControllerAnswer;
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

const allControllers = ({ controllers, gitlab }: RouterState): readonly RegisteredController[] => [
  ...controllers.values(),
  ...(gitlab?.controllers() ?? []),
];

export function poolOf({ pools, clock, random }: RouterState, id: number): WaitingStreams<AdmitStream> {
  const pool = pools.get(id) ?? new WaitingStreams<AdmitStream>(clock, random);
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
  question: Uint8Array,
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
    const outcome = (await stream?.ask(question)) ?? NOT_FOUND;
    if (mode === 'dry_run' || outcome.result === 'admitted') continue;
    return { ...outcome, result: outcome.result === 'lost' ? 'failed' : 'rejected', controllerId };
  }
  return { result: applicable.length === 0 ? 'disabled' : 'admitted' };
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

  constructor(clock: RouterClock, random: () => number) {
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

export interface CallRefusal {
  readonly code: number;
  readonly details: string;
}

export const unauthenticated = (details: string): CallRefusal => ({ code: STATUS.UNAUTHENTICATED, details });

export function identify(state: RouterState, metadata: Metadata): RegisteredController | CallRefusal {
  if (metadata.get('gitlab-agent-type')[0] !== 'runnerc')
    return unauthenticated('metadata gitlab-agent-type is not "runnerc"');
  const token = bearerToken(metadata);
  if (token === undefined) return unauthenticated('metadata authorization carries no bearer token');
  const known = allControllers(state).find(({ tokens }) => tokens.includes(token));
  return known ?? unauthenticated('the token is unknown or was revoked');
}

export function bearerToken(metadata: Metadata): string | undefined {
  const [header] = metadata.get('authorization');
  return typeof header === 'string' && header.startsWith('Bearer ')
    ? header.slice('Bearer '.length)
    : undefined;
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

  until(holds: () => boolean, condition: AwaitedCondition = {}): Promise<void> {
    if (holds()) return Promise.resolve();
    const { what = 'the condition', timeoutMs = 120_000 } = condition;
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

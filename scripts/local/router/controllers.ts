import type { Metadata } from '@grpc/grpc-js';
import type { ControllerState } from '../../../functions/core/gitlab/index.ts';
import { STATUS } from '../../../relay/router/router.ts';

/** A runner controller. One without a scope in GitLab is `disabled` here. */
export interface RegisteredController {
  readonly id: number;
  /** Active tokens. GitLab allows several, so that a token is changed without a gap. */
  readonly tokens: readonly string[];
  readonly state: ControllerState;
  /** Runners whose jobs it decides. @default all */
  readonly runnerIds?: readonly number[];
}

/** A gRPC status to end a call with. */
export interface CallRefusal {
  readonly code: number;
  readonly details: string;
  /** Time from the call to its refusal. @default 0 */
  readonly afterMs?: number;
}

/** The controllers of one instance, changeable at run time. */
export class Controllers {
  readonly #byId = new Map<number, RegisteredController>();
  readonly #live: () => readonly RegisteredController[];

  /** @param live - returns the controllers of a GitLab, read again each time. */
  constructor(controllers: readonly RegisteredController[], live: () => readonly RegisteredController[]) {
    this.#live = live;
    for (const controller of controllers) {
      if (this.#byId.has(controller.id))
        throw new Error(`controller ${controller.id} is listed twice; give each its own id`);
      this.#byId.set(controller.id, controller);
    }
  }

  /** In the order of their requests. @param runnerId - absent: a runner in every scope */
  applicable(runnerId?: number): RegisteredController[] {
    return this.#all().filter(
      ({ state, runnerIds }) =>
        state !== 'disabled' &&
        (runnerIds === undefined || runnerId === undefined || runnerIds.includes(runnerId)),
    );
  }

  ids(): number[] {
    return this.#all().map(({ id }) => id);
  }

  #all(): RegisteredController[] {
    return [...this.#byId.values(), ...this.#live()];
  }

  /** Changes a controller. New tokens replace the old ones immediately; open streams live on. */
  change(id: number, change: Partial<Omit<RegisteredController, 'id'>>): void {
    const controller = this.#byId.get(id);
    if (controller === undefined)
      throw new Error(`no controller ${id}; the router has ${this.ids().join(', ')}`);
    this.#byId.set(id, { ...controller, ...change });
  }

  /** Returns the controller that calls, or the refusal. A disabled controller may still connect. */
  identify(metadata: Metadata): RegisteredController | CallRefusal {
    if (metadata.get('gitlab-agent-type')[0] !== 'runnerc') {
      return unauthenticated('metadata gitlab-agent-type is not "runnerc"');
    }
    const token = bearerToken(metadata);
    if (token === undefined) return unauthenticated('metadata authorization carries no bearer token');
    for (const controller of this.#all()) {
      if (controller.tokens.includes(token)) return controller;
    }
    return unauthenticated('the token is unknown or was revoked');
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

import type { Metadata } from '@grpc/grpc-js';
import type { ControllerState } from '../../../functions/core/gitlab/index.ts';
import { STATUS } from '../../../relay/router/router.ts';

/** A runner controller as an administrator would have made it. One that has no scope in GitLab is `disabled` here. */
export interface RegisteredController {
  readonly id: number;
  /** Active tokens; GitLab allows several, which is how a token is changed without a gap. */
  readonly tokens: readonly string[];
  readonly state: ControllerState;
}

/** A gRPC status to end a call with. */
export interface CallRefusal {
  readonly code: number;
  readonly details: string;
}

/** The controllers of one instance, changeable at run time. */
export class Controllers {
  readonly #byId = new Map<number, RegisteredController>();

  constructor(controllers: readonly RegisteredController[]) {
    for (const controller of controllers) {
      if (this.#byId.has(controller.id))
        throw new Error(`controller ${controller.id} is listed twice; give each its own id`);
      this.#byId.set(controller.id, controller);
    }
  }

  /** In the order they are asked. */
  applicable(): RegisteredController[] {
    return [...this.#byId.values()].filter((controller) => controller.state !== 'disabled');
  }

  ids(): number[] {
    return [...this.#byId.keys()];
  }

  /** New tokens replace the old ones at once, as GitLab's rotation does; open streams live on. */
  change(id: number, change: Partial<Omit<RegisteredController, 'id'>>): void {
    const controller = this.#byId.get(id);
    if (controller === undefined)
      throw new Error(`no controller ${id}; the router has ${this.ids().join(', ')}`);
    this.#byId.set(id, { ...controller, ...change });
  }

  /** The controller that calls, or why it is refused. A disabled controller may still connect. */
  identify(metadata: Metadata): RegisteredController | CallRefusal {
    if (metadata.get('gitlab-agent-type')[0] !== 'runnerc') {
      return unauthenticated('metadata gitlab-agent-type is not "runnerc"');
    }
    const [header] = metadata.get('authorization');
    if (typeof header !== 'string' || !header.startsWith('Bearer ')) {
      return unauthenticated('metadata authorization carries no bearer token');
    }
    const token = header.slice('Bearer '.length);
    for (const controller of this.#byId.values()) {
      if (controller.tokens.includes(token)) return controller;
    }
    return unauthenticated('the token is unknown or was revoked');
  }
}

const unauthenticated = (details: string): CallRefusal => ({
  code: STATUS.UNAUTHENTICATED,
  details,
});

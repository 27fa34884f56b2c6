/** An HTTP way to a service that can be broken: what a network or an overloaded service does to whoever calls. */
import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/**
 * `stall`: takes requests and hands them on when the stall is over, whether or not their callers still wait. `cut`: breaks every
 * connection at once, whatever became of the requests on them, and refuses new ones. `throttle`: the service's own refusal.
 */
export type WayState = 'pass' | 'stall' | 'cut' | 'throttle';

/** How the service behind says that it wants fewer calls. */
interface ThrottleAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

export const DYNAMODB_THROTTLES: ThrottleAnswer = {
  status: 400,
  type: 'application/x-amz-json-1.0',
  body: '{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"Rate of requests exceeds the allowed throughput."}',
};
export const LAMBDA_THROTTLES: ThrottleAnswer = {
  status: 429,
  type: 'application/json',
  body: '{"Reason":"ReservedFunctionConcurrentInvocationLimitExceeded"}',
};

export class FaultProxy {
  readonly #target: URL;
  readonly #throttled: ThrottleAnswer;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #state: WayState = 'pass';
  #stalled: (() => void)[] = [];

  private constructor(target: string, throttled: ThrottleAnswer) {
    this.#target = new URL(target);
    this.#throttled = throttled;
    this.#server = createServer((asked, answer) => void this.#take(asked, answer));
    this.#server.on('connection', (socket: Socket) => {
      if (this.#state === 'cut') {
        socket.destroy();
        return;
      }
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  static async open(target: string, throttled: ThrottleAnswer): Promise<FaultProxy> {
    const proxy = new FaultProxy(target, throttled);
    await new Promise<void>((listening) => proxy.#server.listen(0, '127.0.0.1', listening));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  become(state: WayState): void {
    this.#state = state;
    if (state === 'cut') for (const socket of this.#sockets) socket.destroy();
    if (state === 'stall') return;
    for (const goOn of this.#stalled.splice(0)) goOn();
  }

  close(): void {
    this.become('cut');
    this.#server.close();
    this.#agent.destroy();
  }

  async #take(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of asked) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    if (this.#state === 'stall') await new Promise<void>((goOn) => this.#stalled.push(goOn));
    if (this.#state === 'throttle') {
      const { status, type, body } = this.#throttled;
      answer.writeHead(status, { 'content-type': type }).end(body);
      return;
    }
    this.#handOn(asked, Buffer.concat(chunks), answer);
  }

  #handOn({ method, url, headers }: IncomingMessage, body: Buffer, answer: ServerResponse): void {
    const { hostname, port } = this.#target;
    const call = request(
      { hostname, port, method, path: url, headers, agent: this.#agent },
      (said: IncomingMessage) => {
        if (!answer.destroyed) answer.writeHead(said.statusCode ?? 502, said.headers);
        said.pipe(answer);
      },
    );
    call.on('error', () => answer.destroy());
    call.end(body);
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** How the relay reaches the router. */
export type Transport = 'grpc' | 'grpcs' | 'ws' | 'wss';

export interface PeerOptions {
  readonly transport: Transport;
  /** Flags of the program, see `main.go`: `['-streams', '20']`. */
  readonly flags?: readonly string[];
}

/** Fields of `load` in `ask.go`. */
interface Load {
  /** Absent: until `stop()`. */
  readonly count?: number;
  readonly inFlight: number;
  readonly perSecond?: number;
  readonly firstJobId: number;
  readonly sameJob?: boolean;
  readonly shapes?: readonly string[];
  readonly verdicts: readonly PeerVerdict[];
  readonly schema?: 'first' | 'moved' | 'retyped';
}

/** What the rules of the run say of a job; `pass`: admitted although the rules would reject it, if they could be asked. */
type PeerVerdict = 'admit' | 'image' | 'blocked' | 'pass';

/** What came of a load. */
export interface LoadTally {
  readonly outcomes: Readonly<Record<string, number>>;
  readonly wrong: number;
  readonly samples: readonly string[];
}

/** What the router counted by itself; what never happened is absent. */
type RouterReport = Readonly<Record<string, number>>;

export interface PeerRouter {
  readonly url: string;
  readonly descriptors: string;
  readonly authority: string | undefined;
  ask(load: Load): Promise<LoadTally>;
  /** Ends loads without a count, after the questions under way. */
  stop(): Promise<void>;
  /** Whether so many streams waited within the time. */
  waits(streams: number, withinMs?: number): Promise<boolean>;
  act(what: 'away' | 'back' | 'reset' | 'deaf' | 'freeze' | 'release'): Promise<void>;
  changeToken(token: string): Promise<void>;
  report(): Promise<RouterReport>;
  end(): Promise<void>;
}

/** Over how many projects jobs are spread; their ids begin with 2001. */
export const PEER_PROJECTS = 8;
const WAIT_MS = 30_000;

/** Starts the program and resolves when it listens. `folder` takes its descriptors and its certificate. */
export async function startPeer(
  program: string,
  folder: string,
  { transport, flags = [] }: PeerOptions,
): Promise<PeerRouter> {
  const descriptors = join(folder, 'peer.binpb');
  const authority = transport.endsWith('s') && transport !== 'ws' ? join(folder, 'peer.pem') : undefined;
  const child = spawn(
    program,
    [
      '-descriptors',
      descriptors,
      ...(authority === undefined ? [] : ['-authority', authority]),
      ...(transport.startsWith('ws') ? ['-ws'] : []),
      ...flags,
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const conversation = new Conversation(child);
  const { address } = await conversation.first;
  const act = (command: object): Promise<unknown> => conversation.ask(command);
  return {
    url: `${transport}://${address}`,
    descriptors,
    authority,
    ask: async (load) => (await act({ do: 'ask', ...commandOf(load) })) as LoadTally,
    stop: async () => void (await act({ do: 'stop' })),
    waits: async (streams, withinMs = WAIT_MS) =>
      (await act({ do: 'wait', streams, within_ms: withinMs })) === true,
    act: async (what) => void (await act({ do: what })),
    changeToken: async (token) => void (await act({ do: 'token', token })),
    report: async () => (await act({ do: 'report' })) as RouterReport,
    end: () => conversation.end(),
  };
}

const commandOf = (load: Load): object => ({
  count: load.count ?? 0,
  in_flight: load.inFlight,
  per_second: load.perSecond ?? 0,
  first: load.firstJobId,
  same: load.sameJob ?? false,
  projects: PEER_PROJECTS,
  shapes: load.shapes ?? ['plain'],
  verdicts: load.verdicts,
  schema: load.schema ?? 'first',
});

/** Commands out, answers in, by their ids. */
class Conversation {
  readonly first: Promise<{ readonly address: string }>;
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #lastId = 0;

  constructor(child: ChildProcess) {
    this.#child = child;
    const first = Promise.withResolvers<{ readonly address: string }>();
    this.first = first.promise;
    if (child.stdout === null) throw new Error('the router has no output');
    createInterface(child.stdout).on('line', (line) => {
      const said = JSON.parse(line) as { id?: number; result?: unknown; address?: string };
      if (said.address !== undefined) first.resolve({ address: said.address });
      if (said.id !== undefined) this.#waiting.get(said.id)?.resolve(said.result);
    });
    this.#closed = once(child, 'close').then(([code]) => {
      const error = new Error(`the router ended with code ${code}`);
      first.reject(error);
      for (const { reject } of this.#waiting.values()) reject(error);
    });
  }

  async ask(command: object): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = Promise.withResolvers<unknown>();
    this.#waiting.set(id, answer);
    this.#child.stdin?.write(`${JSON.stringify({ id, ...command })}\n`);
    try {
      return await answer.promise;
    } finally {
      this.#waiting.delete(id);
    }
  }

  async end(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#closed;
  }
}

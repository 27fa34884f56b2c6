import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** `npm test` skips these tests without Go; `npm run conformance` fails with the remedy. */
export const isWanted =
  spawnSync('go', ['version']).status === 0 || process.env.npm_lifecycle_event === 'conformance';

/** A cold build of gRPC on a busy machine; a warm one takes a second. */
const BUILD_MS_MAX = 300_000;

/**
 * Builds the router with the versions of its go.sum. Go's cache makes the next build quick.
 *
 * @returns the program's path, below `.tollgate/`.
 */
export function buildPeer(): string {
  const folder = fileURLToPath(new URL('../../../.tollgate/conformance/', import.meta.url));
  mkdirSync(folder, { recursive: true });
  // Two test files may build at the same time.
  const [program, built] = [join(folder, 'router'), join(folder, `router-${process.pid}`)];
  const { status, error } = spawnSync('go', ['build', '-mod=readonly', '-buildvcs=false', '-o', built, '.'], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    stdio: ['ignore', 2, 2],
    timeout: BUILD_MS_MAX,
  });
  if (error !== undefined)
    throw new Error('Go is missing. Install it from https://go.dev/dl/ or as the package golang.');
  if (status !== 0)
    throw new Error(
      'go build failed; its message is above. Go 1.21 or newer fetches the version that go.mod names unless ' +
        'GOTOOLCHAIN=local; the modules come from GOPROXY.',
    );
  renameSync(built, program);
  return program;
}

export interface PeerOptions {
  readonly transport: 'grpc' | 'grpcs' | 'ws' | 'wss';
  /** Flags of the program, see `main.go`: `['-age', '1s']`. */
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
  /** The decision by the rules of the test; `pass`: admitted although the rules would reject it, if they were asked. */
  readonly verdicts: readonly ('admit' | 'image' | 'blocked' | 'pass')[];
  readonly schema?: 'first' | 'moved' | 'retyped';
}

export interface LoadTally {
  readonly outcomes: Readonly<Record<string, number>>;
  readonly wrong: number;
  readonly samples: readonly string[];
}

/** Jobs are spread over so many projects; their ids begin with 2001. */
export const PEER_PROJECTS = 8;
const WAIT_MS = 30_000;

export type PeerRouter = Awaited<ReturnType<typeof startPeer>>;

/** Resolves when the router listens. `folder` takes its descriptors and its certificate. */
export async function startPeer(program: string, folder: string, { transport, flags = [] }: PeerOptions) {
  const descriptors = join(folder, 'peer.binpb');
  const authority = transport === 'grpcs' || transport === 'wss' ? join(folder, 'peer.pem') : undefined;
  const args = [
    ...['-descriptors', descriptors],
    ...(authority === undefined ? [] : ['-authority', authority]),
    ...(transport.startsWith('ws') ? ['-ws'] : []),
    ...flags,
  ];
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const first = Promise.withResolvers<string>();
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  createInterface(child.stdout).on('line', (line) => {
    const said = JSON.parse(line) as { id?: number; result?: unknown; address?: string };
    if (said.address !== undefined) first.resolve(said.address);
    if (said.id !== undefined) waiting.get(said.id)?.resolve(said.result);
  });
  const closed = once(child, 'close').then(([code]) => {
    const error = new Error(`the router ended with code ${code}`);
    for (const { reject } of [first, ...waiting.values()]) reject(error);
  });
  let lastId = 0;
  const command = async (fields: object): Promise<unknown> => {
    lastId += 1;
    const id = lastId;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(id, answer);
    child.stdin.write(`${JSON.stringify({ id, ...fields })}\n`);
    try {
      return await answer.promise;
    } finally {
      waiting.delete(id);
    }
  };
  return {
    url: `${transport}://${await first.promise}`,
    descriptors,
    authority,
    ask: async (load: Load): Promise<LoadTally> =>
      (await command({
        ...{ do: 'ask', count: load.count ?? 0, in_flight: load.inFlight, per_second: load.perSecond ?? 0 },
        ...{ first: load.firstJobId, same: load.sameJob ?? false, projects: PEER_PROJECTS },
        ...{ shapes: load.shapes ?? ['plain'], verdicts: load.verdicts, schema: load.schema ?? 'first' },
      })) as LoadTally,
    stop: async (): Promise<void> => void (await command({ do: 'stop' })),
    waits: async (streams: number, withinMs = WAIT_MS): Promise<boolean> =>
      (await command({ do: 'wait', streams, within_ms: withinMs })) === true,
    act: async (what: 'away' | 'back' | 'reset' | 'deaf' | 'freeze'): Promise<void> =>
      void (await command({ do: what })),
    changeToken: async (token: string): Promise<void> => void (await command({ do: 'token', token })),
    /** The router's own counts; 0 is absent. */
    report: async () => (await command({ do: 'report' })) as Readonly<Record<string, number>>,
    end: async (): Promise<void> => {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

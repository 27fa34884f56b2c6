import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** The peer cannot be built here; the message says what to do. */
export class PeerError extends Error {
  override readonly name = 'PeerError';
}

/** A cold build of gRPC on a busy machine; a warm one takes a second. */
const BUILD_MS_MAX = 300_000;

/**
 * Builds the job router of `test/peers/router` with the versions of its go.sum; Go's own cache makes the next time quick.
 *
 * @returns the program's path, below `.tollgate/`.
 * @throws {PeerError} Go is missing, or the build fails.
 */
export async function buildPeer(root: string): Promise<string> {
  const found = spawnSync('go', ['version'], { encoding: 'utf8' });
  if (found.status !== 0) {
    throw new PeerError(
      'Go is missing: the job router of this test is written in it. Install it from https://go.dev/dl/ or as the package ' +
        'golang, then run npm run conformance again. Nothing else in this repository needs it.',
    );
  }
  const program = join(root, '.tollgate', 'conformance', 'router');
  mkdirSync(join(program, '..'), { recursive: true });
  const build = spawn('go', ['build', '-mod=readonly', '-buildvcs=false', '-o', program, '.'], {
    cwd: join(root, 'test', 'peers', 'router'),
    stdio: ['ignore', 2, 2],
    timeout: BUILD_MS_MAX,
  });
  const [code] = (await once(build, 'close')) as [number | null];
  if (code !== 0) {
    throw new PeerError(
      `go build failed with ${found.stdout.trim()}; its message is above. Go 1.21 or newer fetches the version that go.mod ` +
        'names by itself unless GOTOOLCHAIN=local; the modules come from GOPROXY.',
    );
  }
  return program;
}

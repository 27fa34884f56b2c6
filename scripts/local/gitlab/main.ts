/** `npm run gitlab:local`: a GitLab with a job router and one runner on this machine, to try commands of administrators on. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { UsageError } from '../../terminal/command.ts';
import { runProgram } from '../../terminal/program.ts';
import { machineClock } from '../clock.ts';
import { createRunnerClient, startRoutedGitLab } from './runner-client.ts';

const USAGE = `npm run gitlab:local -- [--port <n>]

Starts a GitLab with a job router, one runner of the instance and the project of the canary, on loopback, until interrupted.
Prints its address and where it put the administrator's token. Nothing of it is kept.

  --port <n>   where its REST API listens   (default: any free one)`;

/** GitLab Runner's own `check_interval`. */
const POLL_MS = 3_000;
const RUNNER_TOKEN = 'glrt-local-canary';
const ADMIN_TOKEN = 'glpat-local-administrator';
const TAG = 'tollgate-canary';

async function main(): Promise<number> {
  const values = readFlags();
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const job = { tags: [TAG] };
  const routed = await startRoutedGitLab({
    token: ADMIN_TOKEN,
    runners: [{ id: 1, token: RUNNER_TOKEN, tags: [TAG], runUntagged: false }],
    projects: [
      {
        id: 900,
        path: 'platform/tollgate-canary',
        jobs: [
          { ...job, name: 'tollgate-canary-runs', script: ['echo admitted'] },
          { ...job, name: 'tollgate-canary-fails', script: ['echo rejected, and yet it runs'] },
        ],
      },
    ],
  });
  const server = await routed.gitlab.listen(values.port);
  const folder = join(fileURLToPath(new URL('../../..', import.meta.url)), '.tollgate');
  mkdirSync(folder, { recursive: true });
  const tokenFile = join(folder, 'local-admin-token');
  writeFileSync(tokenFile, `${ADMIN_TOKEN}\n`, { mode: 0o600 });
  console.log(`GitLab ${server.url}, its job router ${routed.router.grpcUrl}
Try: npx tollgate gitlab canary --gitlab ${server.url} --token-file .tollgate/local-admin-token --project platform/tollgate-canary`);
  const runner = createRunnerClient({ gitlabUrl: server.url, token: RUNNER_TOKEN, fetch });
  let isOver = false;
  const over = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.on(signal, () => {
        isOver = true;
        resolve();
      });
  });
  while (!isOver) {
    await runner.poll();
    await Promise.race([over, machineClock.sleep(POLL_MS)]);
  }
  runner.close();
  await server.stop();
  await routed.close();
  rmSync(tokenFile, { force: true });
  return 0;
}

function readFlags(): { readonly help: boolean; readonly port: number | undefined } {
  const options = { port: { type: 'string' }, help: { type: 'boolean', default: false } } as const;
  let values: { readonly port?: string; readonly help: boolean };
  try {
    ({ values } = parseArgs({ options }));
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  const port = values.port === undefined ? undefined : Number(values.port);
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535))
    throw new UsageError(`--port "${values.port}": expected a port, 0 to 65535`);
  return { help: values.help, port };
}

await runProgram(main, 'npm run gitlab:local -- --help');

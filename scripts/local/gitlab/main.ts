/** `npm run gitlab:local`: a GitLab with a job router and one runner on this machine, to try commands of administrators on. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseInput, text, whole } from '../../terminal/define.ts';
import { runProgram } from '../../terminal/program.ts';
import { createRunnerClient, startRoutedGitLab } from './runner-client.ts';

const USAGE = `npm run gitlab:local -- [--port <n>]

Starts a GitLab with a job router, one runner of the instance and the project of the canary, on loopback, until interrupted.
Prints its address and where it put the administrator's token. Nothing of it is kept.

  --port <n>   where its REST API listens   (default: any free one)`;

const POLL_MS = 3_000;
const RUNNER_TOKEN = 'glrt-local-canary';
const ADMIN_TOKEN = 'glpat-local-administrator';
const TAG = 'tollgate-canary';

async function main(args: readonly string[]): Promise<number> {
  const { port } = parseInput(args, { port: text('<n>', '', whole(0, 65_535)) }, {}).flags;
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
  const server = await routed.gitlab.listen(port);
  const folder = join(fileURLToPath(new URL('../../..', import.meta.url)), '.tollgate');
  mkdirSync(folder, { recursive: true });
  const tokenFile = join(folder, 'local-admin-token');
  writeFileSync(tokenFile, `${ADMIN_TOKEN}\n`, { mode: 0o600 });
  console.log(`GitLab ${server.url}, its job router ${routed.router.grpcUrl}
Try: npx tollgate gitlab canary --gitlab ${server.url} --token-file .tollgate/local-admin-token --project platform/tollgate-canary`);
  const runner = createRunnerClient({ gitlabUrl: server.url, token: RUNNER_TOKEN, fetch });
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
  while (!stop.signal.aborted) {
    await runner.poll();
    await sleep(POLL_MS, undefined, { signal: stop.signal }).catch(() => {});
  }
  runner.close();
  await server.stop();
  await routed.close();
  rmSync(tokenFile, { force: true });
  return 0;
}

await runProgram(main, 'npm run gitlab:local -- --help', { usage: USAGE });

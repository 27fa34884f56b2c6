import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { MemoryStore } from '../../functions/ledger/memory-store.ts';
import { VERSION } from '../../relay/version.ts';
import { bundleRelay } from '../../scripts/bundle.ts';
import { startLocalRouter } from '../../scripts/local-router/local-router.ts';
import { packRules } from '../../scripts/pack-rules.ts';
import { admitApp, flowRules, listen, question, TOKEN } from '../flow/support/flow.ts';
import { freePort } from '../flow/support/free-port.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('the version the relay tells is the one of package.json', () => {
  expect(VERSION).toBe(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version);
});

test('the relay as it is built for its container runs from an empty folder, answers and ends with 0', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-relay-'));
  const { file } = await bundleRelay(join(folder, 'relay.mjs'));
  writeFileSync(
    join(folder, 'rules.json'),
    JSON.stringify(packRules({ root, force: false, nowMs: Date.now() })),
  );
  const router = await startLocalRouter({ controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }] });
  const rules = flowRules([{ on: { project: 1001 }, jobs: 1 }]);
  const server = await listen(admitApp(new MemoryStore({ instance: 'flow.example.com' }), rules).app);
  const relay = spawn(process.execPath, [file], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env.PATH,
      TOLLGATE_ROUTER_URL: router.wsUrl,
      TOLLGATE_ROUTER_TOKEN: TOKEN,
      TOLLGATE_ADMIT_URL: server.url,
      TOLLGATE_POLICY_FILE: join(folder, 'rules.json'),
      TOLLGATE_HEALTH_PORT: String(await freePort()),
    },
  });
  try {
    await router.until(() => router.waitingStreams() > 0, { timeoutMs: 300_000 });
    expect((await router.admit(question(1))).result).toBe('admitted');
    expect((await router.admit(question(2))).result).toBe('rejected');
    relay.kill('SIGTERM');
    expect((await once(relay, 'exit'))[0]).toBe(0);
  } finally {
    relay.kill('SIGKILL');
    await router.close();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

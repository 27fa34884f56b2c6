import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readDeployments } from '../../cdk/settings/read-deployments.ts';
import { deployments } from '../../cdk/tollgate.config.ts';
import { MemoryStore } from '../../functions/core/ledger/memory-store.ts';
import { VERSION } from '../../relay/version.ts';
import { readDeployableDescriptors } from '../../relay/wire/deployable-descriptors.ts';
import { parseSchema } from '../../relay/wire/schema.ts';
import { bundledDescriptors, bundleRelay } from '../../scripts/build/bundle.ts';
import { packRules } from '../../scripts/build/pack-rules.ts';
import { loopbackPort } from '../../scripts/local/loopback.ts';
import { renumbered, writeRenumbered } from '../../scripts/local/router/schemas.ts';
import { admitApp, flowRules, listen, question, TOKEN } from '../support/flow/flow.ts';
import { patientRouter } from '../support/flow/patient-router.ts';
import { proveSchema } from '../support/flow/prove-schema.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('the version the relay tells is the one of package.json', () => {
  expect(VERSION).toBe(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version);
});

let folder: string;
let bundle: string;
let descriptors: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-relay-'));
  const ofGitLab = readDeployableDescriptors(writeRenumbered(join(folder, 'gitlab.binpb')));
  bundle = (await bundleRelay(join(folder, 'relay', 'relay.mjs'), [ofGitLab])).file;
  descriptors = join(folder, 'relay', 'descriptors', ofGitLab.fileName);
  writeFileSync(
    join(folder, 'relay', 'rules.json'),
    JSON.stringify(packRules({ root, force: false, nowMs: Date.now() })),
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function startBundle(env: Readonly<Record<string, string | undefined>>): Promise<ChildProcess> {
  return spawn(process.execPath, [bundle], {
    cwd: join(folder, 'relay'),
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env.PATH,
      TOLLGATE_ROUTER_TOKEN: TOKEN,
      TOLLGATE_POLICY_FILE: join(folder, 'relay', 'rules.json'),
      TOLLGATE_HEALTH_PORT: String(await loopbackPort()),
      ...env,
    },
  });
}

test('the relay as it is built for its container runs from its folder under its GitLab’s numbers, answers and ends with 0', async () => {
  const router = await patientRouter({
    controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }],
    schema: parseSchema(renumbered(), 'renumbered'),
  });
  const rules = flowRules([{ on: { project: 1001 }, jobs: 1 }]);
  const server = await listen(admitApp(new MemoryStore({ instance: 'flow.example.com' }), rules).app);
  const relay = await startBundle({
    TOLLGATE_ROUTER_URL: router.wsUrl,
    TOLLGATE_ADMIT_URL: server.url,
    TOLLGATE_PROTO_FILE: descriptors,
  });
  relay.stderr?.pipe(process.stderr);
  try {
    await router.until(() => router.waitingStreams() > 0, { timeoutMs: 300_000 });
    await proveSchema(router);
    expect((await router.admit(question(1))).result).toBe('admitted');
    expect((await router.admit(question(2))).result).toBe('rejected');
    relay.kill('SIGTERM');
    expect((await once(relay, 'exit'))[0]).toBe(0);
  } finally {
    relay.kill('SIGKILL');
    await router.close();
    await server.close();
  }
});

test('without the descriptors of its deployment it does not start: there is no placeholder to fall back to', async () => {
  const relay = await startBundle({
    TOLLGATE_ROUTER_URL: 'wss://kas.example.test',
    TOLLGATE_ADMIT_URL: 'https://admit.example.test',
  });
  let said = '';
  relay.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  expect((await once(relay, 'close'))[0]).toBe(1);
  expect(said).toContain('[schema_invalid]');
  expect(readdirSync(join(folder, 'relay'), { recursive: true })).not.toContain('default.binpb');
});

const runBundle = (...args: readonly string[]) =>
  spawnSync(process.execPath, [join(root, 'scripts/build/bundle.ts'), ...args], {
    cwd: folder,
    encoding: 'utf8',
  });

test('npm run bundle refuses the placeholder for a relay, and says what to do', () => {
  const { status, stderr } = runBundle('relay', '--descriptors', join(root, 'relay/wire/default.binpb'));
  expect(status).toBe(1);
  expect(stderr).toContain('default.binpb: the file is the placeholder of this repository');
  expect(stderr).toContain('npm run proto:sync -- --ref v18.9.0');
  expect(stderr).not.toMatch(/^\s+at /m);
});

test('npm run bundle without further words takes those that the settings name, or tells what is wrong with them', async () => {
  const outcomeOf = async (read: () => unknown) => {
    try {
      return await read();
    } catch (error) {
      return String(error);
    }
  };
  const named = await outcomeOf(() =>
    readDeployments(deployments, {}).map(({ gitlab }) => gitlab.descriptors),
  );
  expect(await outcomeOf(() => bundledDescriptors(undefined))).toEqual(named);
});

/** The relay as its image runs it: the Dockerfile's copies of a bundle, under a user without rights, from a read-only folder. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { FileSystem } from 'aws-cdk-lib';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { VERSION } from '../../relay/version.ts';
import { parseSchema } from '../../relay/wire/schema.ts';
import { loopbackPort } from '../../scripts/local/loopback.ts';
import type { LocalRouter } from '../../scripts/local/router/local-router.ts';
import { renumbered, writeRenumbered } from '../../scripts/local/router/schemas.ts';
import { admitApp, flowRules, question, TOKEN } from '../support/flow/flow.ts';
import { patientRouter } from '../support/flow/patient-router.ts';
import { proveSchema } from '../support/flow/prove-schema.ts';
import { MemoryStore } from '../support/ledger/memory-store.ts';
import { type AwsEmulation, KEYS, startAwsEmulation } from '../support/relay/aws-emulation.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** `nonroot` of the image. A test that is not root already is nobody special. */
const NONROOT = 65_532;
const isRoot = process.getuid?.() === 0;
const PARAMETER = '/tollgate/prod/router-token';

let folder: string;
let build: string;
let app: string;
let descriptors: string;
let node: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'image-'));
  chmodSync(folder, 0o755);
  for (let above = folder; isRoot && above !== dirname(above); above = dirname(above)) {
    if ((statSync(above).mode & 0o001) === 0)
      throw new Error(`${above}: nobody but its owner may enter; set TMPDIR to a folder of mode 711 or 1777`);
  }
  build = join(folder, 'build');
  for (const name of ['relay', 'functions', 'policies', 'scripts', 'docs', 'README.md', 'package.json'])
    cpSync(join(root, name), join(build, name), { recursive: true });
  for (const name of ['node_modules', 'package-lock.json']) symlinkSync(join(root, name), join(build, name));
  writeRenumbered(join(folder, 'gitlab.binpb'));
  const context = bundled('--sbom');
  const dockerfile = readFileSync(join(context, 'Dockerfile'), 'utf8');
  expect(dockerfile).toContain('HOME=/home/nonroot');
  // A tag may be another image tomorrow.
  expect(dockerfile).toMatch(/^ARG BASE=\S+@sha256:[a-f\d]{64}$/m);
  app = join(folder, 'app');
  for (const [, names = '', to = ''] of dockerfile.matchAll(/^COPY (.+) (\S+)$/gm))
    for (const name of names.split(' '))
      cpSync(join(context, name), join(app, to === './' ? name : to), { recursive: true });
  const [packed = ''] = readdirSync(join(app, 'descriptors'));
  descriptors = join(app, 'descriptors', packed);
  // Node too may lie where nobody else looks.
  node = join(folder, 'node');
  copyFileSync(process.execPath, node);
  chmodSync(node, 0o755);
  chmodSync(app, 0o555);
});

/** The context of an image that is built now. */
function bundled(...more: readonly string[]): string {
  const args = ['scripts/build/bundle.ts', 'relay', '--descriptors', join(folder, 'gitlab.binpb'), ...more];
  const { stderr } = spawnSync(process.execPath, args, { cwd: build, encoding: 'utf8' });
  expect(stderr).toBe('');
  return join(build, 'dist', 'relay');
}

afterAll(() => {
  spawnSync('chmod', ['-R', 'u+w', folder]);
  rmSync(folder, { recursive: true, force: true });
});

const asNobody = isRoot ? { uid: NONROOT, gid: NONROOT } : {};

async function deployed(
  routerUrl: string,
  route: 'url' | 'invoke',
  tmp: 'as in the image' | 'absent' = 'as in the image',
): Promise<{
  readonly relay: ChildProcess;
  readonly output: { text: string };
  readonly health: () => Promise<number>;
  /** Until `/healthz` answers with this status. */
  readonly answers: (status: number) => Promise<void>;
  readonly aws: AwsEmulation;
  readonly socketFolder: string;
}> {
  const rules = flowRules([{ on: { project: 1001 }, jobs: 1 }]);
  const aws = await startAwsEmulation(admitApp(new MemoryStore({ instance: 'flow.example.com' }), rules).app);
  onTestFinished(() => aws.close());
  const port = String(await loopbackPort());
  // As the image's /tmp.
  const socketFolder = mkdtempSync(join(folder, 'tmp-'));
  chmodSync(socketFolder, 0o1777);
  const relay = spawn(node, ['--max-semi-space-size=4', join(app, 'relay.mjs')], {
    ...asNobody,
    cwd: app,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      // As in the image, whose nobody has a home in name only.
      HOME: '/home/nonroot',
      TMPDIR: tmp === 'absent' ? join(folder, 'absent') : socketFolder,
      TOLLGATE_POLICY_FILE: join(app, 'rules.json'),
      TOLLGATE_PROTO_FILE: descriptors,
      TOLLGATE_ROUTER_URL: routerUrl,
      TOLLGATE_ROUTER_TOKEN_PARAMETER: PARAMETER,
      TOLLGATE_ADMIT_ROUTE: route,
      ...(route === 'url'
        ? { TOLLGATE_ADMIT_URL: aws.url }
        : { TOLLGATE_ADMIT_FUNCTION: 'tollgate-prod-admit' }),
      TOLLGATE_DEADLINE_MS: '10000',
      TOLLGATE_HEALTH_PORT: port,
      AWS_REGION: KEYS.region,
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${aws.url}/credentials`,
      AWS_ENDPOINT_URL_SSM: aws.url,
      AWS_ENDPOINT_URL_LAMBDA: aws.url,
    },
  });
  onTestFinished(() => void relay.kill('SIGKILL'));
  const output = { text: '' };
  for (const stream of [relay.stdout, relay.stderr])
    stream?.on('data', (chunk) => {
      output.text += chunk;
    });
  /** Exit code of the image's health check. */
  const health = async (): Promise<number> => {
    const check = spawn(node, [join(app, 'health-check.mjs')], {
      ...asNobody,
      stdio: 'ignore',
      env: { TOLLGATE_HEALTH_PORT: port },
    });
    return (await once(check, 'exit'))[0];
  };
  /** Asks until it says so: nothing tells us when a process outside begins or ceases to be well. */
  const answers = async (status: number): Promise<void> => {
    const asked = (): Promise<number> =>
      fetch(`http://127.0.0.1:${port}/healthz`).then(
        (answer) => answer.status,
        () => 0,
      );
    while ((await asked()) !== status) await pause(200);
  };
  return { relay, output, health, answers, aws, socketFolder };
}

async function said(relay: ChildProcess, output: { readonly text: string }, text: string): Promise<void> {
  while (!output.text.includes(text)) if (relay.stdout !== null) await once(relay.stdout, 'data');
}

async function startRouter(): Promise<LocalRouter> {
  const router = await patientRouter({
    controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }],
    schema: parseSchema(renumbered(), 'renumbered'),
  });
  onTestFinished(() => router.close());
  return router;
}

test('by the Function URL: waits for its token, takes the credentials of its role, answers by signed calls, ends with 0', async () => {
  const router = await startRouter();
  const { relay, output, health, answers, aws, socketFolder } = await deployed(router.wsUrl ?? '', 'url');
  await said(relay, output, 'a parameter could not be read');
  expect(output.text).toContain('ParameterNotFound');
  expect(await health()).toBe(1);
  expect(router.waitingStreams()).toBe(0);
  aws.parameters.set(PARAMETER, TOKEN);
  await router.until(() => router.waitingStreams() > 0, { timeoutMs: 300_000 });
  await answers(200);
  expect(await health()).toBe(0);
  await proveSchema(router);
  expect((await router.admit(question(1))).result).toBe('admitted');
  expect((await router.admit(question(2))).result).toBe('rejected');
  expect(aws.unsigned).toEqual([]);
  expect(aws.calls[0]).toBe('ssm AmazonSSM.GetParameter');
  expect(aws.calls).toContain('lambda /v1/admissions');
  // It writes nothing but the socket's folder, which no other user may enter.
  const [own = ''] = readdirSync(socketFolder);
  expect(statSync(join(socketFolder, own)).mode & 0o777).toBe(0o700);
  if (isRoot) expect(statSync(join(socketFolder, own)).uid).toBe(NONROOT);
  relay.kill('SIGTERM');
  expect((await once(relay, 'close'))[0]).toBe(0);
  expect(readdirSync(socketFolder)).toEqual([]);
  expect(output.text).toContain('"stopped"');
  expect(output.text).toContain('"via":"ledger"');
  for (const secret of [TOKEN, KEYS.secret, KEYS.sessionToken]) expect(output.text).not.toContain(secret);
});

test('by Invoke, without the WebSocket tunnel it needs no folder that it may write to', async () => {
  const router = await startRouter();
  const { relay, output, aws } = await deployed(router.grpcUrl ?? '', 'invoke', 'absent');
  aws.parameters.set(PARAMETER, TOKEN);
  await router.until(() => router.waitingStreams() > 0, { timeoutMs: 300_000 });
  expect((await router.admit(question(1))).result).toBe('admitted');
  expect(aws.calls).toContain('lambda /2015-03-31/functions/tollgate-prod-admit/invocations');
  relay.kill('SIGTERM');
  expect((await once(relay, 'close'))[0]).toBe(0);
  expect(output.text).not.toContain('not written');
});

test('without the descriptors of its deployment it does not start: it has no placeholder to fall back to', () => {
  const { status, stderr } = spawnSync(node, [join(app, 'relay.mjs')], {
    cwd: app,
    encoding: 'utf8',
    env: {
      TOLLGATE_ROUTER_TOKEN: TOKEN,
      TOLLGATE_ROUTER_URL: 'wss://kas.example.test',
      TOLLGATE_ADMIT_URL: 'https://admit.example.test',
    },
  });
  expect(status).toBe(1);
  expect(stderr).toContain('[schema_invalid]');
  expect(readdirSync(app, { recursive: true })).not.toContain('default.binpb');
});

test('an image changes with the relay’s code, and with nothing that the relay does not read', () => {
  const hash = () => FileSystem.fingerprint(bundled());
  const first = hash();
  for (const file of ['README.md', 'relay/README.md', 'docs/platform.md', 'package.json', 'relay/main.ts'])
    appendFileSync(join(build, file), file.endsWith('.ts') ? '// A word.\n' : '\n');
  appendFileSync(join(build, 'functions/console/handler.ts'), 'console.log("new");\n');
  expect(hash()).toBe(first);
  appendFileSync(join(build, 'relay/main.ts'), 'console.log("new");\n');
  expect(hash()).not.toBe(first);
});

test('the bill of materials lists the packages in the bundle, and is the same each time', () => {
  const text = readFileSync(join(build, 'dist', 'relay.cdx.json'), 'utf8');
  bundled('--sbom');
  expect(readFileSync(join(build, 'dist', 'relay.cdx.json'), 'utf8')).toBe(text);
  const { bomFormat, components } = JSON.parse(text);
  const names = components.map(({ name }: { readonly name: string }) => name);
  expect(bomFormat).toBe('CycloneDX');
  expect(names).toContain('@grpc/grpc-js');
  expect(names).not.toContain('zod');
});

test('the relay’s version is that of package.json', () => {
  expect(VERSION).toBe(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version);
});

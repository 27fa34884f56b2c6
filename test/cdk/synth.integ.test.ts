import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { DESCRIPTORS } from './descriptors.ts';
import { BUNDLES } from './synthesized.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const TIMEOUT_MS = 240_000;

/** Nobody's account, and an address where nothing answers in the place of the network. */
const NOBODY = {
  PATH: process.env.PATH,
  HOME: mkdtempSync(join(tmpdir(), 'tollgate-home-')),
  AWS_EC2_METADATA_DISABLED: 'true',
  https_proxy: 'http://127.0.0.1:9',
  http_proxy: 'http://127.0.0.1:9',
};

async function cdk(...args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const cli = `${root}node_modules/aws-cdk/bin/cdk`;
  try {
    const { stdout, stderr } = await run(process.execPath, [cli, ...args], {
      cwd: `${root}cdk`,
      env: NOBODY,
      timeout: TIMEOUT_MS,
    });
    return { code: 0, text: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, text: `${stdout}${stderr}` };
  }
}

beforeAll(async () => {
  await run(process.execPath, [`${root}scripts/build/bundle.ts`], {
    cwd: root,
    timeout: TIMEOUT_MS,
  });
}, TIMEOUT_MS);

test(
  'cdk synth needs no account, no network and no Docker, and packs the real bundles',
  async () => {
    const out = mkdtempSync(join(tmpdir(), 'tollgate-cdk-'));
    const named = ['-c', `gitlab.descriptors=${DESCRIPTORS}`];
    const { code, text } = await cdk('synth', '--quiet', '--output', relative(`${root}cdk`, out), ...named);
    expect({ code, text: code === 0 ? '' : text }).toEqual({ code: 0, text: '' });
    const manifest = JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8'));
    expect(manifest.missing ?? []).toEqual([]);
    const artifacts: { environment?: string; properties?: { stackName?: string } }[] = Object.values(
      manifest.artifacts,
    );
    expect(
      artifacts.find(({ properties }) => properties?.stackName === 'Tollgate-prod-State')?.environment,
    ).toBe('aws://unknown-account/unknown-region');
    const packed = readdirSync(out).flatMap((asset) =>
      asset.startsWith('asset.') ? readdirSync(join(out, asset)) : [],
    );
    const handlers = packed.filter((file) => file === 'handler.mjs');
    // The watchdog, the console and the retries are missing: the file does not ask for them.
    expect(handlers).toHaveLength(BUNDLES.length - 3);
    // The receiver of webhooks has none, the relay has some.
    expect(packed.filter((file) => file === 'rules.json')).toHaveLength(handlers.length);
    const image = readdirSync(out).find((asset) => existsSync(join(out, asset, 'Dockerfile'))) ?? '';
    expect(readdirSync(join(out, image), { recursive: true }).sort()).toEqual([
      ...['Dockerfile', 'descriptors', expect.stringMatching(/^descriptors.[0-9a-f]{64}.binpb$/)],
      ...['health-check.mjs', 'relay.mjs', 'rules.json'],
    ]);
  },
  TIMEOUT_MS,
);

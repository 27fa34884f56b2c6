/** The command line as someone installs it: packed, and installed from the tarball into an empty folder. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { PACKAGES } from '../../../scripts/build/package.ts';
import { consoleHouse, LIMITS } from '../../functions/console/house.ts';
import { serveConsole } from '../../functions/console/served-console.ts';
import { FRITZ, openConsole } from '../cli/login/sign-in-console.ts';

const { release, version } = packageJson;
const clone = fileURLToPath(new URL('../../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tollgate-package-'));
const empty = join(folder, 'empty');
const bin = join(empty, 'node_modules/.bin/tollgate');
const npm = (...args: string[]) => execFileSync('npm', [...args, '--silent'], { cwd: empty });

beforeAll(async () => {
  mkdirSync(empty);
  const built = join(folder, 'built');
  await PACKAGES.cli(built);
  const tarball = `${npm('pack', built, '--pack-destination', folder)}`.trim();
  npm('install', '--offline', '--no-audit', '--no-fund', '--prefix', empty, join(folder, tarball));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Counts the bytes of JavaScript that a call loads. */
const COUNT = `import { registerHooks } from 'node:module';
let bytes = 0;
registerHooks({ load(url, context, next) {
  const loaded = next(url, context);
  if (url.startsWith('file:')) bytes += loaded.source.length;
  return loaded;
} });
process.on('exit', () => console.error('loaded ' + bytes));`;

async function tollgate(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  onError: (err: string) => void = () => {},
) {
  const counting = ['--import', `data:text/javascript,${encodeURIComponent(COUNT)}`];
  const cache = { XDG_CACHE_HOME: join(folder, 'cache'), NO_COLOR: '1' };
  const child = spawn(process.execPath, [...counting, bin, ...args], {
    ...{ cwd: empty, env: { ...process.env, ...cache, ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
  });
  let err = '';
  const out = text(child.stdout);
  child.stderr.setEncoding('utf8').on('data', (more: string) => {
    err += more;
    onError(err);
  });
  const [code]: (number | null)[] = await once(child, 'close');
  return { code, out: await out, err, kb: Number(/loaded (\d+)/.exec(err)?.[1]) / 1024 };
}

const documents = ['policy', 'limits', 'directory'].map((name) => `--${name}=${clone}policies/${name}.yaml`);

test('it has the name of the release, and no dependency', () => {
  const installed = join(empty, 'node_modules', release.cli);
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  expect(manifest).toMatchObject({ name: release.cli, version, license: 'MIT' });
  expect(manifest.dependencies).toBeUndefined();
});

test.each([
  [['--version'], /^tollgate \d/, 90],
  [['--help'], /^ {2}budget ls /m, 90],
  [['budget', 'ls', '--help'], /^tollgate budget ls/, 260],
])('%j loads a small part of the program', async (args, shown, kbMax) => {
  const { code, out, kb } = await tollgate(args);
  expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(shown) });
  expect(kb).toBeLessThan(kbMax);
});

test('a pipeline is checked by the documents that are named; without any, the remedy is', async () => {
  const pipeline = [`${clone}scripts/local/pipelines/web-shop`, '--group', 'acme/payments'];
  const checked = await tollgate(['check', ...pipeline, ...documents]);
  expect(checked, checked.err).toMatchObject({
    code: 2,
    out: expect.stringContaining('EXCEEDS_LIMIT_ALONE'),
  });
  const refused = await tollgate(['check', ...pipeline]);
  expect(refused).toMatchObject({ code: 3, out: '', err: expect.stringContaining('name one with --policy') });
});

test('can-i asks a console by the token of a job, without a file', async () => {
  const house = consoleHouse();
  await house.apply(LIMITS);
  const { url, tokenOf } = await serveConsole(house);
  const asked = await tollgate(['can-i', '--minutes', '5', '--console', url], {
    TOLLGATE_ID_TOKEN: tokenOf(1),
  });
  expect(asked, asked.err).toMatchObject({ code: 0, out: expect.stringMatching(/^Yes: would be admitted/) });
});

test('who signs in sees the budgets of the console, and a small part of the program is loaded', async () => {
  const { url, env, answerCode } = await openConsole();
  let allowed: Promise<void> | undefined;
  const signedIn = await tollgate(['login'], env, (err) => {
    const page = /^Open (\S+) /m.exec(err)?.[1];
    if (page !== undefined) allowed ??= answerCode(page, FRITZ.id);
  });
  await allowed;
  expect(signedIn, signedIn.err).toMatchObject({
    code: 0,
    out: expect.stringContaining(`to ${url} as fritz`),
  });
  const listed = await tollgate(['budget', 'ls', '--json'], env);
  expect(JSON.parse(listed.out).limits).toHaveLength(LIMITS.length);
  expect(listed.kb).toBeLessThan(300);
});

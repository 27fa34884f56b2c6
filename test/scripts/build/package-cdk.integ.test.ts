/** The construct as someone installs it: packed, installed into a project of another folder, compiled and synthesized there. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { PACKAGES } from '../../../scripts/build/package.ts';
import { DESCRIPTORS } from '../../cdk/descriptors.ts';
import { type SynthesizedStack, synthesize } from '../../cdk/synthesized.ts';

const clone = fileURLToPath(new URL('../../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tollgate-construct-'));
const consumer = join(folder, 'consumer');
const { cdk: NAME } = packageJson.release;
const GITLAB = { url: 'https://gitlab.corp.test', descriptors: 'gitlab.binpb' };
const TIMEOUT_MS = 120_000;

const app = (settings: object): string => `import { App, type Stack } from 'aws-cdk-lib';
import { Tollgate, type TollgateProps } from '${NAME}';
const tollgate = new Tollgate(new App(), 'Tollgate-prod', ${JSON.stringify(settings)});
export const relays: Stack = tollgate.relays;
// @ts-expect-error a setting that is no number
export const wrong: TollgateProps = { gitlab: { url: '', descriptors: '', controllerId: 'seven' } };
export const names: string[] = [tollgate.webhookUrl, tollgate.table.tableName, tollgate.alarmsTopic.topicArn];
`;
const run = (program: string, ...args: readonly string[]) =>
  spawnSync(process.execPath, [join(clone, 'node_modules', program), ...args], {
    ...{ cwd: consumer, encoding: 'utf8', timeout: TIMEOUT_MS },
  });
/** As the library alone makes templates. */
const PLAIN = ['--no-notices', '--no-path-metadata', '--no-asset-metadata', '--no-version-reporting'];
const synth = (...args: readonly string[]) =>
  run('aws-cdk/bin/cdk', 'synth', '--quiet', ...PLAIN, '--app', `${process.execPath} app.ts`, ...args);

beforeAll(async () => {
  const built = join(folder, 'cdk');
  await PACKAGES.cdk(built);
  const npm = (...args: string[]) =>
    execFileSync('npm', [...args, '--silent'], { cwd: consumer, encoding: 'utf8' }).trim();
  mkdirSync(consumer);
  const tarball = npm('pack', built, '--pack-destination', folder);
  npm('install', '--offline', '--no-audit', '--no-fund', '--legacy-peer-deps', join(folder, tarball));
  for (const peer of ['aws-cdk-lib', 'constructs'])
    symlinkSync(join(clone, 'node_modules', peer), join(consumer, 'node_modules', peer));
  writeFileSync(join(consumer, 'package.json'), '{ "type": "module" }');
  for (const file of readdirSync(dirname(DESCRIPTORS)).filter((name) => /^gitlab\./.test(name)))
    cpSync(join(dirname(DESCRIPTORS), file), join(consumer, file));
  cpSync(join(clone, 'policies'), join(consumer, 'policies'), {
    ...{ recursive: true, filter: (path: string) => !path.endsWith('.ts') },
  });
}, TIMEOUT_MS);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Digests of code differ, since the tests' own bundles are stubs. */
const withoutDigests = (template: SynthesizedStack['template']): unknown =>
  JSON.parse(JSON.stringify(template).replace(/[0-9a-f]{32,64}/g, ''));

test('a project of its own compiles with it, and its templates are those of this repository', () => {
  writeFileSync(join(consumer, 'app.ts'), app({ gitlab: GITLAB }));
  const strict = ['--strict', '--skipLibCheck', '--module', 'nodenext', '--noEmit', '--types', ''];
  const compiled = run('typescript/bin/tsc', 'app.ts', ...strict);
  expect(compiled.stdout).toBe('');
  const { status, stderr } = synth('--output', 'out');
  expect(status, stderr).toBe(0);
  const out = readdirSync(join(consumer, 'out')).filter((file) => file.endsWith('.template.json'));
  const templates = out.map((file) => JSON.parse(readFileSync(join(consumer, 'out', file), 'utf8')));
  const ours = synthesize([{ stage: 'prod', gitlab: { ...GITLAB, descriptors: DESCRIPTORS } }]).stacks;
  const byName = (all: readonly SynthesizedStack['template'][]) =>
    Object.fromEntries(all.map((each) => [each.Description, withoutDigests(each)]));
  expect(byName(templates)).toEqual(byName(ours.map(({ template }) => template)));
  const packed = readdirSync(join(consumer, 'out'), { recursive: true, encoding: 'utf8' });
  const rules = packed
    .filter((file) => file.endsWith('rules.json'))
    .map((file) => readFileSync(join(consumer, 'out', file), 'utf8'));
  expect(rules.length).toBeGreaterThan(8);
  expect(rules[0]).toContain('Europe/Berlin');
});

test('two of one stage are refused, since the second would update the stacks of the first', () => {
  const other = `new Tollgate(relays.node.root as App, 'Other', ${JSON.stringify({ gitlab: GITLAB })});`;
  writeFileSync(join(consumer, 'app.ts'), `${app({ gitlab: GITLAB })}${other}`);
  const { status, stderr } = synth('--output', 'refused');
  expect(status).toBe(1);
  expect(stderr).toContain('Tollgate-prod/State has stage "prod", too; give Other a stage of its own');
});

test.each([
  [
    'a wrong setting',
    { gitlab: GITLAB, relay: { cpu: 300 } },
    /relay\.cpu is 300 \(construct "Tollgate-prod"\)/,
  ],
  ['a folder without rules', { gitlab: GITLAB, rules: 'elsewhere' }, /elsewhere\/policy\.yaml/],
])('%s is named', (_, settings, shown) => {
  writeFileSync(join(consumer, 'app.ts'), app(settings));
  const { status, stderr } = synth('--output', 'refused');
  expect(status).toBe(1);
  expect(stderr).toMatch(shown);
});

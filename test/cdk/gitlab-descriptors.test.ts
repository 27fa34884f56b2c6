import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readDeployments, SettingsError } from '../../cdk/settings/read-deployments.ts';
import { renamedAndRenumbered } from '../support/relay/schema-variants.ts';
import { DESCRIPTORS } from './descriptors.ts';
import { type Synthesized, synthesize } from './synthesized.ts';

const FETCH = 'npm run proto:sync -- --ref v18.9.0';
const PLACEHOLDER = readFileSync(new URL('../../relay/wire/default.binpb', import.meta.url));

const written: string[] = [];
afterEach(() => {
  for (const file of written.splice(0)) rmSync(file);
});

/** Beside the ones all tests of a deployment use. */
function fileWith(bytes: Uint8Array | string): string {
  const file = join(dirname(DESCRIPTORS), `${written.length}.binpb`);
  writeFileSync(file, bytes);
  written.push(file);
  return file;
}

function refusalOf(descriptors: unknown): string {
  try {
    readDeployments([{ stage: 'prod', gitlab: { url: 'https://gitlab.corp.test', descriptors } }], {});
  } catch (error) {
    if (error instanceof SettingsError && error.mistakes.length === 1) return error.message;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('a deployment without the descriptors of its GitLab is refused before anything is made', () => {
  test('none are named', () => {
    expect(refusalOf(undefined)).toContain(
      'gitlab.descriptors is missing (cdk/tollgate.config.ts, stage "prod")',
    );
    expect(refusalOf(undefined)).toContain(FETCH);
  });

  test('the file is not there, as in a fresh clone, and the remedy is told', () => {
    const refused = refusalOf('relay/wire/nobody-fetched-it.binpb');
    expect(refused).toContain('gitlab.descriptors is "relay/wire/nobody-fetched-it.binpb"');
    expect(refused).toContain(`cannot be read; fetch those of your GitLab's version with: ${FETCH}`);
  });

  test('it is the placeholder of this repository, whatever its name', () => {
    const refused = refusalOf(fileWith(PLACEHOLDER));
    expect(refused).toContain('is the placeholder of this repository');
    expect(refused).toContain(FETCH);
  });
});

describe('two deployments with different descriptors', () => {
  let two: Synthesized;
  const relays = new Map<string, string>();
  beforeAll(() => {
    const other = join(dirname(DESCRIPTORS), 'other.binpb');
    writeFileSync(other, renamedAndRenumbered());
    two = synthesize([
      { stage: 'one', gitlab: { url: 'https://gitlab.one.test', descriptors: DESCRIPTORS } },
      { stage: 'two', gitlab: { url: 'https://gitlab.two.test', descriptors: other } },
    ]);
    for (const [id, { Properties }] of two.resources('AWS::ECS::TaskDefinition')) {
      const [{ Environment }] = Properties.ContainerDefinitions;
      const named = Environment.find(({ Name }: { Name: string }) => Name === 'TOLLGATE_PROTO_FILE');
      relays.set(id.replace(/^Tollgate-(\w+)-.*/, '$1'), named?.Value);
    }
  });

  test('each tell their relays their own', () => {
    expect([...relays.keys()].sort()).toEqual(['one', 'two']);
    expect(new Set(relays.values()).size).toBe(2);
    for (const path of relays.values()) expect(path).toMatch(/^\/app\/descriptors\/[0-9a-f]{64}\.binpb$/);
  });

  test('each build an image with their own descriptors and nobody else’s', () => {
    const { directory } = two.app.synth();
    const contexts = readdirSync(directory).filter((name) =>
      readdirSync(directory, { withFileTypes: true }).some(
        (entry) => entry.name === name && entry.isDirectory() && name.startsWith('asset.'),
      ),
    );
    const images = contexts.filter((name) => readdirSync(join(directory, name)).includes('relay'));
    const carried = images.map((name) => {
      const files = readdirSync(join(directory, name), { recursive: true, encoding: 'utf8' });
      return files.filter((file) => file.endsWith('.binpb')).sort();
    });
    expect(carried.sort()).toEqual(
      [...relays.values()]
        .map((path) => [`dist/relay/descriptors/${path.split('/').at(-1)}`, 'relay/wire/default.binpb'])
        .sort(),
    );
  });
});

test('a ready image is told which descriptors it must contain, and where', () => {
  const image = `registry.example.com/tollgate/relay@sha256:${'a'.repeat(64)}`;
  const { app } = synthesize([
    {
      stage: 'prod',
      gitlab: { url: 'https://gitlab.corp.test', descriptors: DESCRIPTORS },
      relay: { image },
    },
  ]);
  const said = app
    .synth()
    .stacks.flatMap((stack) => stack.messages)
    .map(({ entry }) => String(entry.data));
  expect(said.filter((text) => text.includes(image))).toEqual([
    expect.stringMatching(/must contain gitlab\.descriptors as \/app\/descriptors\/[0-9a-f]{64}\.binpb/),
  ]);
});

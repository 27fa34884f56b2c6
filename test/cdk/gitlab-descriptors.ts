import { readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { renamedAndRenumbered } from '../support/relay/schema-variants.ts';
import { DESCRIPTORS } from './descriptors.ts';
import { synthesize } from './synthesized.ts';

describe('two deployments with different descriptors', () => {
  const other = join(dirname(DESCRIPTORS), 'other.binpb');
  writeFileSync(other, renamedAndRenumbered());
  const two = synthesize([
    { stage: 'one', gitlab: { url: 'https://gitlab.one.test', descriptors: DESCRIPTORS } },
    { stage: 'two', gitlab: { url: 'https://gitlab.two.test', descriptors: other } },
  ]);
  const relays = new Map<string, string>();
  for (const [id, { Properties }] of two.resources('AWS::ECS::TaskDefinition')) {
    const [{ Environment }] = Properties.ContainerDefinitions;
    const named = Environment.find(({ Name }: { Name: string }) => Name === 'TOLLGATE_PROTO_FILE');
    relays.set(id.replace(/^Tollgate-(\w+)-.*/, '$1'), named?.Value);
  }

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
    const images = contexts.filter((name) => readdirSync(join(directory, name)).includes('Dockerfile'));
    const carried = images.map((name) => {
      const files = readdirSync(join(directory, name), { recursive: true, encoding: 'utf8' });
      return files.filter((file) => file.endsWith('.binpb')).sort();
    });
    expect(carried.sort()).toEqual([...relays.values()].map((path) => [path.replace('/app/', '')]).sort());
  });
});

import { expect, test } from 'vitest';
import { readRunnerConfig } from '../../../../../scripts/cli/policy/runner-config.ts';
import { DOCKER, KUBERNETES } from './config-files.ts';

test('settings have their values and the lines of their keys, inline tables and dotted keys like headings', () => {
  const [runner] = readRunnerConfig(DOCKER, 'config.toml');
  expect(runner).toMatchObject({ name: 'docker runner', id: 41, executor: 'docker', line: 7 });
  expect(runner?.settings.get('docker.allowed_services')).toEqual({ value: ['postgres:*'], line: 24 });
  expect(runner?.tables.get('docker.services')).toEqual([
    { value: { name: 'redis:7', alias: 'cache' }, line: 27 },
  ]);
  const same = [
    '[[runners]]\nexecutor = "docker"\n[runners.docker]\nallowed_images = ["a"]',
    '[[runners]]\nexecutor = "docker"\ndocker = { allowed_images = ["a"] }',
    '[[runners]]\nexecutor = "docker"\ndocker.allowed_images = ["a"]',
  ].map((text) => readRunnerConfig(text, 'x')[0]?.settings.get('docker.allowed_images')?.value);
  expect(same).toEqual([['a'], ['a'], ['a']]);
});

test('several runners are told apart, and their lists of tables belong to them', () => {
  const [one, two] = readRunnerConfig(`${KUBERNETES}${DOCKER}`, 'config.toml');
  expect([one?.id, two?.id]).toEqual([42, 41]);
  expect(one?.tables.get('kubernetes.volumes.host_path')?.length).toBe(1);
  expect(two?.tables.get('docker.services')?.length).toBe(1);
});

test('tokens, passwords and variables are not read out', () => {
  const [runner] = readRunnerConfig(
    `${DOCKER}\n[runners.ssh]\npassword = "nobody-may-see-this"\n`,
    'config.toml',
  );
  expect(JSON.stringify([...(runner?.settings ?? [])])).not.toMatch(/nobody-may/);
});

test.each([
  ['token = "glrt-secret', 'config.toml:1:'],
  ['[[runners]]\nname = glrt-secret\n', 'config.toml:2:'],
  ['concurrent = 4\n', 'has no [[runners]]'],
  ['', 'has no [[runners]]'],
  ['[[runners]]\nname = "a"\nname = "glrt-secret"\n', 'config.toml:3:'],
])('%j is told by its place, without a word of it', (text, told) => {
  expect(() => readRunnerConfig(text, 'config.toml')).toThrow(told);
  expect(() => readRunnerConfig(text, 'config.toml')).not.toThrow(/secret/);
});

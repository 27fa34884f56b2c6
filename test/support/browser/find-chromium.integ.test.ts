import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { findChromium } from './find-chromium.ts';

// Elsewhere no browser comes with the packages, which the second test is about.
const packaged = process.platform === 'linux' && process.arch === 'x64';
const bare = {
  platform: process.platform,
  arch: process.arch,
  searchPath: packaged ? '' : (process.env.PATH ?? ''),
};

test('where a machine has no browser, the one of the packages runs', async () => {
  const { path, env } = await findChromium(bare);
  const { status, stdout } = spawnSync(path, ['--headless', '--no-sandbox', '--version'], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  expect(stdout).toMatch(/^(Google )?(Chrome|Chromium|HeadlessChrome)/);
  expect(status).toBe(0);
});

test('where none comes with the packages, it says what to install', async () => {
  await expect(findChromium({ platform: 'linux', arch: 'arm64', searchPath: '' })).rejects.toThrow(
    'install Chromium or Chrome',
  );
});

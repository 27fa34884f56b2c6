import { type Browser, chromium } from 'playwright-core';
import { findChromium } from '../../../support/browser/find-chromium.ts';

/** A busy machine takes its time to start one. */
const START_MS_MAX = 180_000;

/** Tests run as root in containers, whose shared memory is small; nothing is fetched that no page asked for. */
const FLAGS = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--force-color-profile=srgb',
];

/** Chromium without a window, with a profile of its own. */
export async function openBrowser(): Promise<Browser> {
  const { path, env } = await findChromium();
  return chromium.launch({
    executablePath: path,
    args: FLAGS,
    timeout: START_MS_MAX,
    env: { ...process.env, ...env },
  });
}

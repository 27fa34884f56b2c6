import { type Browser, chromium } from 'playwright-core';

/** Where the system's browser is; another place can be named. */
const CHROMIUM = '/usr/bin/chromium';

/** The system's Chromium, without a window. It says itself what is missing where it cannot start. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: CHROMIUM,
    // Tests run as root in containers, whose shared memory is small.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--force-color-profile=srgb'],
  });

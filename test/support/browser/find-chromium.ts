import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { unpackChromium } from './unpack-chromium.ts';

export interface ChromiumProgram {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const MAC_APPLICATIONS = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

export interface BrowserHost {
  readonly platform: string;
  readonly arch: string;
  readonly searchPath: string;
}

const thisHost = (): BrowserHost => ({
  platform: process.platform,
  arch: process.arch,
  searchPath: process.env.PATH ?? '',
});

/**
 * The machine's own Chromium; on Linux (x64) without one, the one that comes with the packages.
 *
 * @throws {Error} with the remedy, where neither is.
 */
export async function findChromium(host = thisHost()): Promise<ChromiumProgram> {
  const found = [
    ...host.searchPath.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name))),
    ...(host.platform === 'darwin' ? MAC_APPLICATIONS : []),
  ].find(isProgram);
  if (found !== undefined) return { path: found, env: {} };
  if (host.platform === 'linux' && host.arch === 'x64') return unpackChromium();
  throw new Error(
    `no Chromium found, and none comes with the packages for ${host.platform}-${host.arch}: install Chromium or Chrome so that one of ${NAMES.join(', ')} is in PATH`,
  );
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inflate } from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';

const MODULES = fileURLToPath(new URL('../../../../node_modules', import.meta.url));
const PACKAGE = join(MODULES, '@sparticuz', 'chromium');
/** Goes when the packages go. */
const CACHE = join(MODULES, '.cache');
/** The program, its software renderer, shared libraries that a bare machine lacks, and a font. */
const ARCHIVES = ['chromium.br', 'swiftshader.tar.br', 'al2023.tar.br', 'fonts.tar.br'];
/** The package's own names folders of Lambda. Chromium crashes without fonts; a relative cache would lie where it runs. */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fonts-cache</cachedir>
</fontconfig>
`;
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const MAC_APPLICATIONS = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
/** A busy machine takes its time to start one. */
const START_MS_MAX = 180_000;
/** Tests run as root in containers, whose shared memory is small; nothing is fetched that no page asked for. */
const FLAGS = [
  ...['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
  '--force-color-profile=srgb',
];

/**
 * Chromium without a window, with a profile of its own: the machine's, or on Linux (x64) without one that of the packages.
 *
 * @throws {Error} with the remedy, where neither is.
 */
export async function openBrowser(): Promise<Browser> {
  const { platform, arch, env } = process;
  const folders = (env.PATH ?? '').split(delimiter);
  const found = [
    ...folders.flatMap((folder) => NAMES.map((name) => join(folder, name))),
    ...(platform === 'darwin' ? MAC_APPLICATIONS : []),
  ].find(isProgram);
  if (found === undefined && (platform !== 'linux' || arch !== 'x64'))
    throw new Error(
      `no Chromium found, and none comes with the packages for ${platform}-${arch}: install Chromium or Chrome so that one of ${NAMES.join(', ')} is in PATH`,
    );
  const program = found === undefined ? await unpackChromium() : { path: found, env: {} };
  return chromium.launch({
    executablePath: program.path,
    args: FLAGS,
    timeout: START_MS_MAX,
    env: { ...env, ...program.env },
  });
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function unpackChromium() {
  const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as { version: string };
  const folder = join(CACHE, `chromium-${version}`);
  if (!existsSync(folder)) await unpackInto(folder);
  return {
    path: join(folder, 'chromium'),
    env: {
      LD_LIBRARY_PATH: [join(folder, 'al2023', 'lib'), process.env.LD_LIBRARY_PATH].filter(Boolean).join(':'),
      FONTCONFIG_FILE: join(folder, 'fonts.conf'),
      XDG_CACHE_HOME: folder,
    },
  };
}

/** Appears whole or not at all; one is kept if two unpack at once. */
async function unpackInto(folder: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  const unfinished = mkdtempSync(`${folder}-`);
  try {
    await Promise.all(inflateInto(unfinished));
    writeFileSync(join(unfinished, 'fonts.conf'), FONTS);
    renameSync(unfinished, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** The package unpacks into the temporary folder, whose name it reads before it returns. */
function inflateInto(folder: string): Promise<string>[] {
  const { TMPDIR } = process.env;
  process.env.TMPDIR = folder;
  try {
    return ARCHIVES.map((name) => inflate(join(PACKAGE, 'bin', name)));
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  }
}

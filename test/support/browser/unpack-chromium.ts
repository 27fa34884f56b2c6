import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inflate } from '@sparticuz/chromium';
import type { ChromiumProgram } from './find-chromium.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const PACKAGE = join(root, 'node_modules', '@sparticuz', 'chromium');
/** Goes when the packages go. */
const CACHE = join(root, 'node_modules', '.cache');
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

export async function unpackChromium(): Promise<ChromiumProgram> {
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

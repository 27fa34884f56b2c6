/** The project as someone clones it: no books, no tokens, in a folder with a space in its name. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** All that commands read. */
const PARTS = ['policies', 'functions', 'relay', 'cdk', 'scripts', 'docs', 'README.md'];
const PACKAGES = ['package.json', 'package-lock.json', '.npmrc', 'tsconfig.json'];

export function cloneHere() {
  const parent = mkdtempSync(join(tmpdir(), 'tollgate-clone-'));
  const folder = join(parent, 'my tollgate');
  mkdirSync(folder);
  for (const part of [...PARTS, ...PACKAGES])
    cpSync(join(ROOT, part), join(folder, part), {
      recursive: true,
      filter: (path) => !/\/(cdk\.out|node_modules)$/.test(path),
    });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return {
    folder,
    /** Runs a line of shell in it, as a person types it. */
    async sh(line: string, env: Readonly<Record<string, string>> = {}) {
      const child = spawn('sh', ['-c', line], {
        cwd: folder,
        env: { ...process.env, NO_COLOR: '1', ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let [out, err] = ['', ''];
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        out += text;
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        err += text;
      });
      const [code]: (number | null)[] = await once(child, 'close');
      return { code, out, err };
    },
    [Symbol.dispose]: () => rmSync(parent, { recursive: true, force: true }),
  };
}

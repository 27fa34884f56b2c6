/** The project as someone clones it: no ledger, no tokens, in a folder with a space in its name. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { extractCommit } from '../../scripts/proof/bench/landed.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** All that commands read. */
const PARTS = ['policies', 'functions', 'relay', 'cdk', 'scripts', 'docs', 'README.md'];
const PACKAGES = ['package.json', 'package-lock.json', '.npmrc', 'tsconfig.json'];

/** @param commit - instead of the files as they are here; it uses the packages of this version if its lock file is the same */
export function cloneHere(commit?: string) {
  const parent = mkdtempSync(join(tmpdir(), 'tollgate-clone-'));
  const folder = join(parent, 'my tollgate');
  mkdirSync(folder);
  if (commit === undefined) copyHere(folder);
  else extractCommit(commit, folder, ...PARTS, ...PACKAGES);
  const [lock, ours] = [folder, ROOT].map((each) => readFileSync(join(each, 'package-lock.json'), 'utf8'));
  if (lock === ours) symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
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

function copyHere(folder: string): void {
  for (const part of [...PARTS, ...PACKAGES])
    cpSync(join(ROOT, part), join(folder, part), {
      recursive: true,
      filter: (path) => !/\/(cdk\.out|node_modules)$/.test(path),
    });
}

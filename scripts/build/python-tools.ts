import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const REQUIREMENTS = fileURLToPath(new URL('requirements.txt', import.meta.url));
const INSTALL_MS_MAX = 600_000;

/** Installs the emulator and cfn-lint into `.tollgate/venv` whenever their versions change. @returns the folder of programs */
export function pythonTools(): string {
  const folder = fileURLToPath(new URL('../../.tollgate/venv', import.meta.url));
  const programs = join(folder, 'bin');
  const stamp = join(folder, 'installed');
  const wanted = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return programs;
  console.error('Installing moto and cfn-lint into .tollgate/venv (once) …');
  rmSync(folder, { recursive: true, force: true });
  run(
    'python3',
    ['-m', 'venv', folder],
    'install Python 3.10 or newer with its venv module: apt-get install python3-venv',
  );
  const install = ['install', '--quiet', '--disable-pip-version-check', '--requirement', REQUIREMENTS];
  run(join(programs, 'pip'), install, 'is PyPI, or the mirror of pip.conf, reachable?');
  // Written last, so that an interrupted installation starts again.
  writeFileSync(stamp, wanted);
  return programs;
}

function run(program: string, args: readonly string[], remedy: string): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8', timeout: INSTALL_MS_MAX });
  if (status === 0) return;
  const said = (stderr || error?.message || 'it was ended').trim().split('\n').slice(-5).join('\n');
  throw new Error(`${program} ${args[0]} ${args[1] ?? ''} failed: ${remedy}\n${said}`);
}

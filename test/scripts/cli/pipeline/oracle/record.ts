/**
 * Records what gitlab-ci-local makes of each pipeline in this folder, as `expected.txt` next to it: one job a line, with the variables that its script saw.
 * Usage: node record.ts <path of gitlab-ci-local's dist/index.js>
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ORACLE_RUNS } from './runs.ts';

const [oracle = ''] = process.argv.slice(2);
const TIMEOUT_MS = 120_000;

for (const entry of readdirSync(import.meta.dirname, { withFileTypes: true })) {
  if (!entry.isDirectory()) continue;
  const folder = join(import.meta.dirname, entry.name);
  writeFileSync(
    join(folder, 'expected.txt'),
    `${ORACLE_RUNS.flatMap((run) => record(folder, run)).join('\n')}\n`,
  );
}

/** `push to main|job|SIZE|IMAGE|KIND` of each job that ran. */
function record(folder: string, { name: run, ref, source }: (typeof ORACLE_RUNS)[number]): readonly string[] {
  const copy = mkdtempSync(join(tmpdir(), 'oracle-'));
  try {
    cpSync(folder, copy, { recursive: true, filter: (path) => !path.endsWith('expected.txt') });
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.email=a@example.com', '-c', 'user.name=a', ...args], {
        cwd: copy,
        timeout: TIMEOUT_MS,
      });
    git('init', '-q', '-b', ref);
    git('add', '-A');
    git('commit', '-qm', 'a');
    git('remote', 'add', 'origin', 'https://gitlab.example.com/acme/app.git');
    const args = [oracle, '--force-shell-executor', '--variable', `CI_PIPELINE_SOURCE=${source}`];
    const out = execFileSync(process.execPath, args, { cwd: copy, encoding: 'utf8', timeout: TIMEOUT_MS });
    return (
      [...out.matchAll(/(?<!")SEEN\|([^|\n]*)\|([^|\n]*)\|([^|\n]*)\|([^|\n]*)$/gm)]
        // GitLab writes `job: [a, b]` and `job 1/2`.
        .map(([, name = '', ...rest]) =>
          [run, name.replace(/: \[(\d+\/\d+)\]$/, ' $1').replaceAll(/,(?! )/g, ', '), ...rest].join('|'),
        )
        .sort()
    );
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

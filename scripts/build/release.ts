import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { UsageError } from '../terminal/command.ts';
import { runProgram } from '../terminal/program.ts';
import { PACKAGES } from './package.ts';

const USAGE = `npm run release -- <version> [--dry-run]

Builds what is published into dist/release, twice and equal, with the relay's SBOM and SHA256SUMS; then names the version in package.json
and docs/CHANGELOG.md, commits and tags. --dry-run leaves the repository as it is. Nothing is published.`;

const VERSION = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/;
const UNRELEASED = '## Unreleased\n';

interface ReleaseDeps {
  /** The repository. Ends with "/". */
  readonly root: string;
  /** Writes the artefacts of this version into an empty folder. */
  readonly build: (folder: string, version: string) => Promise<void>;
  readonly nowMs: number;
  readonly tell: (line: string) => void;
}

/** @throws {UsageError} if this cannot be released as it is; {Error} if two builds differ */
export async function release(version: string, isDryRun: boolean, { root, build, nowMs, tell }: ReleaseDeps) {
  const { version: last, release: names } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const changelog = readFileSync(`${root}docs/CHANGELOG.md`, 'utf8');
  const [, changes = ''] = changelog.split(UNRELEASED);
  const tag = `v${version}`;
  const checks = [
    [!VERSION.test(version), `"${version}" is no version, such as 1.2.0`],
    [version.localeCompare(last, 'en', { numeric: true }) < 0, `${version} is older than ${last}`],
    [
      !isDryRun && names.cli.startsWith('@your-scope/'),
      'package.json: give the packages a scope of yours in "release"',
    ],
    [git('tag', '--list', tag) !== '', `${tag} is released; choose the next version`],
    [changes.split('\n## ')[0]?.trim() === '', `docs/CHANGELOG.md says nothing under "${UNRELEASED.trim()}"`],
    [!isDryRun && git('status', '--porcelain') !== '', 'files are changed; commit them first'],
  ] as const;
  const wrong = checks.flatMap(([isWrong, problem]) => (isWrong ? [problem] : []));
  if (wrong.length > 0) throw new UsageError(wrong.join('\n'));

  const sums: string[] = [];
  const target = `${root}dist/release`;
  for (const time of ['first', 'second']) {
    tell(`${time} build of ${tag} …`);
    rmSync(target, { recursive: true, force: true });
    mkdirSync(target, { recursive: true });
    await build(target, version);
    sums.push(sumsOf(target));
  }
  const [one = '', other] = sums;
  if (one !== other) throw new Error(`two builds of the same sources differ:\n${one}\n${other}`);
  writeFileSync(join(target, 'SHA256SUMS'), one);
  tell(`dist/release has:\n${one}`);
  if (isDryRun)
    return tell(`Nothing was changed. CHANGELOG of ${tag}:\n\n${changes.split('\n## ')[0]?.trim()}`);

  const day = new Date(nowMs).toISOString().slice(0, 10);
  writeFileSync(
    `${root}docs/CHANGELOG.md`,
    changelog.replace(UNRELEASED, `${UNRELEASED}\n## ${version} (${day})\n`),
  );
  execFileSync('npm', ['version', '--no-git-tag-version', '--allow-same-version', version], { cwd: root });
  git('commit', '--all', '--message', `Release ${version}`);
  git('tag', '--annotate', tag, '--message', `Release ${version}`);
  tell(
    `${tag} is committed and tagged here. Next:\n  git push --follow-tags\n  for file in dist/release/*.tgz; do npm publish $file; done`,
  );
}

const sumsOf = (folder: string): string =>
  readdirSync(folder)
    .sort()
    .map(
      (file) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, file)))
          .digest('hex')}  ${file}\n`,
    )
    .join('');

async function buildPackages(folder: string, version: string): Promise<void> {
  const built = mkdtempSync(`${folder}-`);
  try {
    for (const [name, make] of Object.entries(PACKAGES)) {
      await make(join(built, name), version);
      execFileSync('npm', ['pack', join(built, name), '--pack-destination', folder, '--silent']);
    }
    copyFileSync(join(built, 'cdk/dist/relay.cdx.json'), join(folder, 'relay.cdx.json'));
  } finally {
    rmSync(built, { recursive: true });
  }
}

if (import.meta.main) {
  const main = async (): Promise<number> => {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { 'dry-run': { type: 'boolean' } },
    });
    const root = fileURLToPath(new URL('../..', import.meta.url));
    const deps = { root, build: buildPackages, nowMs: Date.now(), tell: console.log };
    await release(positionals[0] ?? '', values['dry-run'] === true, deps);
    return 0;
  };
  await runProgram(main, 'npm run release -- --help', { usage: USAGE });
}

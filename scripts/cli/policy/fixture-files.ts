import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type TerminalIo, UsageError } from '../../terminal/command.ts';

const FIXTURE_NAME = /\.test\.ya?ml$/;

/**
 * Files of fixtures: those that are named, all `*.test.yaml` of a folder that is named, else those under `policies/`.
 *
 * @throws {UsageError} if there is no such file, or none at all.
 */
export function fixtureFiles(
  words: readonly string[],
  io: Pick<TerminalIo, 'cwd' | 'root'>,
): readonly string[] {
  const named = words.map((word) => resolve(io.cwd, word));
  const files = (named.length === 0 ? [`${io.root}policies`] : named).flatMap(filesAt);
  if (files.length === 0)
    throw new UsageError(
      `${words.join(' ') || `${io.root}policies`}: has no *.test.yaml; name a file of fixtures`,
    );
  return [...new Set(files)];
}

function filesAt(path: string): readonly string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined)
    throw new UsageError(`${path}: is not there; expected a file of fixtures or a folder`);
  if (!stats.isDirectory()) return [path];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => FIXTURE_NAME.test(name) && !name.includes('node_modules'))
    .sort()
    .map((name) => join(path, name));
}

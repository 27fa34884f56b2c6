import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { UsageError } from '../../terminal/command.ts';
import { PIPELINE_FILE, repositoryOf } from '../pipeline/repository-files.ts';

/** @returns with the file its folder, as a path from the root of its repository with `/`; '' if it is that. */
export function pipelineFile(given: string | undefined, cwd: string) {
  const path = resolve(cwd, given ?? '.');
  if (!existsSync(path)) throw new UsageError(`${given}: no such file or folder`);
  const file = statSync(path).isDirectory() ? join(path, PIPELINE_FILE) : path;
  if (!existsSync(file))
    throw new UsageError(
      `${given ?? 'this folder'}: has no ${PIPELINE_FILE}; expected a folder with one, or the file`,
    );
  const folder = dirname(file);
  const fromRoot = relative(repositoryOf(folder) ?? folder, folder);
  return { file, folder: fromRoot.split(sep).join('/') };
}

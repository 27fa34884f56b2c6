import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { UsageError } from '../terminal/command.ts';

/**
 * The pipeline to replay: the one asked for, else a large real one where it is at hand, else the one we wrote.
 *
 * @throws {UsageError} if the one asked for is not there.
 */
export function choosePipeline(asked: string | undefined, root: string): string {
  if (asked !== undefined) {
    if (!existsSync(asked)) throw new UsageError(`--pipeline ${asked}: no such file or folder`);
    return resolve(asked);
  }
  const shared = resolve(root, '../shared/data/pipelines/gitlab-runner');
  return existsSync(shared) ? shared : resolve(root, 'scripts/local/pipelines/web-shop');
}

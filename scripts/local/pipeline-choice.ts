import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { UsageError } from '../terminal/command.ts';

/**
 * The pipeline to replay: the one asked for, else the sample.
 *
 * @throws {UsageError} if the one asked for is not there.
 */
export function choosePipeline(asked: string | undefined, root: string): string {
  if (asked === undefined) return resolve(root, 'scripts/local/pipelines/web-shop');
  if (existsSync(asked)) return resolve(asked);
  throw new UsageError(`--pipeline ${asked}: no such file or folder`);
}

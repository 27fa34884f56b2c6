import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/** The pipeline to replay: the one asked for, else a large real one where it is at hand, else the one we wrote. */
export function choosePipeline(asked: string | undefined, root: string): string {
  if (asked !== undefined) return resolve(asked);
  const shared = resolve(root, '../shared/data/pipelines/gitlab-runner');
  return existsSync(shared) ? shared : resolve(root, 'scripts/local/pipelines/web-shop');
}

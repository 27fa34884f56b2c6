import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const BUNDLE_MS_MAX = 180_000;

/**
 * `npm run bundle`.
 *
 * @param descriptors - those that the relay takes along.
 * @throws {Error} with what it said.
 */
export async function bundleAll(root: string, descriptors: string): Promise<void> {
  const run = promisify(execFile);
  const bundle = [join(root, 'scripts/build/bundle.ts'), '--descriptors', descriptors];
  await run(process.execPath, bundle, { cwd: root, timeout: BUNDLE_MS_MAX });
}

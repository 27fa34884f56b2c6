import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const BUNDLE_MS_MAX = 180_000;

/** `npm run bundle`. @throws {Error} with what it said. */
export async function bundleAll(root: string): Promise<void> {
  const run = promisify(execFile);
  await run(process.execPath, [join(root, 'scripts', 'bundle.ts')], { cwd: root, timeout: BUNDLE_MS_MAX });
}

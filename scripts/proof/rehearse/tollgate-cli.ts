import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ENV_GITLAB_INSTANCE } from '../../../functions/names.ts';
import type { RehearsalPlace } from './deployed.ts';

const CLI = fileURLToPath(new URL('../../tollgate.mjs', import.meta.url));
const MS_MAX = 60_000;
/** What is deployed here is told this name by its settings. */
const REHEARSAL_INSTANCE = 'gitlab.example.com';

/** `npx tollgate …` as somebody with rights on the account runs it. @throws {Error} with what it said, when it fails. */
export async function tollgate(place: RehearsalPlace, ...args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [CLI, ...args], {
    env: { ...place.awsEnv, [ENV_GITLAB_INSTANCE]: REHEARSAL_INSTANCE, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: MS_MAX,
  });
  const told = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    told.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told.err += text;
  });
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode) => resolve(exitCode ?? 1));
  });
  if (code !== 0) throw new Error(`tollgate ${args.join(' ')} ended with ${code}\n${told.err}${told.out}`);
  return told.out;
}

import { resolve } from 'node:path';
import { UsageError } from '../../terminal/command.ts';
import { readUserFile } from '../../terminal/user-file.ts';

interface TokenPlaces {
  readonly file: string | undefined;
  /** Folder the file's name is relative to. */
  readonly cwd: string;
  /** `TOLLGATE_GITLAB_TOKEN` */
  readonly environment: string | undefined;
  /** Names of SSM parameters, in this order. */
  readonly parameters: readonly string[];
  /** Reads one, decrypted; rejects where it is not there. */
  readonly readParameter: (name: string) => Promise<string>;
}

/** The first token that is there; undefined: none. @throws {UsageError} where the file that was named cannot be read. */
export async function gitLabToken(places: TokenPlaces): Promise<string | undefined> {
  const { file, cwd, environment, parameters, readParameter } = places;
  if (file !== undefined) return tokenIn(file, cwd);
  if (environment !== undefined && environment !== '') return environment;
  for (const name of parameters) {
    const [token = ''] = await readParameter(name).then(
      (text) => text.trim().split('\n'),
      () => [],
    );
    if (token !== '') return token;
  }
  return undefined;
}

function tokenIn(file: string, cwd: string): string {
  const text = readUserFile(resolve(cwd, file), `--token-file "${file}"`).trim();
  if (text === '' || /\s/.test(text))
    throw new UsageError(`--token-file "${file}": expected one token and nothing else in it`);
  return text;
}

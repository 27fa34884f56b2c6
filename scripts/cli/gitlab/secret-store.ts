import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { secretFingerprint } from '../../../functions/core/gitlab/group-hooks.ts';
import { UsageError } from '../../terminal/command.ts';
import { readUserFileIfThere, systemCause } from '../../terminal/user-file.ts';

export type SecretName = 'router-token' | 'webhook-secrets' | 'webhook-tokens' | `${number}`;

export interface SecretStore {
  readonly kind: 'folder' | 'parameters';
  /** Name of the file or parameter, the same wherever it is called from. */
  place(name: SecretName): string;
  /** Without a note, someone else stored the value. */
  read(name: SecretName): Promise<{ readonly value: string; readonly note: string | undefined } | undefined>;
  /** Whole or not at all. @param note - one line without the value. @throws {Error} naming the place. */
  write(name: SecretName, value: string, note: string): Promise<void>;
}

/** @param where - a folder, or `ssm:` and the beginning of parameters' names. @throws {UsageError} */
export function openSecretStore(where: string, cwd: string): SecretStore {
  if (!where.startsWith('ssm:')) return folderSecretStore(resolve(cwd, where));
  const prefix = where.slice('ssm:'.length).replace(/\/+$/, '');
  if (!/^(\/[\w.-]+)+$/.test(prefix))
    throw new UsageError(`--secrets "${where}": expected e.g. ssm:/tollgate/prod, or a folder`);
  return ssmSecretStore(prefix);
}

/** A note counts only for the value whose fingerprint it begins with. */
const noteWith = (value: string, note: string): string => `${secretFingerprint(value)} ${note}`;

function noteOf(value: string, notes: readonly (string | undefined)[]): string | undefined {
  const mark = `${secretFingerprint(value)} `;
  return notes.findLast((note) => note?.startsWith(mark))?.slice(mark.length);
}

/** Readable by its owner only. The note is written before the value: after a crash the matching note can be found. */
function folderSecretStore(folder: string): SecretStore {
  const notesOf = (name: SecretName): readonly string[] =>
    (readUserFileIfThere(join(folder, `.${name}.notes`)) ?? '').split('\n').filter((line) => line !== '');
  return {
    kind: 'folder',
    place: (name) => `${hostname()}:${join(folder, name)}`,
    read: async (name) => {
      const value = readUserFileIfThere(join(folder, name))?.trim() ?? '';
      return value === '' ? undefined : { value, note: noteOf(value, notesOf(name)) };
    },
    write: async (name, value, note) => {
      const notes = [...notesOf(name).slice(-1), noteWith(value, note)];
      replaceFile(join(folder, `.${name}.notes`), `${notes.join('\n')}\n`);
      replaceFile(join(folder, name), `${value}\n`);
    },
  };
}

function replaceFile(file: string, text: string): void {
  const next = `${file}.next`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    rmSync(next, { force: true });
    writeFileSync(next, text, { mode: 0o600, flag: 'wx', flush: true });
    chmodSync(next, 0o600);
    renameSync(next, file);
  } catch (error) {
    throw new UsageError(`${file}: cannot be written: ${systemCause(error)}`);
  }
}

const TIMEOUT_MS = 10_000;

/** Parameters of one deployment, `<prefix>/router-token` …; the note is the parameter's description, set together with it. */
export function ssmSecretStore(prefix: string): SecretStore {
  /** @throws {Error} that never contains the value. */
  const called = async <T>(
    did: string,
    name: string,
    call: (sdk: typeof import('@aws-sdk/client-ssm'), options: { abortSignal: AbortSignal }) => Promise<T>,
  ): Promise<T> => {
    try {
      return await call(await import('@aws-sdk/client-ssm'), {
        abortSignal: AbortSignal.timeout(TIMEOUT_MS),
      });
    } catch (error) {
      const why = error instanceof Error ? error.name : 'unknown error';
      throw new Error(
        `parameter ${prefix}/${name} could not be ${did} (${why}); check region, credentials and rights`,
      );
    }
  };
  return {
    kind: 'parameters',
    place: (name) => `ssm:${prefix}/${name}`,
    read: (name) =>
      called('read', name, async ({ SSMClient, DescribeParametersCommand, GetParameterCommand }, options) => {
        const ssm = new SSMClient({});
        const get = new GetParameterCommand({ Name: `${prefix}/${name}`, WithDecryption: true });
        const found = await ssm.send(get, options).catch((error: unknown) => {
          if (error instanceof Error && error.name === 'ParameterNotFound') return undefined;
          throw error;
        });
        const value = found?.Parameter?.Value?.trim() || undefined;
        if (value === undefined) return undefined;
        const filter = { Key: 'Name', Option: 'Equals', Values: [`${prefix}/${name}`] };
        const describe = new DescribeParametersCommand({ ParameterFilters: [filter] });
        const { Parameters = [] } = await ssm.send(describe, options);
        return { value, note: noteOf(value, [Parameters[0]?.Description]) };
      }),
    write: (name, value, note) =>
      called('written', name, async ({ SSMClient, PutParameterCommand }, options) => {
        const put = new PutParameterCommand({
          ...{ Name: `${prefix}/${name}`, Value: value, Description: noteWith(value, note) },
          ...{ Type: 'SecureString', Overwrite: true },
        });
        await new SSMClient({}).send(put, options);
      }),
  };
}

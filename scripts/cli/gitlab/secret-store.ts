import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { secretMark } from '../../../functions/core/gitlab/index.ts';
import { UsageError } from '../../terminal/command.ts';
import { systemCause } from '../../terminal/system-failure.ts';
import { readUserFileIfThere } from '../../terminal/user-file.ts';
import type { SecretName, SecretStore } from './secret-text.ts';
import { ssmSecretStore } from './ssm-secret-store.ts';

/** @param where - a folder, or `ssm:` and the beginning of parameters' names. @throws {UsageError} */
export function openSecretStore(where: string, cwd: string): SecretStore {
  if (!where.startsWith('ssm:')) return folderSecretStore(resolve(cwd, where));
  const prefix = where.slice('ssm:'.length).replace(/\/+$/, '');
  if (!/^(\/[\w.-]+)+$/.test(prefix))
    throw new UsageError(`--secrets "${where}": expected e.g. ssm:/tollgate/prod, or a folder`);
  return ssmSecretStore(prefix);
}

/** Notes in a file: of the current value and the next. */
const NOTES_MAX = 2;

/**
 * One file per secret, readable by its owner only. The note is written before the value, with the value's
 * fingerprint: after a crash the matching note can be found.
 */
function folderSecretStore(folder: string): SecretStore {
  const notesOf = (name: SecretName): readonly string[] =>
    (readUserFileIfThere(join(folder, `.${name}.notes`)) ?? '').split('\n').filter((line) => line !== '');
  return {
    kind: 'folder',
    place: (name) => `${hostname()}:${join(folder, name)}`,
    read: async (name) => {
      const value = readUserFileIfThere(join(folder, name))?.trim();
      if (value === undefined || value === '') return undefined;
      const mark = `${secretMark(value)} `;
      return {
        value,
        note: notesOf(name)
          .findLast((line) => line.startsWith(mark))
          ?.slice(mark.length),
      };
    },
    write: async (name, value, note) => {
      const notes = [...notesOf(name), `${secretMark(value)} ${note}`].slice(-NOTES_MAX);
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
    // A mask may have taken rights, never given them.
    chmodSync(next, 0o600);
    renameSync(next, file);
  } catch (error) {
    throw new UsageError(`${file}: cannot be written: ${systemCause(error)}`);
  }
}

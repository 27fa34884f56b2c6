/** Errors of the operating system about files, ports and streams, in words: cause, code and remedy. */

type Words = readonly [cause: string, remedy: string];

const WORDS: Readonly<Record<string, Words>> = {
  ENOENT: ['there is no such file or folder', 'check the path'],
  ENOTDIR: ['a part of its path is a file', 'check the path'],
  EISDIR: ['it is a folder', 'name a file in it'],
  EEXIST: ['it is there already', 'name another one, or remove it'],
  EACCES: ['permission is missing', 'check its rights and those of its folder'],
  EPERM: ['the system forbids it', 'check its rights and those of its folder'],
  EROFS: ['its file system is read-only', 'use a folder that can be written'],
  ENOSPC: ['no space is left', 'free space, or write elsewhere'],
  EDQUOT: ['the quota is used up', 'free space, or write elsewhere'],
  EIO: ['the device fails', 'check the file and its disk'],
  EMFILE: ['too many files are open', 'raise the limit of open files (ulimit -n)'],
  EADDRINUSE: ['another program listens there', 'end it, or choose another port'],
  EADDRNOTAVAIL: ['this machine does not have the address', 'choose another address'],
};

export function systemCause(error: unknown): string {
  const code = codeOf(error) ?? 'unknown error';
  const [cause, remedy] = WORDS[code] ?? ['the system refuses', 'check the path and its rights'];
  return `${cause} (${code}); ${remedy}`;
}

/** One line: what failed, the file or the address, the cause and the remedy. Undefined for any other error. */
export function systemFailure(error: unknown): string | undefined {
  const code = codeOf(error);
  if (code === undefined || WORDS[code] === undefined) return undefined;
  const { syscall, path, address, port } = error as NodeJS.ErrnoException & {
    readonly address?: string;
    readonly port?: number;
  };
  if (port !== undefined) return `${address}:${port}: ${syscall} failed: ${systemCause(error)}`;
  return path === undefined ? undefined : `${path}: ${syscall} failed: ${systemCause(error)}`;
}

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error ? String(error.code) : undefined;

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printFailure } from '../../../../scripts/cli/run-tollgate.ts';
import type { ExitCode, TerminalIo } from '../../../../scripts/terminal/command.ts';
import { NOW_MS, policyDocument } from '../../../policies/documents.ts';
import { runCommand } from '../stand-ins.ts';

export const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

export interface Checked {
  readonly code: ExitCode;
  readonly out: string;
  /** Reads a file the command wrote. */
  readonly folder: string;
}

const IO: TerminalIo = {
  out: () => {},
  err: () => {},
  colours: false,
  progress: false,
  columns: 120,
  cwd: ROOT,
  root: ROOT,
  env: {},
  nowMs: () => NOW_MS,
};

/** Runs `tollgate check` as a terminal of so many columns would. */
export async function runCheck(cwd: string, args: readonly string[], columns = 120): Promise<Checked> {
  let out = '';
  const io: TerminalIo = {
    ...IO,
    out: (text) => {
      out += text;
    },
    columns,
    cwd,
  };
  const code = await runCommand('check', args, io);
  return { code, out, folder: cwd };
}

const DIRECTORY = {
  groups: [
    { id: 100, path: 'acme' },
    { id: 101, parent: 100, path: 'acme/payments' },
  ],
  projects: [{ id: 1001, group: 101, path: 'acme/payments/checkout' }],
};

/** A repository with documents of its own; it is gone when the test is. */
export function repository(parts: {
  readonly files: Readonly<Record<string, string>>;
  readonly rules: readonly object[];
  readonly limits?: readonly object[];
}) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-check-'));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const [path, text] of Object.entries(parts.files)) write(path, text);
  write('policy.yaml', JSON.stringify(policyDocument({ rules: parts.rules })));
  write('limits.yaml', JSON.stringify({ limits: parts.limits ?? [] }));
  write('directory.yaml', JSON.stringify(DIRECTORY));
  const documents = ['policy', 'limits', 'directory'].flatMap((name) => [`--${name}`, `${name}.yaml`]);
  return {
    folder,
    write,
    check: (...args: string[]) => runCheck(folder, [...documents, ...args]),
    /** Runs it as the command line does, which says in JSON why it failed. */
    async fails(...args: string[]) {
      let text = '';
      const out = (more: string): void => {
        text += more;
      };
      try {
        await runCheck(folder, [...documents, ...args]);
      } catch (error) {
        const code = printFailure(error, 'check', true, { ...IO, out, cwd: folder });
        return { code, failure: JSON.parse(text) };
      }
      throw new Error('check did not fail');
    },
    at: (columns: number, ...args: string[]) => runCheck(folder, [...documents, ...args], columns),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

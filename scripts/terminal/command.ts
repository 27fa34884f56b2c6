import type { FlagTable } from './define.ts';

export const EXIT = {
  ok: 0,
  /** Our side or the network failed; nothing can be said about the question. */
  failed: 1,
  /** A job would be rejected, a fixture failed, a document differs where that was asked. */
  wouldReject: 2,
  /** Wrong usage, or a document that is invalid. */
  invalid: 3,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Everything a command may touch of the world, so that tests run it without a process. */
export interface TerminalIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly colours: boolean;
  /** True if errors go to a terminal, which shows progress. */
  readonly progress: boolean;
  readonly columns: number;
  readonly cwd: string;
  /** The folder with `policies/`: the clone's own, else the current one. Ends with a slash. */
  readonly root: string;
  /** @default that of the clone's package.json */
  readonly version?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly nowMs: () => number;
  /** Functions of tests, each in place of one that opens a table, calls a server or asks the user. */
  readonly standIns?: ReadonlyMap<unknown, unknown>;
}

export const standIn = <Real>({ standIns }: Pick<TerminalIo, 'standIns'>, real: Real): Real =>
  (standIns?.get(real) as Real | undefined) ?? real;

/** For commands that are pasted: a clone has no `tollgate` in the PATH. */
export const ownName = ({ version }: Pick<TerminalIo, 'version'>): string =>
  version === undefined ? 'npx tollgate' : 'tollgate';

/** One command of `tollgate`: `policy validate`, `check` … Made from a row by `command()` of define.ts. */
export interface Command {
  readonly name: string;
  /** @param summary - its line in the list of commands, which begins the help. */
  readonly help: (summary: string) => string;
  readonly flags: FlagTable;
  readonly examples: readonly string[];
  /** @throws {UsageError} */
  readonly parse: (args: readonly string[]) => { readonly flags: Readonly<Record<string, unknown>> };
  /** @throws {UsageError} for wrong flags, {DocumentError} for invalid documents: shown without a stack, exit 3. */
  readonly run: (args: readonly string[], io: TerminalIo) => Promise<ExitCode>;
}

export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export class DocumentError extends Error {
  override readonly name = 'DocumentError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

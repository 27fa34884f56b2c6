/** Exit codes of `tollgate`, for scripts and pipelines. */
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
  /** Results; ends no line by itself. */
  readonly out: (text: string) => void;
  /** Problems and progress. */
  readonly err: (text: string) => void;
  /** True if results go to a terminal with colours. */
  readonly colours: boolean;
  /** True if errors go to a terminal, which shows progress. */
  readonly progress: boolean;
  /** Columns of the terminal; results for a file are not cut. */
  readonly columns: number;
  /** Folder the command was called from. */
  readonly cwd: string;
  /** The project's own folder, with its `policies/`; ends with a slash. */
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly nowMs: () => number;
  /** Calls to GitLab. @default through the proxy, trusting the private authority of the environment */
  readonly fetch?: typeof fetch;
  /** Waits and deadlines of calls. @default the machine's clock */
  readonly clock?: { monotonicMs(): number; sleep(delayMs: number): Promise<void> };
  /** Jitter between attempts. @default Math.random */
  readonly random?: () => number;
  /** Asks the user; undefined: there is no terminal. @default stdin and stderr */
  readonly ask?: (question: string) => Promise<string | undefined>;
}

/** One command of `tollgate`: `policy validate`, `check` … */
export interface Command {
  /** Words after `tollgate`. */
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The whole help text, without a line break at its end. */
  readonly help: string;
  /** @throws {UsageError} for wrong flags, {DocumentError} for invalid documents: told without a stack, exit 3. */
  readonly run: (args: readonly string[], io: TerminalIo) => Promise<ExitCode>;
}

/** A command's entry; commands are loaded on demand. */
export interface CommandEntry {
  /** Words after `tollgate`. */
  readonly name: string;
  /** One line for the list of commands; the same as the command's own. */
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

/** Wrong usage; the message names the flag, the value and what would be right. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

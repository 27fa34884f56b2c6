import { DocumentError } from '../policy/yaml-document.ts';
import { EXIT, type ExitCode, type TerminalIo, UsageError } from '../terminal/command.ts';
import { printable } from '../terminal/paint.ts';
import { systemFailure } from '../terminal/system-failure.ts';
import { PipelineError } from './pipeline/pipeline-error.ts';
import { shortPath } from './short-path.ts';

/** Output of `--json` on failure, on stdout. Codes are stable. */
interface FailureJson {
  readonly error: {
    /** Like the exit codes: 3, 3 and 1. */
    readonly code: 'usage' | 'invalid' | 'failed';
    readonly message: string;
    /** For `invalid`: every problem, `file:line:col path: what is wrong`. */
    readonly problems: readonly string[];
  };
}

/**
 * Says what went wrong, without a stack: people can act on usage and documents, and the message of everything else is
 * written for them, too.
 *
 * @param command - '' if the failure came before one was found.
 */
export function tellFailure(error: unknown, command: string, json: boolean, io: TerminalIo): ExitCode {
  const failure = failureOf(error, io.cwd);
  const { code, message, problems } = failure.error;
  if (json) io.out(`${JSON.stringify(failure)}\n`);
  else {
    io.err(`${printable(problems.length > 0 ? problems.join('\n') : message)}\n`);
    if (code !== 'failed') io.err(`See: tollgate ${command === '' ? '' : `${command} `}--help\n`);
    else if (on(io.env.TOLLGATE_DEBUG)) io.err(`${stackOf(error)}\n`);
  }
  return code === 'failed' ? EXIT.failed : EXIT.invalid;
}

function failureOf(error: unknown, cwd: string): FailureJson {
  if (error instanceof UsageError) return { error: { code: 'usage', message: error.message, problems: [] } };
  if (error instanceof DocumentError) {
    const count = error.problems.length;
    const message = count === 1 ? '1 problem' : `${count} problems`;
    const problems = error.problems.map((each) => shortPath(each, cwd));
    return { error: { code: 'invalid', message, problems } };
  }
  if (error instanceof PipelineError)
    return { error: { code: 'invalid', message: '1 problem', problems: [error.message] } };
  const message =
    systemFailure(error) ?? (error instanceof Error && error.message !== '' ? error.message : String(error));
  return { error: { code: 'failed', message, problems: [] } };
}

const on = (setting: string | undefined): boolean =>
  setting !== undefined && setting !== '' && setting !== '0';

/** Stack traces are for developers. */
const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? '') : '');

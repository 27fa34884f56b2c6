import { EXIT, type ExitCode } from '../../terminal/command.ts';
import type { McpTool, ToolAnswer } from './mcp-session.ts';

/** A command's call, without its output on the terminal. */
export type CommandCall = (
  args: readonly string[],
) => Promise<{ readonly code: ExitCode; readonly out: string; readonly err: string }>;

const JOB = {
  description: 'The id of the job, 4711, or the address of its page in GitLab.',
  required: true,
} as const;
const PLACE_FIELDS = {
  group: { description: 'Full path of the group, if the project does not matter.' },
  project: { description: 'Full path of the project.' },
  class: { description: 'Runner class, such as small or large.' },
  minutes: { description: 'How long it would run.' },
  image: { description: 'Its container image.' },
} as const;

/**
 * @param books - flags that say whose books are read, or which console is asked; none: the books of `npm start`, as with the
 * commands. @param documents - flags that say by which files a made-up job is read.
 */
export function mcpTools(
  call: CommandCall,
  books: readonly string[],
  documents: readonly string[] = [],
): readonly McpTool[] {
  const told = async (args: readonly string[]): Promise<ToolAnswer> => {
    const { code, out, err } = await call(args);
    // A rejection is an answer.
    const isError = code !== EXIT.ok && code !== EXIT.wouldReject;
    return { text: isError ? `${err}${out}`.trim() : out.trim(), isError };
  };
  // `can-i` alone reads no books unless they are named.
  const isNamed = books.some((flag) => /^--(?:ledger|console)=/.test(flag));
  const canI = ['can-i', ...(isNamed ? [] : ['--ledger=local']), ...books];
  return [
    {
      name: 'can_i_afford_rerun',
      description:
        'Whether a CI job could start once more now, what that would cost, and what would be left.',
      fields: { job: JOB },
      run: ({ job = '' }) => told([...canI, `--rerun=${job}`]),
    },
    {
      name: 'explain_job',
      description:
        'Why a CI job was admitted or rejected: rules, counters, price, and the text its developer read.',
      fields: { job: JOB },
      run: ({ job = '' }) => told(['explain', ...books, '--', job]),
    },
    {
      name: 'budget_left',
      description: 'The limits of a group and of those above it: used, held, left, and when they start anew.',
      fields: { group: { description: 'Full path or id of the group.', required: true } },
      run: ({ group = '' }) => told(['budget', 'show', ...books, '--', group]),
    },
    {
      name: 'would_job_start',
      description: 'Whether such a job would be admitted now, what it costs, and what would reject it.',
      fields: PLACE_FIELDS,
      run: (given) =>
        told([...canI, ...documents, ...Object.entries(given).map(([name, value]) => `--${name}=${value}`)]),
    },
  ];
}

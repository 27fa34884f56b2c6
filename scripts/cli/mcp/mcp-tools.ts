import type { CheckedPipeline } from '../../../functions/answers/check/model.ts';
import type { Explanation } from '../../../functions/answers/job/explanation.ts';
import { amountText } from '../../../policies/units/unit-texts.ts';
import { EXIT, type ExitCode } from '../../terminal/command.ts';
import { asksAndLeftText } from '../check/console-lines.ts';
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
  const isConsole = books.some((flag) => flag.startsWith('--console='));
  const explain = (job: string): Promise<ToolAnswer> => told(['explain', ...books, '--json', '--', job]);
  return [
    {
      name: 'can_i_afford_rerun',
      description:
        'Whether a CI job could start once more now, what that would cost, and what would be left.',
      fields: { job: JOB },
      run: async ({ job = '' }) => {
        if (!isConsole) {
          const answer = await explain(job);
          return answer.isError ? answer : { text: rerunText(JSON.parse(answer.text)), isError: false };
        }
        const answer = await told(['can-i', ...books, `--rerun=${job}`, '--json']);
        return answer.isError ? answer : { text: rerunByConsole(JSON.parse(answer.text)), isError: false };
      },
    },
    {
      name: 'explain_job',
      description:
        'Why a CI job was admitted or rejected: rules, counters, price, and the text its developer read.',
      fields: { job: JOB },
      run: ({ job = '' }) => explain(job),
    },
    {
      name: 'budget_left',
      description: 'The limits of a group and of those above it: used, held, left, and when they start anew.',
      fields: { group: { description: 'Full path or id of the group.', required: true } },
      run: ({ group = '' }) => told(['budget', 'show', ...books, '--json', '--', group]),
    },
    {
      name: 'would_job_start',
      description: 'Whether such a job would be admitted now, what it costs, and what would reject it.',
      fields: PLACE_FIELDS,
      run: (given) =>
        told([
          'can-i',
          // It alone reads none by itself.
          ...(books.length === 0 ? ['--ledger=local'] : books),
          ...documents,
          '--json',
          ...Object.entries(given).map(([name, value]) => `--${name}=${value}`),
        ]),
    },
  ];
}

function rerunText({ now, currency, counters, job }: Explanation): string {
  if (now === undefined)
    return 'Nobody can say: what was asked about this job was not recorded. would_job_start tells of a job like it.';
  const money = (micros: number): string => amountText(micros, 'micros', currency);
  const name = job.name === undefined ? 'This job' : `'${job.name}'`;
  const left = counters.flatMap(({ counter: { limit }, label, unit, now: { left: amount } }) =>
    amount === undefined ? [] : [`- ${limit} of ${label}: ${amountText(amount, unit, currency)} left now`],
  );
  return [
    now.outcome === 'admitted'
      ? `Yes. ${name} would start, and is estimated at ${money(now.costMicros)} on ${now.runnerClass}.`
      : `No. ${name} would be rejected now; it is estimated at ${money(now.costMicros)} on ${now.runnerClass}. explain_job says by what.`,
    ...left,
  ].join('\n');
}

/** What is left is told before it would run: the console holds it against nothing yet. */
function rerunByConsole({ jobs, limits, limitsHidden, currency }: CheckedPipeline): string {
  const [job] = jobs;
  if (job === undefined) return 'Nobody can say.';
  const money = amountText(job.costMicros, 'micros', currency);
  const on = `is estimated at ${money} on ${job.runnerClass}`;
  const head = {
    admitted: `Yes. '${job.name}' would start once more, and ${on}.`,
    rejected: `No. '${job.name}' would be rejected now; it ${on}.`,
    'not sure': `Not sure. A rule needs what was not recorded of '${job.name}'; it ${on}.`,
  }[job.outcome];
  return [
    head,
    ...job.reasons.map(({ rule, mode, code, text }) => `- ${rule} (${mode}): [${code}] ${text}`),
    ...limits.map((row) => `- ${row.limit} of ${row.label}: ${asksAndLeftText(row, currency)}`),
    ...(limitsHidden === 0 ? [] : [`- ${limitsHidden} more limits, whose figures are not yours to see`]),
  ].join('\n');
}

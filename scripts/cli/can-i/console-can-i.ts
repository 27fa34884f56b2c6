/** The same question, answered by a console: by the rules and limits that are in force there, and what is left of them. */
import type { CheckedPipeline } from '../../../functions/answers/check/model.ts';
import { amountText, durationText } from '../../../policies/units/unit-texts.ts';
import { EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import type { FlagValues } from '../../terminal/flags.ts';
import { readWhole } from '../../terminal/flags.ts';
import { type Paint, paintWhen, printable } from '../../terminal/paint.ts';
import { answeredInProcess } from '../api/api-in-process.ts';
import { consoleClient } from '../api/console-client.ts';
import { leftSection } from '../check/console-lines.ts';
import { jobAsked } from '../check/console-step.ts';
import { wrapped } from '../evaluation/wrapped.ts';
import { type RulesFlags, readRules } from '../rules-flags.ts';
import { minutesOf, type REQUEST_FLAGS, syntheticRequest } from './synthetic-request.ts';

type CanIFlags = FlagValues<typeof REQUEST_FLAGS> &
  RulesFlags & { readonly rerun?: string | undefined; readonly json: boolean };

const ID_MAX = 999_999_999_999_999;

/** @throws {UsageError} where flags say too little, or what a console is not told. */
export async function canIByConsole(
  flags: CanIFlags,
  origin: string,
  nowMs: number,
  io: TerminalIo,
): Promise<ExitCode> {
  if (flags.now !== undefined) throw new UsageError('--now: a console tells of now');
  const json = flags.rerun === undefined ? madeUp(flags, nowMs, io) : { rerun: jobIdIn(flags.rerun) };
  const told = await answeredInProcess(consoleClient(origin, io).check.$post({ json }));
  const paint = paintWhen(io.colours);
  io.out(flags.json ? `${JSON.stringify(told)}\n` : canIText(told, origin, io.columns, paint));
  return told.jobs[0]?.outcome === 'rejected' ? EXIT.wouldReject : EXIT.ok;
}

/** Classes and variables are read by the policy here; where the job stands is for the console to find. */
function madeUp(flags: CanIFlags, nowMs: number, io: TerminalIo) {
  const { project, group } = flags;
  if (project !== undefined && group !== undefined)
    throw new UsageError('--project and --group: expected one of them, a project names its group');
  const { request } = syntheticRequest(
    { ...flags, project: undefined, group: undefined },
    readRules(flags, io),
    nowMs,
  );
  const { ref, refProtected, pipelineSource, userId } = request;
  const minutes = minutesOf(flags.minutes);
  const job = jobAsked({ ...request, jobName: request.jobName ?? 'job' }, []);
  return {
    ...(project !== undefined && { project: idOrPath(project) }),
    ...(group !== undefined && { group: idOrPath(group) }),
    ...(ref !== undefined && { ref }),
    ...(refProtected !== undefined && { refProtected }),
    ...(pipelineSource !== undefined && { pipelineSource }),
    ...(userId !== undefined && { userId }),
    jobs: [{ ...job, ...(minutes !== undefined && { estimateSeconds: minutes * 60 }) }],
  };
}

const jobIdIn = (word: string): number =>
  readWhole('rerun', /\/-\/jobs\/(\d+)/.exec(word)?.[1] ?? word, 1, ID_MAX);

const idOrPath = (word: string): number | string => (/^\d{1,15}$/.test(word) ? Number(word) : word);

function canIText(told: CheckedPipeline, origin: string, columns: number, paint: Paint): string {
  const [job] = told.jobs;
  if (job === undefined) return '';
  const { outcome, costMicros, estimateSeconds, runnerClass, reasons } = job;
  const word = { admitted: paint.good('Yes'), rejected: paint.bad('No'), 'not sure': paint.warn('Not sure') }[
    outcome
  ];
  const cost = amountText(costMicros, 'micros', told.currency, 'up');
  const head = `${word}: ${outcome === 'not sure' ? 'a rule needs to know more' : `would be ${outcome}`}; about ${cost}, ${durationText(estimateSeconds)} on ${printable(runnerClass)}, ${printable(told.place.path)}.`;
  const lines = reasons.map(({ rule, mode, code, text }) =>
    wrapped(
      `  ${rule}${mode === 'enforce' ? '' : ` (${mode})`}: [${code}] ${printable(text)}`,
      columns,
      '    ',
    ),
  );
  return [
    `${wrapped(head, columns, '  ')}\n`,
    lines.map((line) => `${line}\n`).join(''),
    leftSection({ ...told, console: origin }, true, { columns, paint }),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

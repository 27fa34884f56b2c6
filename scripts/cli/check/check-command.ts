import { basename, relative, resolve } from 'node:path';
import { timeoutEstimator } from '../../../policies/estimate.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readChoice, readFlags } from '../../terminal/flags.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { wrapped } from '../../terminal/table.ts';
import { writeUserFile } from '../../terminal/user-file.ts';
import { withClass } from '../evaluation/class-override.ts';
import {
  PLACE_FLAGS,
  PLACE_FLAGS_HELP,
  type RequestPlace,
  readNow,
  readPlaceFlags,
} from '../evaluation/place-flags.ts';
import { LEDGER_FLAGS } from '../ledger/ledger-flags.ts';
import { type OpenLedger, openLedger } from '../ledger/open-ledger.ts';
import { parseDuration } from '../pipeline/durations.ts';
import { expandPipeline } from '../pipeline/expand-pipeline.ts';
import type { ExpandedPipeline } from '../pipeline/expanded-pipeline.ts';
import { PipelineError } from '../pipeline/pipeline-error.ts';
import { NO_PIPELINE } from '../pipeline/refusals.ts';
import { type FileRules, RULES_FLAGS, RULES_FLAGS_HELP, readRules } from '../rules-flags.ts';
import { checkJson } from './check-json.ts';
import { checkMarkdown } from './check-markdown.ts';
import { checkText } from './check-text.ts';
import { codeQuality } from './code-quality.ts';
import { rejectingNow } from './console-lines.ts';
import { liveStep } from './live-step.ts';
import { noteStep } from './note-step.ts';
import { checkPipeline, countOf, type PipelineCheck } from './pipeline-check.ts';
import { pipelineFile } from './pipeline-file.ts';
import { RUN_FLAGS, RUN_FLAGS_HELP, readRun } from './run-flags.ts';

const FLAGS = {
  ...PLACE_FLAGS,
  ...RULES_FLAGS,
  ...RUN_FLAGS,
  class: 'text',
  timeout: 'text',
  images: 'text',
  verbose: 'switch',
  'code-quality': 'text',
  before: 'text',
  markdown: 'text',
  note: 'switch',
  ...LEDGER_FLAGS,
} as const;

const SUMMARY = 'What would this pipeline meet? Lists its jobs, what they cost and what rejects them';

const HELP = `${SUMMARY}

Usage
  tollgate check [dir | .gitlab-ci.yml] [flags]

Reads the file and what it includes from the same repository, offline. Includes from elsewhere and child pipelines are named,
not read: no job that may rest on them is "ok", they are "not sure". Files from which GitLab creates no pipeline are refused.
rules:, only:, except:, include:rules and workflow:rules are judged as GitLab does for --project, --ref, --source and
--variable. A job that these do not decide "depends on rules" and is judged in every form it may take. Without --variable
the default branch is main. A variable in an image, a service or a tag that neither the file nor a flag sets may be in
GitLab's settings: what hangs on it is "not sure". Manual jobs are taken to run. Counters are read with --console or
--ledger only: without them a job that is "ok" may still meet a limit that is used up.

Where
${PLACE_FLAGS_HELP}
${RUN_FLAGS_HELP}

How
  --class <name>          as if all runners were of this class
  --timeout <duration>    the project's own timeout, for jobs that set none: 1h, 90m
  --images as-written     judge $IMAGE as the file has it; else the file's variables are put in, as the relay does
                          with those that GitLab sends. Those of GitLab's settings are known by --variable
  --verbose               every rule of every job, matched or not
  --code-quality <file>   also write GitLab's code quality report
  --before <dir | file>   the pipeline of the target branch, under the same rules: what it costs is told beside
  --markdown <file>       also write the check as a merge request shows it
  --note                  in a job of a merge request: keep one note with it, by the token in TOLLGATE_NOTE_TOKEN
  --console <url>         also ask a console: what is left of the limits, and what they would reject now; after tollgate
                          login, or in a job by its id_token in TOLLGATE_ID_TOKEN   (default: $TOLLGATE_CONSOLE)
  --ledger <local | table>  the same from the books of npm start on this machine, or from a DynamoDB table
  --instance <host>, --region <region>, --endpoint <url>   of the table
  --json                  one object with everything

Documents
${RULES_FLAGS_HELP}

Exit codes: 0 no job would be rejected for certain: each is "ok" or "not sure", 1 the same but the note, console or ledger failed, 2 a
job would be rejected, 3 wrong usage, an invalid document, or a file from which GitLab creates no pipeline`;

/** @param open - tests open a ledger of their own. */
export const checkCommandOn = (open: OpenLedger): Command => ({
  name: 'check',
  summary: SUMMARY,
  help: HELP,
  run: (args, io) => run(args, io, open),
});

export const checkCommand: Command = checkCommandOn(openLedger);

async function run(args: readonly string[], io: TerminalIo, open: OpenLedger): Promise<ExitCode> {
  const { values, words } = readFlags(args, FLAGS, { max: 1, what: 'one folder or .gitlab-ci.yml' });
  const nowMs = readNow(values.now, io.nowMs);
  const { rules, classTags } = rulesFor(values.class, readRules(values, io), nowMs);
  const { file, folder } = pipelineFile(words[0], io.cwd);
  const place = readPlaceFlags(values, rules.directory);
  const shown = relative(io.cwd, file) || basename(file);
  const timeoutSeconds = timeoutOf(values.timeout);
  const options = {
    place,
    nowMs,
    images:
      values.images === undefined
        ? ('expanded' as const)
        : readChoice('images', values.images, ['expanded', 'as-written']),
    ...(timeoutSeconds !== undefined && { projectTimeoutSeconds: timeoutSeconds }),
  };
  const checkOf = (path: string): PipelineCheck => {
    const pipeline = expandPipeline(path, readRun(values, place));
    if (isEmpty(pipeline))
      throw new PipelineError(
        'refused',
        `has no job; ${NO_PIPELINE}`,
        relative(io.cwd, path) || basename(path),
      );
    return checkPipeline(pipeline, { ...rules, estimator: timeoutEstimator }, options);
  };
  const check = checkOf(file);
  const before = values.before === undefined ? undefined : checkOf(pipelineFile(values.before, io.cwd).file);
  const { variables } = rules.policy;
  const live = await liveStep(check, { ...options, variables, flags: values, classTags, open }, io);
  const { now } = live;
  const write = (flag: 'code-quality' | 'markdown', text: () => string): void => {
    const path = values[flag];
    if (path !== undefined) writeUserFile(resolve(io.cwd, path), text(), `--${flag} "${path}"`);
  };
  write('code-quality', () => `${JSON.stringify(codeQuality(check, folder), undefined, 2)}\n`);
  write('markdown', () => checkMarkdown(check, before, now));
  const noted = values.note ? await noteStep(checkMarkdown(check, before, now), io) : EXIT.ok;
  if (values.json) {
    const about = {
      pipeline: shown,
      place,
      nowMs,
      policyVersion: rules.policy.version,
      limitsVersion: rules.limits.version,
    };
    io.out(`${JSON.stringify(checkJson(check, before, about, now))}\n`);
  } else {
    const paint = paintWhen(io.colours);
    io.out(`${wrapped(aboutText(shown, place, nowMs, rules), io.columns, '  ')}\n\n`);
    io.out(checkText(check, before, { columns: io.columns, paint, verbose: values.verbose }, now));
  }
  const isRejected = countOf(check, 'rejected') > 0 || rejectingNow(check, now).length > 0;
  return isRejected ? EXIT.wouldReject : noted === EXIT.ok ? live.code : noted;
}

function rulesFor(
  name: string | undefined,
  rules: FileRules,
  nowMs: number,
): { readonly rules: FileRules; readonly classTags: readonly string[] } {
  if (name === undefined) return { rules, classTags: [] };
  const { policy, runnerClass } = withClass(rules.policy, name, nowMs);
  return { rules: { ...rules, policy }, classTags: runnerClass.tags };
}

function timeoutOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = parseDuration(text);
  if (seconds !== undefined && seconds > 0) return seconds;
  throw new UsageError(`--timeout "${text}": expected a duration such as 1h or 90m`);
}

/** GitLab wants one visible job. Those that start other pipelines count, and so do those that rules leave out. */
const isEmpty = ({ jobs, leftOut, bridges, notRead, isCreated }: ExpandedPipeline): boolean =>
  [jobs, leftOut, bridges, notRead].every(({ length }) => length === 0) && isCreated !== 'no';

function aboutText(
  file: string,
  place: RequestPlace,
  nowMs: number,
  { policy, directory }: FileRules,
): string {
  const group = directory.groupById.get(place.namespaceId ?? 0)?.path;
  const where = place.projectPath ?? (group === undefined ? undefined : `${group}, any project`);
  return [
    printable(file),
    ...(where === undefined ? [] : [`for ${where}`]),
    `policy ${policy.version}`,
    instantText(nowMs, 'UTC'),
    ...(where === undefined ? ['no --project: rules and limits of groups cannot be told'] : []),
  ].join(', ');
}

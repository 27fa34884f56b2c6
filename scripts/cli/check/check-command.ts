import { createHash } from 'node:crypto';
import { basename, posix, relative, resolve } from 'node:path';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { GitLabError } from '../../../functions/core/gitlab/gitlab.ts';
import { keepNote } from '../../../functions/core/gitlab/keep-note.ts';
import { checkBaseUrl } from '../../../functions/core/gitlab/rest-call.ts';
import { timeoutEstimator } from '../../../policies/estimate.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { choice, command, optionalWord, text, texts, toggle, type ValuesOf } from '../../terminal/define.ts';
import { groupsOf } from '../../terminal/groups.ts';
import { paintWhen, printable, wrapped } from '../../terminal/table.ts';
import { writeUserFile } from '../../terminal/user-file.ts';
import { commandFetch } from '../command-fetch.ts';
import { PLACE_FLAGS, type RequestPlace, readPlaceFlags, readTimeout } from '../evaluation/place-flags.ts';
import { TABLE_FLAGS } from '../ledger-flags.ts';
import { expandPipeline } from '../pipeline/expand-pipeline.ts';
import type { ExpandedPipeline } from '../pipeline/expanded-pipeline.ts';
import type { KnownRun } from '../pipeline/known-run.ts';
import { refused } from '../pipeline/pipeline-error.ts';
import { ALIKE_EVERYWHERE } from '../pipeline/variables.ts';
import { type FileRules, readRules } from '../read-rules.ts';
import { RULES_FLAGS } from '../rules-flags.ts';
import { checkMarkdown, checkText, type ShownCheck } from './check-sections.ts';
import { liveStep } from './live-check.ts';
import {
  checkPipeline,
  countOf,
  findingsOf,
  type JobCheck,
  type PipelineCheck,
  resultOf,
  unreadBy,
  unreadOfJobs,
} from './pipeline-check.ts';
import { pipelineFile } from './pipeline-file.ts';

const FLAGS = {
  ...PLACE_FLAGS,
  'ref-type': choice('<type>', 'the kind of --ref (default: branch): ', ['branch', 'tag']),
  variable: texts(
    '<name=value>',
    "as GitLab's settings or the start of the pipeline set it; <name> alone: they do not. Repeat it",
  ),
  input: texts('<name=value>', 'an input of the pipeline, if its file has spec:inputs. Repeat it'),
  timeout: text('<duration>', "the project's own timeout, for jobs that set none: 1h, 90m", readTimeout),
  verbose: toggle('every rule of every job, matched or not'),
  'code-quality': text('<file>', "also writes GitLab's code quality report"),
  before: text(
    '<dir | file>',
    'the pipeline of the target branch, under the same rules: shows its cost as well',
  ),
  markdown: text('<file>', 'also writes the check as a merge request shows it'),
  note: toggle('in a job of a merge request: keeps one note with it, by the token in TOLLGATE_NOTE_TOKEN'),
  ...TABLE_FLAGS,
  ledger: text(
    '<local | table>',
    'also reads what is left of the limits from the ledger of npm start on this machine, or from a DynamoDB table',
  ),
  console: text(
    '<url>',
    'also asks a console what is left of the limits, and what they would reject now; after tollgate login, or in a job by its id_token in TOLLGATE_ID_TOKEN (default: $TOLLGATE_CONSOLE)',
  ),
  ...RULES_FLAGS,
};

const checkCommand = command({
  name: 'check',
  about: `Reads the file and what it includes from the same repository,
offline. It names includes from elsewhere and child pipelines and does not read them: a job that may depend on them is never "ok", it
is "not sure". Refuses files from which GitLab creates no pipeline.

Judges rules:, only:, except:, include:rules and workflow:rules as GitLab does for --project, --ref, --source and --variable. A job
that these do not decide "depends on rules" and is judged in every form it may take. Without --variable the default branch is main. A
variable in an image, a service or a tag that neither the file nor a flag sets may be in GitLab's settings: the result is "not sure".
Manual jobs count as run. Counters are read with --console or --ledger only: without them a job that is "ok" may still meet a limit
that is used up.`,
  words: { file: optionalWord('<dir | .gitlab-ci.yml>', 'the pipeline (default: the current folder)') },
  expects: 'one folder or .gitlab-ci.yml',
  flags: FLAGS,
  json: 'one object with everything',
  examples: [
    'tollgate check --project acme/payments/api --ref main',
    'tollgate check --before ../main --markdown check.md --note',
  ],
  exits: {
    0: 'no job would be rejected for certain: each is "ok" or "not sure"',
    1: 'the same but the note, console or ledger failed',
    2: 'a job would be rejected',
    3: 'wrong usage, an invalid document, or a file from which GitLab creates no pipeline',
  },
  run: async ({ flags: values, words: { file: path } }, io) => {
    const nowMs = values.now ?? io.nowMs();
    const rules = readRules(values, io);
    const { policy } = rules;
    const { file, folder } = pipelineFile(path, io.cwd);
    const place = readPlaceFlags(values, rules.directory);
    const shownPath = (full: string): string => relative(io.cwd, full) || basename(full);
    const options = { place, nowMs, ...withoutAbsent({ projectTimeoutSeconds: values.timeout }) };
    const checkOf = (full: string): PipelineCheck => {
      const pipeline = expandPipeline(full, readRun(values, place));
      if (isEmpty(pipeline)) throw refused('has no job', shownPath(full));
      return checkPipeline(pipeline, { ...rules, estimator: timeoutEstimator }, options);
    };
    const check = checkOf(file);
    const before =
      values.before === undefined ? undefined : checkOf(pipelineFile(values.before, io.cwd).file);
    const request = { ...options, variables: policy.variables, flags: values };
    const { now, code } = await liveStep(check, request, io);
    const write = (flag: 'code-quality' | 'markdown', text: () => string): void => {
      const named = values[flag];
      if (named !== undefined) writeUserFile(resolve(io.cwd, named), text(), `--${flag} "${named}"`);
    };
    write('code-quality', () => `${JSON.stringify(codeQuality(check, folder), undefined, 2)}\n`);
    const shown = { check, before, now };
    write('markdown', () => checkMarkdown(shown));
    const noted = values.note ? await noteStep(checkMarkdown(shown), io) : EXIT.ok;
    if (values.json) {
      const versions = { policyVersion: policy.version, limitsVersion: rules.limits.version };
      const about = { pipeline: shownPath(file), place, nowMs, ...versions };
      io.out(`${JSON.stringify(checkJson(shown, about))}\n`);
    } else {
      const layout = { columns: io.columns, paint: paintWhen(io.colours) };
      io.out(`${wrapped(aboutText(shownPath(file), place, nowMs, rules), io.columns, '  ')}\n\n`);
      io.out(checkText(shown, layout, values.verbose));
    }
    const isRejected = findingsOf(check, now).some(({ kind }) => /^rejects/.test(kind));
    return isRejected ? EXIT.wouldReject : noted === EXIT.ok ? code : noted;
  },
});

export const commands = [checkCommand];

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
  const where = place.projectPath ?? (group && `${group}, any project`);
  const parts = [
    printable(file),
    where && `for ${where}`,
    `policy ${policy.version}`,
    instantText(nowMs, 'UTC'),
  ];
  if (where === undefined) parts.push('no --project: rules and limits of groups cannot be checked');
  return parts.filter(Boolean).join(', ');
}

function readRun(flags: ValuesOf<typeof FLAGS>, place: RequestPlace): KnownRun {
  const { ref, refProtected, projectPath, projectId, pipelineSource, userId } = place;
  const given = Object.fromEntries(
    flags.variable.map((text) => named('variable', text, /^([A-Za-z_]\w*)(?:=(.*))?$/s, 'DEPLOY=true')),
  );
  const registry = given.CI_REGISTRY ?? undefined;
  return {
    isTag: flags['ref-type'] === 'tag',
    ...withoutAbsent({ ref, source: pipelineSource, projectPath }),
    predefined: {
      // Most rules compare with it; --variable says otherwise.
      CI_DEFAULT_BRANCH: 'main',
      ...(projectPath !== undefined &&
        registry !== undefined && { CI_REGISTRY_IMAGE: `${registry}/${projectPath.toLowerCase()}` }),
      ...(projectId !== undefined && { CI_PROJECT_ID: String(projectId) }),
      ...(refProtected !== undefined && { CI_COMMIT_REF_PROTECTED: String(refProtected) }),
      ...(userId !== undefined && { GITLAB_USER_ID: String(userId) }),
    },
    given,
    standIns: ALIKE_EVERYWHERE,
    inputs: Object.fromEntries(
      flags.input.map((text) => named('input', text, /^([\w-]+)=(.*)$/s, 'stage=test')),
    ),
  };
}

/** @returns null in place of a value that is not given, where the pattern allows that. */
function named<Value extends string | null>(
  flag: 'input' | 'variable',
  text: string,
  pattern: RegExp,
  example: string,
): readonly [string, Value] {
  const [, name, value] = pattern.exec(text) ?? [];
  if (name !== undefined) return [name, (value ?? null) as Value];
  throw new UsageError(`--${flag} "${text}": expected a name and a value, e.g. ${example}`);
}

const SEVERITY = { enforce: 'blocker', warn: 'minor', shadow: 'info', off: 'info' } as const;

/**
 * GitLab finds new findings by the fingerprint: it is the same for the same job and finding in any place.
 *
 * @see https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
 */
function codeQuality(check: PipelineCheck, folder: string): readonly object[] {
  const entry = (
    job: JobCheck['job'] | undefined,
    check_name: string,
    severity: string,
    what: readonly string[],
    description: string,
  ) => {
    const { file, line } = job?.place ?? { file: '.gitlab-ci.yml', line: 1 };
    const path = posix.join(folder, file);
    const parts = JSON.stringify([path, check_name, ...what]);
    const fingerprint = createHash('sha256').update(parts).digest('hex').slice(0, 32);
    return { description, check_name, fingerprint, severity, location: { path, lines: { begin: line } } };
  };
  const unread = (text: string, job?: JobCheck['job']) => entry(job, 'not-read', 'minor', [text], text);
  const entries = [
    ...check.pipeline.notRead.map((what) => unread(`Not sure: ${what}`)),
    ...unreadOfJobs(check).map(([what, job]) => unread(`Job "${job.definedAs}" is not sure: ${what}`, job)),
    ...findingsOf(check)
      .filter(({ kind }) => kind !== 'unknown')
      .map(({ check: { job }, rule, mode, text }) => {
        const verb = mode === 'enforce' ? 'would be rejected' : `is watched (${mode})`;
        const description = `Job "${job.definedAs}" ${verb} by rule ${rule}: ${text}`;
        return entry(job, rule, SEVERITY[mode], [job.definedAs, mode, text], description);
      }),
  ];
  return groupsOf(entries, ({ fingerprint }) => fingerprint).map(([first]) => first);
}

/** The check for scripts: one object. Amounts in whole units, money in micro-units. */
function checkJson({ check, before, now }: ShownCheck, about: Readonly<Record<string, unknown>>): object {
  const { pipeline } = check;
  return {
    ...about,
    currency: check.currency,
    jobs: check.jobs.map(jobJson),
    result: resultOf(check),
    total: totalJson(check),
    ...(before && { before: totalJson(before) }),
    limits: check.limits.map(({ counter: _, ...ask }) => ask),
    ...withoutAbsent({ now }),
    notRead: pipeline.notRead,
    bridges: pipeline.bridges,
    problems: pipeline.problems,
    created: pipeline.isCreated,
    createdDependsOn: pipeline.workflowDependsOn,
    leftOut: pipeline.leftOut.map(({ name, place }) => ({ name, ...place })),
  };
}

const totalJson = (check: PipelineCheck): object => ({
  jobs: check.jobs.length,
  costMicros: check.costMicros,
  rejected: countOf(check, 'rejected'),
  notSure: countOf(check, 'not sure'),
  ok: countOf(check, 'ok'),
});

function jobJson({ job, terms, outcome, rejects, watched, undecided, asks, results }: JobCheck): object {
  const { name, stage, place, dependsOn, environment } = job;
  const { runnerClass, estimateSeconds, costMicros } = terms;
  return {
    ...{ name, stage, ...place, ...withoutAbsent({ dependsOn, environment }) },
    ...{ runnerClass, estimateSeconds, costMicros, outcome, notRead: unreadBy(job), rejects, watched },
    cannotTell: undecided,
    asks: asks.map(({ counter: _, ...ask }) => ask),
    rules: results.map(({ claims: _, ...result }) => result),
  };
}

/** Updates the merge request's note. Without a token, as in forks, it does nothing. */
export async function noteStep(
  text: string,
  { env, err }: Pick<TerminalIo, 'env' | 'err'>,
  send: typeof fetch = commandFetch({ env }),
): Promise<ExitCode> {
  const token = env.TOLLGATE_NOTE_TOKEN;
  if (!token) {
    err('--note: no TOLLGATE_NOTE_TOKEN, so the merge request gets no note\n');
    return EXIT.ok;
  }
  const need = (name: string): string => {
    if (env[name]) return env[name];
    throw new UsageError(`--note: ${name} is not set; expected a job of a merge request's pipeline`);
  };
  const baseUrl = need('CI_SERVER_URL');
  const projectId = need('CI_MERGE_REQUEST_PROJECT_ID');
  const mergeRequestIid = need('CI_MERGE_REQUEST_IID');
  const version = Number(need('CI_PIPELINE_ID'));
  try {
    checkBaseUrl(baseUrl);
    const deps = { baseUrl, token: async () => token, fetch: send, clock: systemClock };
    await keepNote(text, { projectId, mergeRequestIid, about: 'check, pipeline', version }, deps);
    return EXIT.ok;
  } catch (error) {
    const isRefused = error instanceof GitLabError && error.code === 'gitlab_refused';
    const reason = isRefused
      ? `GitLab refuses TOLLGATE_NOTE_TOKEN (${error.status}); expected a project or group token with the scope api and the role Developer`
      : String(error instanceof Error ? error.message : error);
    err(`--note: the merge request's note may be out of date: ${reason}\n`);
    return EXIT.failed;
  }
}

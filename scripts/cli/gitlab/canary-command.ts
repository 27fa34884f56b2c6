/** `tollgate gitlab canary`. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createGitLabAdministration } from '../../../functions/core/gitlab/administration.ts';
import { createGitLabPipelines } from '../../../functions/core/gitlab/pipelines.ts';
import { type CanaryOutcome, dynamoCanaryOutcomes } from '../../../functions/core/ledger/controller.ts';
import { LedgerError } from '../../../functions/core/store/table-failure.ts';
import { RelayError } from '../../../relay/relay-error.ts';
import { createRouter } from '../../../relay/router/router-client.ts';
import { parseTarget } from '../../../relay/router/target.ts';
import { literalToken } from '../../../relay/token.ts';
import { VERSION } from '../../../relay/version.ts';
import { loadSchema, schemaTitle, type WireSchema } from '../../../relay/wire/schema.ts';
import { machineClock } from '../../local/clock.ts';
import { EXIT, standIn, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command } from '../../terminal/define-command.ts';
import { orElse, required, text, toggle, type ValuesOf, whole } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { commandAuthority } from '../command-fetch.ts';
import { TABLE_FLAGS } from '../ledger-flags.ts';
import { openIfAny, openTableAccess } from '../open-ledger.ts';
import { callsTo, neededGitLab, readGitLabPlace } from '../truth/gitlab-flags.ts';
import { CANARY_TAG, type Canary, removeCanary, runCanary } from './canary.ts';
import { exitOf, linesText, SetupLines } from './setup-step.ts';

const PROTO = 'relay/wire/gitlab.binpb';
const DEADLINE_MS = 60_000;
/** Our own streams end a request that is open for 30 s. */
const PATIENCE_SECONDS_MAX = 25;
const ATTEMPTS_MAX = 4;

const FLAGS = {
  ...neededGitLab("holds an administrator's token of scope api (admin_mode where Admin Mode is on)"),
  project: required(text('<path>', "the canary's project, by path or number")),
  runner: text('<id>', 'its runner (default: the one with the tag)', whole(1, Number.MAX_SAFE_INTEGER)),
  'runner-tag': text('<tag>', `the tag of its runner (default: ${CANARY_TAG})`),
  router: text('<url>', 'of the job router (default: as GitLab says)'),
  'allow-plaintext': toggle("lets the canary's token travel unencrypted (grpc://, ws://) to another host"),
  proto: text('<file>', `the descriptors that the relays use (default: ${PROTO}, else the placeholder)`),
  wait: orElse(text('<seconds>', 'how long the jobs may take', whole(1, 3_600)), 300),
  patience: orElse(
    text(
      '<seconds>',
      'keeps one request open for this time, to see whether the router waits: 1 to 25',
      whole(1, PATIENCE_SECONDS_MAX),
    ),
    0,
  ),
  cleanup: toggle('removes what a killed run left, and proves nothing'),
  ...TABLE_FLAGS,
};

const canaryCommand = command({
  name: 'gitlab canary',
  about: `Proves both answers at your GitLab before you arm: that "admitted" lets a job run, and that "rejected" fails one with our text.
It makes a second runner controller, enabled and scoped to one runner, and answers for it from here with the descriptors of the
relays. It starts the pipeline of a project whose .gitlab-ci.yml has the canary's two jobs, reads both, and removes the controller,
its scope and its token. The next run, or --cleanup, removes what a killed run left.

No other job may meet it: the runner must be one of the instance with one tag, take no untagged jobs, and have taken none of another
project. docs/platform.md says how to make it, and has the .gitlab-ci.yml. The outcome is stored in the table: tollgate doctor and
tollgate controller enable use it, until GitLab or the descriptors change.`,
  flags: FLAGS,
  examples: [
    'tollgate gitlab canary --gitlab https://gitlab.example.com --token-file admin-token --project platform/tollgate-canary',
  ],
  exits: {
    0: 'both proven (or all cleaned up)',
    1: 'GitLab does not answer',
    2: 'not proven or refused',
  },
  run: async ({ flags: values }, io) => {
    const canary = readCanary(values, io);
    const lines = new SetupLines();
    const tell = (body: object, end: string): void => {
      if (values.json) io.out(`${JSON.stringify({ ...body, lines: lines.all })}\n`);
      else io.out(linesText(lines.all, paintWhen(io.colours)) + end);
    };
    if (values.cleanup) {
      const project = await canary.pipelines.project(canary.projectAsked);
      if (!project.ok) throw new UsageError(`--project: ${project.refusal.says}; ${project.refusal.remedy}`);
      await lines.step(() => removeCanary(canary, project.value.id, lines));
      tell({}, lines.all.length === 0 ? 'Nothing of a canary is left.\n' : '');
      return exitOf(lines.all);
    }
    // Opened before anything is changed at GitLab.
    const open = standIn(io, openTableAccess);
    const table = await openIfAny((of, opening) => open(of, opening, ATTEMPTS_MAX), values, io);
    try {
      const outcome = await runCanary(canary, lines);
      const why = !table.known
        ? table.why
        : outcome && (await keep(outcome, dynamoCanaryOutcomes(table.value)));
      const notKept = outcome && why;
      const isProven = outcome?.admitted === 'proven' && outcome.rejected === 'proven';
      const end = isProven
        ? `Both answers are proven on GitLab ${outcome.gitlabVersion} with ${schemaTitle(canary.schema)}.\n`
        : 'Not proven.\n';
      tell(
        { proven: isProven, outcome: outcome ?? null, kept: outcome !== undefined && notKept === undefined },
        end + (notKept === undefined ? '' : `Not kept for the doctor: ${notKept}.\n`),
      );
      const code = exitOf(lines.all);
      return code === EXIT.ok && !isProven ? EXIT.wouldReject : code;
    } finally {
      if (table.known) await table.value.close();
    }
  },
});

export const commands = [canaryCommand];

/** Stores the outcome for the doctor. Returns why it could not. */
async function keep(
  outcome: CanaryOutcome,
  outcomes: ReturnType<typeof dynamoCanaryOutcomes>,
): Promise<string | undefined> {
  try {
    const before = await outcomes.read();
    // A run that measured no router timeout keeps the one of an earlier run on this version.
    const earlier = before?.gitlabVersion === outcome.gitlabVersion ? before : undefined;
    const patience = outcome.patience ?? earlier?.patience;
    await outcomes.write({ ...outcome, ...(patience !== undefined && { patience }) });
    return undefined;
  } catch (error) {
    if (error instanceof LedgerError) return error.message;
    throw error;
  }
}

/** @throws {UsageError} naming the flag. */
function readCanary(values: ValuesOf<typeof FLAGS>, io: TerminalIo): Canary {
  const { project, router, runner, 'runner-tag': runnerTag = CANARY_TAG } = values;
  const calls = { ...callsTo(readGitLabPlace(values, io)), deadlineMs: DEADLINE_MS };
  const schema = readSchema(values.proto, io);
  const authority = commandAuthority(io);
  let isTold = false;
  return {
    gitlab: createGitLabAdministration(calls),
    pipelines: createGitLabPipelines(calls),
    projectAsked: project,
    runnerId: runner,
    runnerTag,
    routerUrl: router,
    schema,
    routerAt: (url, token) => {
      const target = parseTarget(url);
      const isHere = /^(localhost|127\..*|::1)$/.test(target.host);
      if (!target.secure && !isHere && !values['allow-plaintext'])
        throw new RelayError(
          'config_invalid',
          `${target.url} sends the token unencrypted; say --allow-plaintext`,
        );
      return createRouter({
        ...{ target, schema, token: literalToken(token), version: VERSION },
        userAgent: `tollgate-canary/${VERSION}`,
        ...(authority !== undefined && { tls: { caPem: authority } }),
      });
    },
    waitMs: values.wait * 1_000,
    patienceMs: values.patience * 1_000,
    clock: { ...standIn(io, machineClock), nowMs: io.nowMs },
    stop: standIn(io, stopOnSignal)(),
    tell: (told) => {
      if (io.progress) io.err(`${isTold ? '\u001b[1A\u001b[K' : ''}${told}\n`);
      isTold = true;
    },
  };
}

/** @throws {UsageError} for a file that holds no descriptors. */
function readSchema(proto: string | undefined, io: TerminalIo): WireSchema {
  const own = join(io.root, PROTO);
  const file = proto === undefined ? (existsSync(own) ? own : undefined) : resolve(io.cwd, proto);
  try {
    return loadSchema(file);
  } catch (error) {
    if (error instanceof RelayError) throw new UsageError(`--proto: ${error.message}`);
    throw error;
  }
}

/** A signal to a process group arrives twice: directly, and from the parent. */
const SAME_SIGNAL_MS = 1_000;

/** The first signal lets the canary clean up; the second one ends it where it is. */
export function stopOnSignal(): AbortSignal {
  const stop = new AbortController();
  let stoppedAtMs = 0;
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      const nowMs = performance.now();
      if (!stop.signal.aborted) stoppedAtMs = nowMs;
      else if (nowMs - stoppedAtMs > SAME_SIGNAL_MS) process.exit(130);
      stop.abort();
    });
  return stop.signal;
}

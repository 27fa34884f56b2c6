import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createGitLabAdministration } from '../../../functions/core/gitlab/administration.ts';
import { createGitLabPipelines } from '../../../functions/core/gitlab/pipelines.ts';
import { dynamoCanaryOutcomes } from '../../../functions/core/ledger/controller.ts';
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
import { orElse, required, text, type ValuesOf, whole } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { commandAuthority } from '../command-fetch.ts';
import { TABLE_FLAGS } from '../ledger-flags.ts';
import { openIfAny, openTableAccess } from '../open-ledger.ts';
import { callsTo, neededGitLab, readGitLabPlace } from '../truth/gitlab-flags.ts';
import { type Canary, runCanary } from './canary.ts';
import { exitOf, linesText, SetupLines } from './setup-step.ts';

/** The descriptors that relays use; without them, the placeholder. */
const PROTO = 'relay/wire/gitlab.binpb';
const DEADLINE_MS = 60_000;
const ATTEMPTS_MAX = 4;

const FLAGS = {
  ...neededGitLab("holds an administrator's token of scope api (admin_mode where Admin Mode is on)"),
  project: required(text('<path>', "the canary's project, by path or number")),
  'runner-tag': orElse(text('<tag>', 'the tag of its runner'), 'tollgate-canary'),
  router: text('<url>', 'of the job router (default: as GitLab says)'),
  wait: orElse(text('<seconds>', 'how long the jobs may take', whole(1, 3_600)), 300),
  ...TABLE_FLAGS,
};

const canaryCommand = command({
  name: 'gitlab canary',
  about: `Proves both answers at your GitLab before you arm: that "admitted" lets a job run, and that "rejected" fails one with our text.
It makes a second runner controller, enabled and scoped to one runner, and answers for it from here with the descriptors of the
relays. It starts the pipeline of a project whose .gitlab-ci.yml has the canary's two jobs, reads both, and removes the controller,
its scope and its token. The next run removes what a killed run left.

No other job may meet it: the runner must be one of the instance with one tag and take no untagged jobs. docs/platform.md says how to
make it, and has the .gitlab-ci.yml. The outcome is stored in the table: tollgate doctor and tollgate controller enable use it, until
GitLab or the descriptors change.`,
  flags: FLAGS,
  examples: [
    'tollgate gitlab canary --gitlab https://gitlab.example.com --token-file admin-token --project platform/tollgate-canary',
  ],
  exits: { 0: 'both proven', 1: 'GitLab does not answer', 2: 'not proven or refused' },
  run: async ({ flags }, io) => {
    const canary = readCanary(flags, io);
    const lines = new SetupLines();
    // Opened before anything is changed at GitLab.
    const open = standIn(io, openTableAccess);
    const table = await openIfAny((of, opening) => open(of, opening, ATTEMPTS_MAX), flags, io);
    try {
      const outcome = await runCanary(canary, lines);
      let notKept = table.known ? undefined : table.why;
      if (table.known && outcome !== undefined)
        try {
          await dynamoCanaryOutcomes(table.value).write(outcome);
        } catch (error) {
          if (!(error instanceof LedgerError)) throw error;
          notKept = error.message;
        }
      const isProven = outcome?.admitted === 'proven' && outcome.rejected === 'proven';
      const kept = outcome !== undefined && notKept === undefined;
      const body = { proven: isProven, outcome: outcome ?? null, kept, lines: lines.all };
      const end = isProven
        ? `Both answers are proven on GitLab ${outcome.gitlabVersion} with ${schemaTitle(canary.schema)}.\n`
        : 'Not proven.\n';
      const note = outcome === undefined || kept ? '' : `Not kept for the doctor: ${notKept}.\n`;
      if (flags.json) io.out(`${JSON.stringify(body)}\n`);
      else io.out(linesText(lines.all, paintWhen(io.colours)) + end + note);
      const code = exitOf(lines.all);
      return code === EXIT.ok && !isProven ? EXIT.wouldReject : code;
    } finally {
      if (table.known) await table.value.close();
    }
  },
});

export const commands = [canaryCommand];

/** @throws {UsageError} naming the flag. */
function readCanary(flags: ValuesOf<typeof FLAGS>, io: TerminalIo): Canary {
  const calls = { ...callsTo(readGitLabPlace(flags, io)), deadlineMs: DEADLINE_MS };
  const schema = readSchema(join(io.root, PROTO));
  const authority = commandAuthority(io);
  let isWritten = false;
  return {
    gitlab: createGitLabAdministration(calls),
    pipelines: createGitLabPipelines(calls),
    projectAsked: flags.project,
    runnerTag: flags['runner-tag'],
    routerUrl: flags.router,
    schema,
    routerAt: (url, token) => {
      const target = parseTarget(url);
      if (!target.secure && !/^(localhost|127\..*|::1)$/.test(target.host))
        throw new RelayError(
          'config_invalid',
          `${target.url} would send the token unencrypted; use grpcs:// or wss://`,
        );
      return createRouter({
        ...{ target, schema, token: literalToken(token), version: VERSION },
        userAgent: `tollgate-canary/${VERSION}`,
        ...(authority !== undefined && { tls: { caPem: authority } }),
      });
    },
    waitMs: flags.wait * 1_000,
    clock: { ...standIn(io, machineClock), nowMs: io.nowMs },
    stop: standIn(io, stopOnSignal)(),
    progress: (line) => {
      if (io.progress) io.err(`${isWritten ? '\u001b[1A\u001b[K' : ''}${line}\n`);
      isWritten = true;
    },
  };
}

/** @throws {UsageError} for a file that holds no descriptors. */
function readSchema(file: string): WireSchema {
  try {
    return loadSchema(existsSync(file) ? file : undefined);
  } catch (error) {
    if (error instanceof RelayError) throw new UsageError(error.message);
    throw error;
  }
}

export function stopOnSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
  return stop.signal;
}

import { type CanaryOutcome, dynamoCanaryOutcomes } from '../../../../functions/core/ledger/index.ts';
import { LedgerError } from '../../../../functions/core/store/index.ts';
import { schemaTitle } from '../../../../relay/wire/schema.ts';
import { machineClock } from '../../../local/clock.ts';
import { type Command, EXIT, type TerminalIo, UsageError } from '../../../terminal/command.ts';
import { readFlags } from '../../../terminal/flags.ts';
import { paintWhen } from '../../../terminal/paint.ts';
import { openIfAny, openTableAccess } from '../../ledger/open-ledger.ts';
import { readGitLabPlace } from '../../truth/gitlab-flags.ts';
import type { SetupLine } from '../setup-line.ts';
import { exitOf, linesText } from '../setup-text.ts';
import { removeCanary } from './canary-controller.ts';
import { canaryCourse } from './canary-course.ts';
import {
  CANARY_FLAGS,
  CANARY_FLAGS_HELP,
  type CanaryDeps,
  type CanaryFlags,
  readCanary,
} from './canary-flags.ts';

const ATTEMPTS_MAX = 4;

const HELP = `tollgate gitlab canary --gitlab <url> --token-file <file> --project <path> [flags]

Proves both answers at your GitLab before you arm: that "admitted" lets a job run, and that "rejected" fails one with our text. Makes a
second runner controller, enabled and scoped to one runner, answers for it from here with the descriptors of the relays, starts the
pipeline of a project whose .gitlab-ci.yml has the canary's two jobs, reads both back, and takes the controller, its scope and its
token away again. What a run left that was killed goes with the next one, or with --cleanup.

Nobody else's job may meet it: the runner must be one of the instance with one tag, take no untagged jobs and have taken none of
another project; docs/platform.md says how to make it, and has the .gitlab-ci.yml. The outcome is kept beside the books: tollgate doctor
and tollgate controller enable go by it, until GitLab or the descriptors change.

${CANARY_FLAGS_HELP}
  --json               one JSON object

Exit codes: 0 both proven (or all cleaned up), 1 GitLab does not answer, 2 not proven or refused, 3 wrong usage`;

export const canaryCommandOn = (deps: CanaryDeps): Command => ({
  name: 'gitlab canary',
  summary:
    'Does GitLab obey both answers? One job that must run and one that must fail, on a runner of its own',
  help: HELP,
  run: async (args, io) => {
    const { values } = readFlags(args, CANARY_FLAGS);
    const place = readGitLabPlace(values, io);
    const course = readCanary(values, place, io, deps);
    if (values.cleanup) {
      const project = await course.pipelines.project(course.projectAsked);
      if (!project.ok) throw new UsageError(`--project: ${project.refusal.says}; ${project.refusal.remedy}`);
      const lines = await removeCanary(course, project.value.id);
      tell({ lines }, lines.length === 0 ? 'Nothing of a canary is left.\n' : undefined, values.json, io);
      return exitOf(lines);
    }
    const books = await openBooks(values, io, deps);
    try {
      const { lines, outcome } = await canaryCourse(course);
      const isProven = outcome?.admitted === 'proven' && outcome.rejected === 'proven';
      const notKept = outcome === undefined ? undefined : await books.keep(outcome);
      const code = exitOf(lines);
      const end = isProven
        ? `Both answers are proven on GitLab ${outcome.gitlabVersion} with ${schemaTitle(course.schema)}.\n`
        : 'Not proven.\n';
      const note = notKept === undefined ? '' : `Not kept for the doctor: ${notKept}.\n`;
      tell(
        {
          proven: isProven,
          outcome: outcome ?? null,
          kept: outcome !== undefined && notKept === undefined,
          lines,
        },
        end + note,
        values.json,
        io,
      );
      return code === EXIT.ok && !isProven ? EXIT.wouldReject : code;
    } finally {
      await books.close();
    }
  },
});

function tell(
  body: { readonly lines: readonly SetupLine[]; readonly [more: string]: unknown },
  end: string | undefined,
  json: boolean,
  io: TerminalIo,
): void {
  io.out(json ? `${JSON.stringify(body)}\n` : linesText(body.lines, paintWhen(io.colours)) + (end ?? ''));
}

interface CanaryBooks {
  /** Undefined: it is kept; else why not. */
  readonly keep: (outcome: CanaryOutcome) => Promise<string | undefined>;
  readonly close: () => Promise<void>;
}

/** Before anything is touched. */
async function openBooks(values: CanaryFlags, io: TerminalIo, deps: CanaryDeps): Promise<CanaryBooks> {
  const books = await openIfAny((flags, opening) => deps.open(flags, opening, ATTEMPTS_MAX), values, io);
  if (!books.known) return { keep: async () => books.why, close: async () => {} };
  const opened = books.value;
  const keep = async (outcome: CanaryOutcome): Promise<string | undefined> => {
    try {
      const outcomes = dynamoCanaryOutcomes(opened);
      const before = outcome.patience === undefined ? await outcomes.read() : undefined;
      // A run that measured no patience keeps what an earlier one found at this version.
      const patience = before?.gitlabVersion === outcome.gitlabVersion ? before?.patience : outcome.patience;
      await outcomes.write({ ...outcome, ...(patience !== undefined && { patience }) });
      return undefined;
    } catch (error) {
      if (error instanceof LedgerError) return error.message;
      throw error;
    }
  };
  return { keep, close: opened.close };
}

/** A signal to a process group arrives twice: directly, and from the parent. */
const SAME_SIGNAL_MS = 1_000;

/** The first signal lets the canary clean up; the second one ends it where it is. */
function stopOnSignal(): AbortSignal {
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

export const gitlabCanaryCommand: Command = canaryCommandOn({
  ...{ open: openTableAccess, clock: machineClock, stop: stopOnSignal },
});

import { type Command, UsageError } from '../../terminal/command.ts';
import { readFlags, readWhole } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { hookKeyCourse } from './hook-key-course.ts';
import { signsHooks } from './instance-step.ts';
import { REAL_SETUP } from './setup-command.ts';
import {
  ADMIN_FLAGS,
  ADMIN_FLAGS_HELP,
  progressOn,
  readHookUrl,
  readPlace,
  type SetupDeps,
} from './setup-flags.ts';
import { refused } from './setup-line.ts';
import { exitOf, linesText } from './setup-text.ts';

const WAIT_MINUTES = 15;

export const hookKeyCommandOn = (deps: SetupDeps): Command => ({
  name: 'gitlab rotate-webhook-key',
  summary: 'Replaces the key that webhooks sign with: both are taken until every webhook has the new one',
  help: `tollgate gitlab rotate-webhook-key --gitlab <url> --token-file <file> --webhook-url <url> [flags]

Makes a new signing token (before GitLab 19.0 a secret token) and keeps it beside the old one; a quarter of an hour later, when
receivers take both, gives it to the webhook of every top-level group; another quarter of an hour later takes the old one away. No
delivery is refused meanwhile. Stopped at any point, or with something in the way, the same command goes on.

  --webhook-url <url>  where webhooks go (WebhookUrl of a deployment)
  --wait <minutes>     how long each of the two quarters is waited for, 0 to 60   (default: ${WAIT_MINUTES})
${ADMIN_FLAGS_HELP}

Exit codes: 0 rotated, 1 GitLab does not answer, 2 not yet: both keys are valid, 3 wrong usage`,
  run: async (args, io) => {
    const { values } = readFlags(args, { ...ADMIN_FLAGS, 'webhook-url': 'text', wait: 'text' });
    const minutes = values.wait === undefined ? WAIT_MINUTES : readWhole('wait', values.wait, 0, 60);
    const url = readHookUrl(values['webhook-url']);
    if (url === undefined) throw new UsageError('--webhook-url is missing: expected where webhooks go');
    const { place, ...course } = readPlace(values, io, deps);
    const metadata = await course.gitlab.metadata();
    const lines = metadata.ok
      ? await hookKeyCourse({
          ...course,
          url,
          signs: signsHooks(metadata.value.version),
          waitMs: minutes * 60_000,
          nowMs: io.nowMs,
          clock: deps.clock,
          progress: progressOn(io),
        })
      : [refused('version', metadata.refusal)];
    if (values.json) io.out(`${JSON.stringify({ gitlab: place.baseUrl, lines })}\n`);
    else io.out(linesText(lines, paintWhen(io.colours)));
    return exitOf(lines);
  },
});

export const rotateHookKeyCommand: Command = hookKeyCommandOn(REAL_SETUP);

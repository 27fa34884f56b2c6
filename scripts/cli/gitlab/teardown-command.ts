import { type Command, EXIT, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
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
import { type TeardownPlan, teardownCourse, teardownPlan } from './teardown-course.ts';

export const teardownCommandOn = (deps: SetupDeps): Command => ({
  name: 'gitlab teardown',
  summary:
    'Takes out of GitLab what setup made: disables the controller, removes webhooks, token and controller',
  help: `tollgate gitlab teardown --gitlab <url> --token-file <file> [flags]

Shows what it will remove and asks for the name of GitLab's host. Then: the controller is disabled, so that every job runs; webhooks go,
those with a secret that is kept in --secrets and those to --webhook-url; then its tokens, then the controller. Stopped at any point, the same command goes on.
Files and parameters with secrets stay: remove them yourself.

  --webhook-url <url>  removes webhooks to this address as well, whatever their secret
  --confirm <host>     the name of GitLab's host, where nobody can be asked; with --yes
  --yes                does not ask
${ADMIN_FLAGS_HELP}

Exit codes: 0 nothing is left, 1 GitLab does not answer, 2 refused or not confirmed, 3 wrong usage`,
  run: async (args, io) => {
    const { values } = readFlags(args, {
      ...ADMIN_FLAGS,
      'webhook-url': 'text',
      confirm: 'text',
      yes: 'switch',
    });
    const place = readPlace(values, io, deps);
    const course = { ...place, hooks: { url: readHookUrl(values['webhook-url']) }, progress: progressOn(io) };
    const { host } = new URL(place.place.baseUrl);
    if (values.yes && values.confirm !== host)
      throw new UsageError(`--yes: expected --confirm ${host} with it, so that the right GitLab is meant`);
    const plan = await teardownPlan(course);
    const paint = paintWhen(io.colours);
    const tell = (body: object, text: string): void =>
      io.out(values.json ? `${JSON.stringify({ gitlab: place.place.baseUrl, ...body })}\n` : text);
    if (!plan.ok) {
      const lines = [refused('controller', plan.refusal)];
      tell({ lines }, linesText(lines, paint));
      return exitOf(lines);
    }
    if (isEmpty(plan.value)) {
      tell({ lines: [] }, 'Nothing of Tollgate is left there.\n');
      return EXIT.ok;
    }
    if (!values.json) io.err(planText(plan.value));
    if (!values.yes) {
      const typed = await deps.askHost(`Type the name of GitLab's host (${host}) to remove all of it: `);
      if (typed === undefined)
        throw new UsageError(`nobody can be asked here; add --yes --confirm ${host} to remove all of it`);
      if (typed !== host) {
        io.err('Nothing was changed.\n');
        return EXIT.wouldReject;
      }
    }
    const lines = await teardownCourse(course, plan.value);
    tell({ lines }, linesText(lines, paint));
    return exitOf(lines);
  },
});

const isEmpty = ({ controllers, hooks }: TeardownPlan): boolean =>
  controllers.length === 0 && hooks.length === 0;

function planText({ controllers, tokenIds, hooks }: TeardownPlan): string {
  const groups = new Set(hooks.map(({ groupId }) => groupId)).size;
  return [
    'This goes, in this order:',
    ...controllers.map(
      ({ id, description, state }) =>
        `  controller ${id} "${printable(description)}", ${state}: disabled first, deleted last`,
    ),
    `  ${hooks.length} webhooks of ${groups} groups`,
    `  ${tokenIds.length} tokens of the controller`,
    '',
  ].join('\n');
}

export const teardownCommand: Command = teardownCommandOn(REAL_SETUP);

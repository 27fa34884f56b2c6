import type { Command } from '../../terminal/command.ts';
import { readFlags, readWhole } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { namedControllers } from './controller-step.ts';
import { rotateCourse } from './rotate-course.ts';
import { REAL_SETUP } from './setup-command.ts';
import { ADMIN_FLAGS, ADMIN_FLAGS_HELP, readPlace, type SetupDeps } from './setup-flags.ts';
import { refused, type SetupLine } from './setup-line.ts';
import { exitOf, linesText } from './setup-text.ts';

const WAIT_MINUTES = 15;

export const rotateCommandOn = (deps: SetupDeps): Command => ({
  name: 'gitlab rotate-token',
  summary: "Replaces the relays' token: makes one, waits until a relay uses it, revokes the old one",
  help: `tollgate gitlab rotate-token --gitlab <url> --token-file <file> [flags]

Makes a second token, puts it in the place of the first, waits until GitLab says that it was used, and only then revokes the first:
no relay is ever without a valid token. Stopped at any point, the same command goes on.

  --wait <minutes>     how long the first use is waited for, 0 to 60   (default: ${WAIT_MINUTES})
  --seen               you have seen the relays connect with the new token, on a GitLab before 18.10, which does not say
${ADMIN_FLAGS_HELP}

Exit codes: 0 rotated, 1 GitLab does not answer, 2 not yet: the old token is still valid, 3 wrong usage`,
  run: async (args, io) => {
    const { values } = readFlags(args, { ...ADMIN_FLAGS, wait: 'text', seen: 'switch' });
    const minutes = values.wait === undefined ? WAIT_MINUTES : readWhole('wait', values.wait, 0, 60);
    const place = readPlace(values, io, deps);
    const found = await namedControllers(place.gitlab, place);
    const lines = found.ok ? await rotated(found.value) : [refused('controller', found.refusal)];
    if (values.json) io.out(`${JSON.stringify({ gitlab: place.place.baseUrl, lines })}\n`);
    else io.out(linesText(lines, paintWhen(io.colours)));
    return exitOf(lines);

    async function rotated(
      controllers: Extract<typeof found, { ok: true }>['value'],
    ): Promise<readonly SetupLine[]> {
      const [controller, ...others] = controllers;
      if (controller === undefined || others.length > 0)
        return [
          {
            part: 'controller',
            standing: 'wrong',
            says: `GitLab has ${controllers.length} controllers called "${place.name}"`,
            remedy:
              controller === undefined ? 'tollgate gitlab setup makes it' : 'say which with --controller',
          },
        ];
      const { clock } = deps;
      return rotateCourse({ ...place, clock, waitMs: minutes * 60_000, seen: values.seen }, controller);
    }
  },
});

export const rotateTokenCommand: Command = rotateCommandOn(REAL_SETUP);

import type { ControllerEvidence, ReadResult } from '../../../functions/answers/health/evidence.ts';
import type { HealthFinding, HealthView } from '../../../functions/answers/health/model.ts';
import { readHealth } from '../../../functions/answers/health/read-health.ts';
import { systemClock } from '../../../functions/core/environment/index.ts';
import { GitLabError } from '../../../functions/core/gitlab/index.ts';
import { type Command, EXIT, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readFlags, readWhole } from '../../terminal/flags.ts';
import { type Paint, paintWhen, printable } from '../../terminal/paint.ts';
import { createRunnerControllers } from '../controller/runner-controllers.ts';
import { hasScope } from '../controller/standing.ts';
import { whichController } from '../controller/which-controller.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { openTableAccess } from '../ledger/open-ledger.ts';
import { checkSameGitLab } from '../ledger/which-instance.ts';
import { type GitLabPlace, readGitLabPlace } from '../truth/gitlab-flags.ts';

const FLAGS = { ...LEDGER_FLAGS, gitlab: 'text', 'token-file': 'text', controller: 'text' } as const;
const ATTEMPTS_MAX = 4;
const NO_TOKEN = 'GitLab was not asked: --gitlab <url> and --token-file <file>';

const HELP = `tollgate doctor [flags]

Is it really on, and does it really hold? Looks at what every part left in the table: relays and their descriptors, directory,
limits, the sweep, the nightly recount. With a token it asks GitLab for the controller, its scope and the time, too. One line for each thing looked
at, each with one cause and one remedy. Nothing is changed.

npm run doctor is about the other end: what a router sends, before anything is deployed.

${LEDGER_FLAGS_HELP}
  --gitlab <url>       GitLab, e.g. https://gitlab.example.com
  --token-file <file>  holds an administrator's token; scope read_api
  --controller <id>    number of the runner controller; not needed where GitLab has only one
  --json               all findings as one JSON object

Exit codes: 0 no problem, 1 the table does not answer at all, 2 problems found, 3 wrong usage`;

interface DoctorDeps {
  readonly open: typeof openTableAccess;
  readonly fetch: typeof fetch;
}

export const doctorCommandOn = (deps: DoctorDeps): Command => ({
  name: 'doctor',
  summary: 'Is it really on, does it really hold? Every part of a deployment, each with a remedy',
  help: HELP,
  run: async (args, io) => {
    const { values } = readFlags(args, FLAGS);
    const asked = values.gitlab !== undefined || values['token-file'] !== undefined;
    const place = asked ? readGitLabPlace(values, io) : undefined;
    const wanted =
      values.controller === undefined
        ? undefined
        : readWhole('controller', values.controller, 1, Number.MAX_SAFE_INTEGER);
    const { table, close, ...books } = await deps.open(values, io, ATTEMPTS_MAX);
    const { instance, description } = books;
    let health: HealthView;
    try {
      if (place !== undefined) checkSameGitLab(place.baseUrl, books, values);
      health = await readHealth({
        ...{ table, instance, random: Math.random },
        clock: { ...systemClock, nowMs: io.nowMs },
        controller: async () =>
          place === undefined ? { known: false, why: NO_TOKEN } : askGitLab(place, wanted, deps.fetch, io),
      });
    } finally {
      await close();
    }
    if (values.json) io.out(`${JSON.stringify({ instance, ledger: description, ...health })}\n`);
    else io.out(healthText(health, whereText(description, instance), paintWhen(io.colours)));
    return health.problems === 0 ? EXIT.ok : EXIT.wouldReject;
  },
});

export const doctorCommand: Command = doctorCommandOn({ open: openTableAccess, fetch });

async function askGitLab(
  { baseUrl, token }: GitLabPlace,
  wanted: number | undefined,
  send: typeof fetch,
  io: Pick<TerminalIo, 'nowMs'>,
): Promise<ReadResult<ControllerEvidence>> {
  let clockAheadMs: number | undefined;
  const controllers = createRunnerControllers({
    ...{ baseUrl, clock: systemClock },
    token: async () => token,
    fetch: async (...request) => {
      const answer = await send(...request);
      const date = Date.parse(answer.headers.get('date') ?? '');
      // Dates are whole seconds, cut off.
      if (!Number.isNaN(date)) clockAheadMs = date + 500 - io.nowMs();
      return answer;
    },
  });
  try {
    const controller = await whichController(controllers, wanted);
    const scopes = await controllers.scopes(controller.id);
    const version = await controllers.version();
    return {
      known: true,
      value: {
        state: controller.state,
        hasScope: hasScope(scopes),
        ...(version !== undefined && { version }),
        ...(clockAheadMs !== undefined && { clockAheadMs }),
      },
    };
  } catch (error) {
    if (error instanceof GitLabError || error instanceof UsageError)
      return { known: false, why: error.message };
    throw error;
  }
}

/** The local ledger says for whom it is by itself. */
const whereText = (ledger: string, instance: string): string =>
  ledger.endsWith(instance) ? ledger : `${ledger}, for ${instance}`;

const PAINTED: Readonly<Record<HealthFinding['severity'], keyof Paint>> = {
  ok: 'good',
  warning: 'warn',
  problem: 'bad',
  unknown: 'dim',
};

function healthText({ findings, problems }: HealthView, where: string, paint: Paint): string {
  const wide = Math.max(...findings.map(({ about }) => about.length));
  const lines = findings.flatMap(({ about, severity, text, remedy }) => [
    `${paint[PAINTED[severity]](severity.padEnd(7))}  ${about.padEnd(wide)}  ${printable(text)}`,
    ...(remedy === undefined ? [] : [`${' '.repeat(7 + 2 + wide + 2)}${paint.dim(`→ ${remedy}`)}`]),
  ]);
  const end = problems === 0 ? 'No problem found.' : `${problems} problem${problems === 1 ? '' : 's'} found.`;
  return `${printable(where)}\n\n${lines.join('\n')}\n\n${end}\n`;
}

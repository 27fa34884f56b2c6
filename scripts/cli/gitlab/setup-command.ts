/** `tollgate gitlab setup` and `status`: the same steps, to change GitLab or only to look. */
import { relative } from 'node:path';
import type { AdminController } from '../../../functions/core/gitlab/administration.ts';
import { shellWord } from '../../../policies/text/plain-text.ts';
import type { ExitCode, TerminalIo } from '../../terminal/command.ts';
import { command } from '../../terminal/define-command.ts';
import { toggle } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { setUpController, setUpScope, setUpToken } from './setup-controller.ts';
import { readSetup, SETUP_FLAGS } from './setup-flags.ts';
import { checkInstance, type InstanceFacts, signsHooks } from './setup-instance.ts';
import { exitOf, linesText, type Setup, SetupLines, type SetupMode } from './setup-step.ts';
import { setUpWebhooks } from './setup-webhooks.ts';

const EXITS = { 0: 'nothing is wrong', 1: 'GitLab does not answer', 2: 'something is wrong' };
const AT = 'tollgate gitlab setup --gitlab https://gitlab.example.com --token-file admin-token';

const gitlabSetup = command({
  name: 'gitlab setup',
  about: `Checks the version, the licence, the flags and the router. Makes or adopts the runner controller, in dry run. Makes its
token and puts it where the relays read it, without showing it. Gives the controller its scope, and every top-level group its
webhook. Existing settings stay. After an interruption, run the same command again: it continues. A token whose value was lost is
revoked and replaced.`,
  flags: { 'dry-run': toggle('shows what it would do, and changes nothing'), ...SETUP_FLAGS },
  examples: [`${AT} --dry-run`, `${AT} --webhook-url https://x.example.com/ --secrets ssm:/tollgate/prod`],
  exits: EXITS,
  run: async ({ flags }, io) => runSetup(flags, flags['dry-run'] ? 'plan' : 'change', io),
});

const gitlabStatus = command({
  name: 'gitlab status',
  about: `Reads everything that tollgate gitlab setup makes, webhooks that fail included, and changes nothing. With the same flags it
shows what that command would repair. A token of scope read_api is enough.`,
  flags: SETUP_FLAGS,
  examples: ['tollgate gitlab status --gitlab https://gitlab.example.com --token-file admin-token'],
  exits: EXITS,
  run: async ({ flags }, io) => runSetup(flags, 'look', io),
});

export const commands = [gitlabSetup, gitlabStatus];

async function runSetup(
  values: Parameters<typeof readSetup>[0] & { readonly json: boolean },
  mode: SetupMode,
  io: TerminalIo,
): Promise<ExitCode> {
  const setup = readSetup(values, mode, io);
  const lines = new SetupLines();
  const { controller, version, routerUrl, kasVersion } = await setUp(setup, lines);
  const gitlab = setup.place.baseUrl;
  if (values.json)
    io.out(
      `${JSON.stringify({ gitlab, mode, lines: lines.all, version, routerUrl, kasVersion, controller })}\n`,
    );
  else
    io.out(
      linesText(lines.all, paintWhen(io.colours)) +
        nextText(lines, setup, io, { gitlab, routerUrl, kasVersion, controller }),
    );
  return exitOf(lines.all);
}

/** Runs the steps in an order in which none needs a later one. A step that is refused stops those that need it. */
async function setUp(
  setup: Setup,
  lines: SetupLines,
): Promise<InstanceFacts & { readonly controller?: AdminController }> {
  const facts = await checkInstance(setup, lines);
  if (!facts.isUsable) return facts;
  // `null`: there is none yet, and the steps say what they would do.
  const found = await lines.step(async () => (await setUpController(setup, lines)) ?? null);
  const controller = found ?? undefined;
  if (found !== undefined) {
    await lines.step(() => setUpToken(setup, controller, lines));
    await lines.step(() => setUpScope(setup, controller, lines));
  }
  await lines.step(() => setUpWebhooks(setup, signsHooks(facts.version), lines));
  return { ...facts, ...(controller !== undefined && { controller }) };
}

interface NextFacts {
  readonly gitlab: string;
  readonly routerUrl: string | undefined;
  readonly kasVersion: string | undefined;
  readonly controller: AdminController | undefined;
}

/** Names what remains, or the next steps: two commands to the first decision. */
function nextText(
  { all }: SetupLines,
  { mode, store }: Setup,
  { cwd }: TerminalIo,
  { gitlab, routerUrl = '<router>', kasVersion, controller }: NextFacts,
): string {
  const wrong = all.filter(({ standing }) => standing === 'wrong').length;
  if (wrong > 0)
    return `${wrong === 1 ? '1 thing remains' : `${wrong} things remain`}; run this again when that is done.\n`;
  if (mode === 'look') return 'Nothing is wrong.\n';
  if (mode === 'plan') return 'Nothing was changed. The same without --dry-run does it.\n';
  if (store.kind === 'parameters')
    return 'All is set up. Once it is deployed, the same with --webhook-url makes the webhooks; then tollgate gitlab status\n';
  const place = store.place('router-token');
  const file = shellWord(relative(cwd, place.slice(place.indexOf(':') + 1)));
  return `All is set up: the controller is ${controller?.state ?? 'there'}. To the first decision:
  npm run proto:sync -- --ref ${kasVersion === undefined ? '<version of KAS>' : `v${kasVersion}`}
  npm start -- --router ${routerUrl} --gitlab ${gitlab} --token-file ${file} --proto relay/wire/gitlab.binpb
`;
}

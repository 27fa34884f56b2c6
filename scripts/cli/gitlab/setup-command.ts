/** `tollgate gitlab setup` and `status`: the same steps, to change GitLab or only to look. */
import { relative } from 'node:path';
import { shellWord } from '../../../policies/text/plain-text.ts';
import { EXIT, type ExitCode, type TerminalIo } from '../../terminal/command.ts';
import { command } from '../../terminal/define-command.ts';
import { toggle } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { setUpController, setUpScope, setUpToken } from './setup-controller.ts';
import { readSetup, SETUP_FLAGS, type Setup } from './setup-flags.ts';
import { checkInstance, signsHooks } from './setup-instance.ts';
import { exitOf, linesText, SetupLines } from './setup-step.ts';
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
  mode: 'change' | 'plan' | 'look',
  io: TerminalIo,
): Promise<ExitCode> {
  const setup = readSetup(values, mode === 'change', io);
  const lines = new SetupLines();
  const { all } = lines;
  const { controller, version, routerUrl, kasVersion } = await setUp(setup, lines);
  const gitlab = setup.place.baseUrl;
  const start = `npm run proto:sync -- --ref ${kasVersion === undefined ? '<version of KAS>' : `v${kasVersion}`}
  npm start -- --router ${routerUrl ?? '<router>'} --gitlab ${gitlab}`;
  const body = { gitlab, mode, lines: all, version, routerUrl, kasVersion, controller };
  if (values.json) io.out(`${JSON.stringify(body)}\n`);
  else io.out(linesText(all, paintWhen(io.colours)) + nextText(lines, mode, setup, start, io));
  return mode === 'look' && lines.has('missing') ? EXIT.wouldReject : exitOf(all);
}

/** Runs the steps in an order in which none needs a later one. A step that is refused stops those that need it. */
async function setUp(setup: Setup, lines: SetupLines) {
  const facts = await checkInstance(setup, lines);
  if (!facts.isUsable) return { ...facts, controller: undefined };
  // `null`: there is none yet, and the steps say what they would do.
  const found = await lines.step(async () => (await setUpController(setup, lines)) ?? null);
  const controller = found ?? undefined;
  if (found !== undefined) {
    await lines.step(() => setUpToken(setup, controller, lines));
    await lines.step(() => setUpScope(setup, controller, lines));
  }
  await lines.step(() => setUpWebhooks(setup, signsHooks(facts.version), lines));
  return { ...facts, controller };
}

/** Names the next step. @param start - the commands to the first decision, without the token */
function nextText(
  lines: SetupLines,
  mode: 'change' | 'plan' | 'look',
  { store }: Setup,
  start: string,
  { cwd }: TerminalIo,
): string {
  if (lines.has('wrong')) return 'Run this again when what is wrong is mended.\n';
  if (mode === 'plan') return 'Nothing was changed. The same without --dry-run makes what is missing.\n';
  if (mode === 'look')
    return lines.has('missing') ? 'tollgate gitlab setup makes what is missing.\n' : 'Nothing is wrong.\n';
  if (store.kind === 'parameters')
    return 'All is set up. Once it is deployed, the same with --webhook-url makes the webhooks; then tollgate gitlab status\n';
  const place = store.place('router-token');
  const file = shellWord(relative(cwd, place.slice(place.indexOf(':') + 1)));
  return `All is set up. To the first decision:
  ${start} --token-file ${file} --proto relay/wire/gitlab.binpb
`;
}

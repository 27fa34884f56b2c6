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

type Mode = 'change' | 'plan' | 'look';

/** Runs the steps in an order in which none needs a later one. A refused step stops those that need it. */
async function runSetup(
  flags: Parameters<typeof readSetup>[0] & { readonly json: boolean },
  mode: Mode,
  io: TerminalIo,
): Promise<ExitCode> {
  const setup = readSetup(flags, mode === 'change', io);
  const lines = new SetupLines();
  const { isUsable, ...facts } = await checkInstance(setup, lines);
  let controller: Awaited<ReturnType<typeof setUpController>>;
  if (isUsable) {
    await lines.step(async () => {
      controller = await setUpController(setup, lines);
      await lines.step(() => setUpToken(setup, controller, lines));
      await lines.step(() => setUpScope(setup, controller, lines));
    });
    await lines.step(() => setUpWebhooks(setup, signsHooks(facts.version), lines));
  }
  const body = { gitlab: setup.place.baseUrl, mode, lines: lines.all, ...facts, controller };
  if (flags.json) io.out(`${JSON.stringify(body)}\n`);
  else io.out(linesText(lines.all, paintWhen(io.colours)) + nextText(lines, mode, setup, facts, io.cwd));
  return mode === 'look' && lines.has('missing') ? EXIT.wouldReject : exitOf(lines.all);
}

function nextText(
  lines: SetupLines,
  mode: Mode,
  { store, place }: Setup,
  { kasVersion, routerUrl }: Omit<Awaited<ReturnType<typeof checkInstance>>, 'isUsable'>,
  cwd: string,
): string {
  if (lines.has('wrong')) return 'Run this again when what is wrong is mended.\n';
  if (mode === 'plan') return 'Nothing was changed. The same without --dry-run makes what is missing.\n';
  if (mode === 'look')
    return lines.has('missing') ? 'tollgate gitlab setup makes what is missing.\n' : 'Nothing is wrong.\n';
  if (store.kind === 'parameters')
    return 'All is set up. Once it is deployed, the same with --webhook-url makes the webhooks; then tollgate gitlab status\n';
  const token = store.place('router-token');
  const file = shellWord(relative(cwd, token.slice(token.indexOf(':') + 1)));
  const version = kasVersion === undefined ? '<version of KAS>' : `v${kasVersion}`;
  return `All is set up. To the first decision:
  npm run proto:sync -- --ref ${version}
  npm start -- --router ${routerUrl ?? '<router>'} --gitlab ${place.baseUrl} --token-file ${file} --proto relay/wire/gitlab.binpb
`;
}

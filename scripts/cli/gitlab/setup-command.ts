import { relative } from 'node:path';
import { shellWord } from '../../../policies/text/plain-text.ts';
import { EXIT, type ExitCode, type TerminalIo } from '../../terminal/command.ts';
import { command, print, toggle } from '../../terminal/define.ts';
import { setUpController, setUpScope, setUpToken } from './setup-controller.ts';
import { exitOf, linesText, readSetup, SETUP_FLAGS, type Setup, SetupLines } from './setup-flags.ts';
import { isAtLeast, setUpWebhooks, signsHooks } from './setup-webhooks.ts';

const EXITS = { 0: 'nothing is wrong', 1: 'GitLab does not answer', 2: 'something is wrong' };
const AT = 'tollgate gitlab setup --gitlab https://gitlab.example.com --token-file admin-token';

const gitlabSetup = command({
  name: 'gitlab setup',
  about: `Checks the version, the flags and the router. Makes or adopts the runner controller, in dry run. Makes its token and puts it
where the relays read it, without showing it. Gives the controller its scope, and every top-level group its webhook. Existing
settings stay. After an interruption, run the same command again: it continues. A token whose value was lost is revoked and
replaced. tollgate doctor judges licence and expiry.`,
  flags: { 'dry-run': toggle('shows what it would do, and changes nothing'), ...SETUP_FLAGS },
  examples: [`${AT} --dry-run`, `${AT} --webhook-url https://x.example.com/ --secrets ssm:/tollgate/prod`],
  exits: EXITS,
  run: async ({ flags }, io) => runSetup(flags, flags['dry-run'] ? 'plan' : 'change', io),
});

const gitlabStatus = command({
  name: 'gitlab status',
  about: `Changes nothing. With the same flags tollgate gitlab setup repairs what it shows. A token of scope read_api is enough.`,
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
  const facts = await lines.step(() => checkInstance(setup, lines));
  let controller: Awaited<ReturnType<typeof setUpController>>;
  if (facts !== undefined) {
    await lines.step(async () => {
      controller = await setUpController(setup, lines);
      await lines.step(() => setUpToken(setup, controller, lines));
      await lines.step(() => setUpScope(setup, controller, lines));
    });
    // If GitLab refused the controller, it only reads and stores no key.
    const mayChange = setup.mayChange && controller !== undefined;
    await lines.step(() => setUpWebhooks({ ...setup, mayChange }, signsHooks(facts.version), lines));
  }
  const body = { gitlab: setup.place.baseUrl, mode, lines: lines.all, ...facts, controller };
  print(io, flags, body, () => linesText(lines.all, io) + nextText(lines, mode, setup, facts, io.cwd));
  return mode === 'look' && lines.has('missing') ? EXIT.wouldReject : exitOf(lines.all);
}

const FLAGS: Readonly<Record<string, string>> = {
  job_router: 'jobs of runners of groups and projects',
  job_router_instance_runners: 'jobs of runners of the instance',
  job_router_admission_control: 'that the router asks at all',
};

/** Checks version, flags and router of the GitLab instance. Changes nothing. Absent facts: GitLab did not say. */
async function checkInstance({ gitlab }: Setup, lines: SetupLines) {
  const { version, kas } = lines.need('version', await gitlab.metadata());
  if (!isAtLeast(version, [18, 9]))
    throw lines.stop('version', `GitLab ${version} has no runner controllers`, 'upgrade it to 18.9 or newer');
  const proof = signsHooks(version)
    ? 'signs its webhooks'
    : 'cannot sign webhooks: they carry a secret token';
  lines.add('version', 'right', `GitLab ${version} ${proof}`);
  const [set, known] = [await gitlab.flags(), await gitlab.flagDefinitions()];
  if (!set.ok) lines.add('flags', 'unknown', set.refusal.says, set.refusal.remedy);
  for (const [name, what] of set.ok ? Object.entries(FLAGS) : []) {
    const isThis = (flag: { readonly name: string }): boolean => flag.name === name;
    const definition = known.ok ? known.value.find(isThis) : undefined;
    const byDefault = definition?.default_enabled === true ? 'on' : 'off';
    const state = (set.ok ? set.value.find(isThis)?.state : undefined) ?? byDefault;
    const remedy = `as an administrator: POST /api/v4/features/${name} with value=true`;
    if (state === 'on') lines.add('flags', 'right', `${name} is on`);
    else if (known.ok && definition === undefined && state === 'off')
      lines.add('flags', 'unknown', `${name} is no flag of this version: it is on, or not there yet`);
    else if (state === 'conditional')
      lines.add('flags', 'unknown', `${name} is on for some only (${what})`, remedy);
    else lines.add('flags', 'wrong', `${name} is off (${what})`, remedy);
  }
  // KAS is GitLab's agent server: its version names the descriptors.
  const [routerUrl, kasVersion] = [kas?.externalUrl ?? undefined, kas?.version ?? undefined];
  if (routerUrl === undefined)
    lines.add(
      'router',
      'wrong',
      'GitLab Relay (KAS), which has the job router, is off',
      "switch it on in GitLab's configuration: gitlab_kas['enable'] = true",
    );
  else if (kasVersion === undefined)
    lines.add('router', 'unknown', `the router is at ${routerUrl}, and GitLab cannot reach it`, 'is KAS up?');
  else lines.add('router', 'right', `the router is at ${routerUrl} (KAS ${kasVersion})`);
  return { version, routerUrl, kasVersion };
}

function nextText(
  lines: SetupLines,
  mode: Mode,
  { store, place }: Setup,
  facts: Awaited<ReturnType<typeof checkInstance>> | undefined,
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
  return `All is set up. To the first decision:
  npx tollgate gitlab descriptors --ref v${facts?.kasVersion ?? '<version of KAS>'}
  npm start -- --router ${facts?.routerUrl ?? '<router>'} --gitlab ${place.baseUrl} --token-file ${file} --proto gitlab.binpb
`;
}

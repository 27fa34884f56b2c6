import { instantText } from '../../../policies/text/edge-text.ts';
/** Lists and changes the GitLab instances of a table. Programs with another name refuse to work on it. */
import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { table as tableText } from '../../terminal/table.ts';
import { LEDGER_FLAGS } from '../ledger/ledger-flags.ts';
import { openRegister, type RegisterAccess } from '../ledger/open-ledger.ts';
import { rollupZone } from '../rollup-zone.ts';
import { forgetInstance } from './forget-instance.ts';

/** Opens a register; tests have one of their own. */
type OpenRegister = typeof openRegister;

const FLAGS = { ledger: LEDGER_FLAGS.ledger, region: LEDGER_FLAGS.region, endpoint: LEDGER_FLAGS.endpoint };
const FLAGS_HELP = `  --ledger <name>      local, the books of npm start on this machine (the default), or a DynamoDB table
  --region <region>    of the table           (default: as the AWS tools are set up)
  --endpoint <url>     of DynamoDB, e.g. http://127.0.0.1:8000 for DynamoDB Local

Exit codes: 0 done, 1 the table does not answer, 3 wrong usage`;

const LS_HELP = `tollgate instance ls [flags]

The GitLabs that this table has books of, by the names that begin their keys, with the address each answers at now.

${FLAGS_HELP}`;

const ADD_HELP = `tollgate instance add <host> [flags]

Lets a second GitLab begin books in a table that has those of another one. It begins with nothing: no limits, nothing spent.

Not for a GitLab whose host was renamed: its books stay under the old name. Set gitlab.instance in cdk/tollgate.config.ts to
that name, gitlab.url to the new address, and deploy.

${FLAGS_HELP}`;

const FORGET_HELP = `tollgate instance forget <host> [flags]

Takes a name back, for example one that a first deployment with a wrong address left behind. Books that were written under
it stay, and nobody finds them any more. The last name cannot be taken back.

${FLAGS_HELP}`;

/** As `gitlab.instance` of the settings. */
const HOST = /^[\w.-]{1,253}$/;

type Act = (opened: RegisterAccess, host: string, io: TerminalIo) => Promise<void>;

const command = (
  { name, summary, help }: Pick<Command, 'name' | 'summary' | 'help'>,
  withHost: boolean,
  open: OpenRegister,
  act: Act,
): Command => ({
  name,
  summary,
  help,
  async run(args, io): Promise<ExitCode> {
    const { values, words } = readFlags(args, FLAGS, { max: withHost ? 1 : 0, what: 'one host' });
    const [host = ''] = words;
    if (withHost && !HOST.test(host))
      throw new UsageError(`"${host}": expected a host, e.g. gitlab.example.com`);
    const opened = await open(values, io);
    try {
      await act(opened, host, io);
    } finally {
      await opened.close();
    }
    return EXIT.ok;
  },
});

export const instanceLsCommandOn = (open: OpenRegister): Command =>
  command(
    { name: 'instance ls', summary: 'Of which GitLabs does this table have books?', help: LS_HELP },
    false,
    open,
    async ({ register, description }, _, io) => {
      const known = await register.list();
      if (known.length === 0) {
        io.out(`${description} knows no GitLab yet: whoever writes first begins its books.\n`);
        return;
      }
      const rows = known.map(({ instance, gitlabUrl, openedAtMs }) => [
        instance,
        gitlabUrl ?? '–',
        openedAtMs === 0 ? '–' : instantText(openedAtMs, rollupZone(io)),
      ]);
      io.out(tableText([{}, {}, {}], [['Instance', 'Answers at', 'Last opened'], ...rows], io.columns));
    },
  );

export const addCommandOn = (open: OpenRegister): Command =>
  command(
    {
      name: 'instance add',
      summary: 'Lets a GitLab begin books of its own in a table that has those of another one',
      help: ADD_HELP,
    },
    true,
    open,
    async ({ register, description }, host, io) => {
      const known = await register.list();
      if (known.some(({ instance }) => instance === host))
        throw new UsageError(`${description} has books of ${host} already`);
      await register.remember({ instance: host, openedAtMs: io.nowMs() });
      io.out(
        `${description} takes books of ${host}, which begin empty. Programs find out within a minute.\n`,
      );
    },
  );

export const forgetCommandOn = (open: OpenRegister, forget: typeof forgetInstance): Command =>
  command(
    { name: 'instance forget', summary: 'Takes a name back that was added by mistake', help: FORGET_HELP },
    true,
    open,
    async ({ register, description, table }, host, io) => {
      const known = await register.list();
      const names = known.map(({ instance }) => instance);
      if (!names.includes(host))
        throw new UsageError(
          `${description} has no books of ${host}; it has those of ${names.join(' and ') || 'nobody'}`,
        );
      if (names.length === 1)
        throw new UsageError(
          `${host} is the only name; add the right one first: tollgate instance add <host>`,
        );
      await forget(host, table);
      io.out(`${description} does not know ${host} any more.\n`);
    },
  );

export const instanceLsCommand: Command = instanceLsCommandOn(openRegister);
export const addCommand: Command = addCommandOn(openRegister);
export const forgetCommand: Command = forgetCommandOn(openRegister, forgetInstance);

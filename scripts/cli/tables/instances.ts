import { REGISTER_TIMEOUT_MS } from '../../../functions/core/ledger/instances.ts';
import { deleteItem } from '../../../functions/core/store/calls.ts';
import { INSTANCES_PK } from '../../../functions/core/store/keys.ts';
import { type InstanceTable, TimeLimit } from '../../../functions/core/store/operation.ts';
import { answered, unavailable } from '../../../functions/core/store/table-failure.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { standIn, UsageError } from '../../terminal/command.ts';
import { command, print } from '../../terminal/define-command.ts';
import { word } from '../../terminal/flags.ts';
import { table as tableText } from '../../terminal/table.ts';
import { TABLE_FLAGS } from '../ledger-flags.ts';
import { openRegister, withOpened } from '../open-ledger.ts';
import { rollupZone } from '../rollup-zone.ts';

const { ledger, region, endpoint } = TABLE_FLAGS;
const FLAGS = { ledger, region, endpoint };
const HOST = word('<host>', 'as gitlab.instance of the settings, e.g. gitlab.example.com');
const HOST_FORM = /^[\w.-]{1,253}$/;

/** @throws {UsageError} */
function checkHost(host: string): void {
  if (!HOST_FORM.test(host)) throw new UsageError(`"${host}": expected a host, e.g. gitlab.example.com`);
}

const instanceLs = command({
  name: 'instance ls',
  about:
    'Lists the GitLab instances in this table, by the names that begin their keys, with the address of each.',
  flags: FLAGS,
  examples: ['tollgate instance ls --ledger tollgate-ledger'],
  run: ({ flags }, io) =>
    withOpened(openRegister, flags, io, async ({ register, description }) => {
      const instances = await register.list();
      return print(io, flags, { instances }, () => {
        if (instances.length === 0)
          return `${description} knows no GitLab yet: the first program that writes registers its own.\n`;
        const rows = instances.map(({ instance, gitlabUrl, openedAtMs }) => [
          instance,
          gitlabUrl ?? '–',
          openedAtMs === 0 ? '–' : instantText(openedAtMs, rollupZone(io)),
        ]);
        return tableText([{}, {}, {}], [['Instance', 'Answers at', 'Last opened'], ...rows], io.columns);
      });
    }),
});

const instanceAdd = command({
  name: 'instance add',
  about: `Registers a second GitLab in a table that has the ledger of another one. It begins empty. For a renamed GitLab set
gitlab.instance in cdk/tollgate.config.ts to the old host and gitlab.url to the new address instead.`,
  words: { host: HOST },
  flags: FLAGS,
  examples: ['tollgate instance add gitlab.example.com --ledger tollgate-ledger'],
  run: ({ flags, words: { host } }, io) => {
    checkHost(host);
    return withOpened(openRegister, flags, io, async ({ register, description }) => {
      const known = await register.list();
      if (known.some(({ instance }) => instance === host))
        throw new UsageError(`${description} has a ledger of ${host} already`);
      await register.remember({ instance: host, openedAtMs: io.nowMs() });
      const text = `${description} takes a ledger of ${host}, which begins empty. Programs notice within a minute.\n`;
      return print(io, flags, { added: host }, () => text);
    });
  },
});

const instanceForget = command({
  name: 'instance forget',
  about: 'Removes a name, for example one with a wrong address. Its items stay, and are not read any more.',
  words: { host: HOST },
  flags: FLAGS,
  examples: ['tollgate instance forget gitlab.wrong.example.com --ledger tollgate-ledger'],
  run: ({ flags, words: { host } }, io) => {
    checkHost(host);
    return withOpened(openRegister, flags, io, async ({ register, description, table }) => {
      const names = (await register.list()).map(({ instance }) => instance);
      if (!names.includes(host))
        throw new UsageError(
          `${description} has no ledger of ${host}; it has those of ${names.join(' and ') || 'none'}`,
        );
      if (names.length === 1)
        throw new UsageError(
          `${host} is the only name; add the right one first: tollgate instance add <host>`,
        );
      await standIn(io, forgetInstance)(host, table);
      return print(io, flags, { forgotten: host }, () => `${description} does not know ${host} any more.\n`);
    });
  },
});

/** Items under that name stay. No function may do this. @throws {LedgerError} `ledger_unavailable` */
export const forgetInstance = (instance: string, { table }: Pick<InstanceTable, 'table'>): Promise<void> =>
  answered('forget whose books these are', unavailable(table), () =>
    deleteItem(table, { pk: INSTANCES_PK, sk: instance }, new TimeLimit(REGISTER_TIMEOUT_MS)),
  );

export const commands = [instanceLs, instanceAdd, instanceForget];

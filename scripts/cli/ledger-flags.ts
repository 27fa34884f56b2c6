import { ENV_GITLAB_INSTANCE, ENV_ROLLUP_ZONE } from '../../functions/names.ts';
import { isZone } from '../../policies/limits/calendar.ts';
import { withoutAbsent } from '../../policies/without-absent.ts';
import { type TerminalIo, UsageError } from '../terminal/command.ts';
import { text } from '../terminal/define.ts';

export const TABLE_FLAGS = {
  ledger: text(
    '<name>',
    'the ledger: local, that of npm start on this machine (the default), or a DynamoDB table',
  ),
  instance: text(
    '<host>',
    `the GitLab the ledger is about (default: $${ENV_GITLAB_INSTANCE}, else the one the ledger remembers)`,
  ),
  region: text('<region>', 'of the table (default: as the AWS tools are set up)'),
  endpoint: text('<url>', 'of DynamoDB, e.g. http://127.0.0.1:8000 for DynamoDB Local'),
};

export const LEDGER_FLAGS = {
  ...TABLE_FLAGS,
  console: text(
    '<url>',
    'asks a console instead, after tollgate login (default: $TOLLGATE_CONSOLE, unless a ledger is named)',
  ),
};

export const LEDGER_EXITS = { 1: 'the ledger does not answer' } as const;

/** `gitlab`: the one that the command asks; it reads the books of no other. */
export type LedgerFlags = Readonly<Partial<Record<keyof typeof LEDGER_FLAGS | 'gitlab', string | undefined>>>;

export type LedgerPlace = ReturnType<typeof ledgerPlace>;

/** For commands that read no ledger unless one is named. @throws {UsageError} for a flag that describes a table. */
export function refuseTableFlags(flags: LedgerFlags): void {
  for (const flag of ['instance', 'region', 'endpoint'] as const) {
    if (flags[flag] !== undefined) throw new UsageError(`--${flag} "${flags[flag]}": belongs to --ledger`);
  }
}

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html */
const TABLE_NAME = /^[\w.-]{3,255}$/;

/** @throws {UsageError} naming the flag, the value and what would be right. */
export function ledgerPlace(flags: LedgerFlags, io: Pick<TerminalIo, 'env'>) {
  const { ledger = 'local', region, endpoint } = flags;
  // Naming both flags says that they are one GitLab.
  const gitlab = flags.instance === undefined ? flags.gitlab : undefined;
  if (flags.console !== undefined)
    throw new UsageError('--console: this command reads the table itself; expected --ledger <name>');
  if (flags.instance?.includes('#') || flags.instance?.includes('/'))
    throw new UsageError(`--instance "${flags.instance}": expected a host, e.g. gitlab.example.com`);
  if (ledger === 'local') {
    for (const [flag, value] of Object.entries({ region, endpoint })) {
      if (value !== undefined)
        throw new UsageError(`--${flag} "${value}": belongs to --ledger <DynamoDB table>`);
    }
    return { kind: 'local' as const, ...withoutAbsent({ instance: flags.instance, gitlab }) };
  }
  if (!TABLE_NAME.test(ledger))
    throw new UsageError(`--ledger "${ledger}": expected local or the name of a DynamoDB table`);
  const instance = flags.instance ?? (io.env[ENV_GITLAB_INSTANCE] || undefined);
  if (endpoint !== undefined && !URL.canParse(endpoint))
    throw new UsageError(`--endpoint "${endpoint}": expected a URL, e.g. http://127.0.0.1:8000`);
  return {
    kind: 'table' as const,
    tableName: ledger,
    ...withoutAbsent({ instance, gitlab, region, endpoint }),
  };
}

/** IANA zone of the deployment's days. @throws {UsageError} for what is no zone. */
export function rollupZone({ env }: Pick<TerminalIo, 'env'>): string {
  const zone = env[ENV_ROLLUP_ZONE] || 'UTC';
  if (isZone(zone)) return zone;
  throw new UsageError(`${ENV_ROLLUP_ZONE} "${zone}": expected an IANA zone such as Europe/Berlin`);
}

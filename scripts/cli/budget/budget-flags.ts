import { type Directory, pathKey } from '../../../policies/place/directory.ts';
import { UsageError } from '../../terminal/command.ts';
import type { Rights } from '../api/api-in-process.ts';
import { type OpenBudget, openBudget } from '../api/open-api.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { osUserName } from '../limits/change-flags.ts';
import { RULES_FLAGS } from '../rules-flags.ts';

/** Replaced by tests. */
export interface BudgetDeps {
  readonly open: OpenBudget;
  readonly userName: () => string | undefined;
}

export const BUDGET_DEPS: BudgetDeps = { open: openBudget, userName: osUserName };

/** Flags of every command that reads limits. */
export const BUDGET_FLAGS = { ...RULES_FLAGS, ...LEDGER_FLAGS } as const;
export const BUDGET_FLAGS_HELP = `  --policy <file>      the policy it is used with  (default: policies/policy.yaml of this project)
  --limits <file>      the limits as long as no set was ever published   (default: policies/limits.yaml)
  --directory <file>   groups and projects         (default: as synced from GitLab, else policies/directory.yaml)
${LEDGER_FLAGS_HELP}
  --json               one JSON object`;

/** Flags of every command that changes them. */
export const EDIT_FLAGS = {
  reason: 'text',
  actor: 'text',
  as: 'text',
  base: 'text',
  confirm: 'switch',
} as const;
export const EDIT_FLAGS_HELP = `  --reason <text>      why, for the change log (needed)
  --actor <name>       who changes it              (default: the user of this machine)
  --as <role>          admin (the default: whoever may write to the table may do everything), finance,
                       owner:<group> or viewer; with a weaker role the command refuses what that role may not do
  --base <set>         the set this is an edit of; refused if another is live   (default: whatever is live now;
                       none: no set was ever published, and this begins the first)
  --confirm            I have seen what the command asks to be confirmed`;

export const EDIT_EXITS =
  'Exit codes: 0 live, 1 the table does not answer (ask tollgate budget history), 2 refused or somebody else was first, 3 invalid';

const REASON_CHARACTERS_MAX = 500;
const ACTOR_CHARACTERS_MAX = 200;

interface WhoFlags {
  readonly actor?: string | undefined;
  readonly as?: string | undefined;
}

/** @throws {UsageError} without an actor. */
export function readActor({ actor }: WhoFlags, { userName }: Pick<BudgetDeps, 'userName'>): string {
  const name = (actor ?? userName() ?? '').trim();
  if (name === '' || name.length > ACTOR_CHARACTERS_MAX)
    throw new UsageError(`--actor: expected who does this, in at most ${ACTOR_CHARACTERS_MAX} characters`);
  return name;
}

/** @throws {UsageError} if it is missing or too long. */
export function readReason(reason: string | undefined, flag = 'reason'): string {
  const why = reason?.trim() ?? '';
  if (why === '' || why.length > REASON_CHARACTERS_MAX)
    throw new UsageError(`--${flag}: expected why, in at most ${REASON_CHARACTERS_MAX} characters`);
  return why;
}

/** @throws {UsageError} for what is no role, or a role of no group. */
export function readRights({ as }: WhoFlags, directory: Directory): Rights {
  if (as === undefined || as === 'admin') return [{ role: 'admin' }];
  if (as === 'finance') return [{ role: 'finance' }];
  if (as === 'viewer') return [{ role: 'viewer', groups: 'all' }];
  const [, word] = /^owner:(.+)$/.exec(as) ?? [];
  if (word === undefined)
    throw new UsageError(`--as "${as}": expected admin, finance, owner:<group> or viewer`);
  const group = directory.groupByPath.get(pathKey(word)) ?? directory.groupById.get(Number(word));
  if (group === undefined) throw new UsageError(`--as "${as}": the directory knows no group ${word}`);
  return [{ role: 'owner', groups: [group.id] }];
}

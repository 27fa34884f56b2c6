import { type InstanceTable, type Item, ledgerKeys, singleItem } from '../store/index.ts';

/**
 * Result of one of the two decisions at the real GitLab. `contrary`: GitLab did the opposite. `bypassed`:
 * the job ran without an admission request. `unreached`: the job got no decision, or failed for another
 * reason.
 */
export type ArmOutcome = 'proven' | 'contrary' | 'bypassed' | 'unreached';

/** Result of the last canary run. Arming reads it. */
export interface CanaryOutcome {
  /** Unix ms. */
  readonly checkedAtMs: number;
  readonly admitted: ArmOutcome;
  readonly rejected: ArmOutcome;
  /** Hash of the descriptors that the answers were written with. */
  readonly descriptors: string;
  /** E.g. `19.4.0-ee`. */
  readonly gitlabVersion: string;
  readonly runnerId: number;
  /** Absent: this GitLab was never made to wait. */
  readonly patience?: RouterPatience;
}

/** The measured router timeout. */
export interface RouterPatience {
  readonly waitedMs: number;
  /** It let go then; else it took the answer, and may have waited longer. */
  readonly gaveUp: boolean;
}

interface CanaryOutcomes {
  /** Absent: there was none yet. @throws {LedgerError} `ledger_unavailable` */
  read(): Promise<CanaryOutcome | undefined>;
  /** @throws {LedgerError} `ledger_unavailable`; it may or may not be written. */
  write(outcome: CanaryOutcome): Promise<void>;
}

const ARMS: readonly string[] = [
  'proven',
  'contrary',
  'bypassed',
  'unreached',
] satisfies readonly ArmOutcome[];
const isArm = (text: string | undefined): text is ArmOutcome => text !== undefined && ARMS.includes(text);

const CHECKED_AT = 'at';
const ADMITTED = 'ad';
const REJECTED = 're';
const DESCRIPTORS = 'dh';
const GITLAB_VERSION = 'gv';
const RUNNER = 'ru';
const WAITED_MS = 'wm';
const GAVE_UP = 'gu';

/** One item, replaced by each canary run. Only the operator's command may write it. */
export function dynamoCanaryOutcomes({ table, instance }: InstanceTable): CanaryOutcomes {
  const key = ledgerKeys(instance).canaryOutcome;
  const item = singleItem({ table, key, name: 'what the canary found', consistent: false });
  return {
    async read() {
      const found = await item.read();
      return found && decode(found);
    },
    write: (outcome) => item.write(encode(outcome)),
  };
}

const encode = (outcome: CanaryOutcome): Item => ({
  [CHECKED_AT]: { N: String(outcome.checkedAtMs) },
  [ADMITTED]: { S: outcome.admitted },
  [REJECTED]: { S: outcome.rejected },
  [DESCRIPTORS]: { S: outcome.descriptors },
  [GITLAB_VERSION]: { S: outcome.gitlabVersion },
  [RUNNER]: { N: String(outcome.runnerId) },
  ...(outcome.patience !== undefined && {
    [WAITED_MS]: { N: String(outcome.patience.waitedMs) },
    [GAVE_UP]: { BOOL: outcome.patience.gaveUp },
  }),
});

/** Returns undefined for an unknown format, which proves nothing. */
function decode(item: Item): CanaryOutcome | undefined {
  const [admitted, rejected] = [item[ADMITTED]?.S, item[REJECTED]?.S];
  if (!isArm(admitted) || !isArm(rejected)) return undefined;
  return {
    checkedAtMs: Number(item[CHECKED_AT]?.N ?? 0),
    admitted,
    rejected,
    descriptors: item[DESCRIPTORS]?.S ?? '',
    gitlabVersion: item[GITLAB_VERSION]?.S ?? '',
    runnerId: Number(item[RUNNER]?.N ?? 0),
    ...(item[WAITED_MS]?.N !== undefined && {
      patience: { waitedMs: Number(item[WAITED_MS].N), gaveUp: item[GAVE_UP]?.BOOL === true },
    }),
  };
}

/** The programs of a deployment as rows. It does not load the CDK, so that `npm run deploy` can add up their concurrency. */
import * as names from '../../functions/names.ts';
import type { ProgramName } from '../monitoring/series.ts';
import type { Settings } from '../settings/deployment.ts';
import { webhookConcurrency } from '../settings/settings.ts';
import type { LedgerUse } from './table-rights.ts';

export type KeyPattern = string | { readonly prefix: string };

export interface StreamReading {
  /** Only items with these sort keys come through; the others cost nothing. */
  readonly sortKeys: readonly KeyPattern[];
  /** And all items whose partition keys are like these. @default none */
  readonly partitions?: readonly KeyPattern[];
  readonly events: readonly ('INSERT' | 'MODIFY')[];
  readonly batchSize: number;
  readonly batchSeconds: number;
  /** Retries of a batch before it is given up. The program itself reports the failed items. */
  readonly retries: number;
  /** Older items are given up, so that the stream continues. Less than the day that a stream keeps. */
  readonly giveUpAfterHours: number;
}

export type Variables = Readonly<Record<string, string | undefined>>;

export interface ProgramRow {
  readonly id: string;
  /** @default 512, which buys CPU for cold starts */
  readonly memoryMiB?: number;
  readonly timeoutSeconds: number;
  /** @default 1 for what runs by the clock, which would do its work twice; else the account's rest */
  readonly concurrencyMax?: number;
  readonly isDeployed?: boolean;
  /** It calls GitLab: gets GitLab's address, and the network if GitLab is reached from inside only. */
  readonly callsGitLab?: boolean;
  readonly variables?: Variables;
  /** SecureStrings that it may read, by the variable that passes their name. */
  readonly secrets?: Variables;
  /** Paths of SecureStrings, one for each group that gave a token: `<path>/101`. */
  readonly secretPaths?: Variables;
  readonly use?: LedgerUse;
  /** @default true */
  readonly readsRules?: boolean;
  readonly notifies?: boolean;
  /** Interval, or the minute of each hour. The next run does the work of a missed or failed one. */
  readonly schedule?: { readonly everyMinutes: number } | { readonly minute: string };
  readonly stream?: StreamReading;
}

export function programRows(settings: Settings): Readonly<Record<ProgramName, ProgramRow>> {
  const { parameters, console, gitlab, notices } = settings;
  const exportsDecisions = settings.state.exportDays > 0;
  const controllerId = gitlab.controllerId === undefined ? undefined : String(gitlab.controllerId);
  const usageZone = { [names.ENV_ROLLUP_ZONE]: settings.usageZone };
  const gitlabToken = { [names.ENV_GITLAB_TOKEN_PARAMETER]: parameters.gitlabToken };
  return {
    admit: {
      id: 'Admit',
      // A relay waits at most 10 s; later work is useless.
      timeoutSeconds: 11,
      use: 'decide',
      variables: { [names.ENV_CONSOLE_URL]: console?.url },
    },
    /** Public, because GitLab cannot sign AWS requests: it checks GitLab's signature before it reads the body. */
    settle: {
      id: 'Settle',
      memoryMiB: 256,
      timeoutSeconds: 10,
      // Kept for webhooks, so that nothing else takes it, and no more, so that a flood costs no more.
      concurrencyMax: webhookConcurrency(settings.webhooks.jobsPerSecond),
      use: 'receive',
      readsRules: false,
      secrets: {
        [names.ENV_WEBHOOK_SECRETS_PARAMETER]: parameters.webhookSecrets,
        [names.ENV_WEBHOOK_TOKENS_PARAMETER]: parameters.webhookTokens,
      },
    },
    'settle-stream': {
      id: 'SettleStream',
      timeoutSeconds: 60,
      use: 'settle',
      stream: {
        sortKeys: [{ prefix: names.INBOX_SK }],
        events: ['INSERT'],
        batchSize: 100,
        // Halves the writes of counters.
        batchSeconds: 1,
        // A failure may be temporary (a throttled table). The sweep settles jobs that are given up here.
        retries: 20,
        giveUpAfterHours: 2,
      },
    },
    rollup: {
      id: 'Rollup',
      timeoutSeconds: 60,
      use: 'rollUp',
      notifies: true,
      variables: usageZone,
      stream: {
        sortKeys: [
          names.RECORD_SK,
          names.COUNTER_SK,
          ...(exportsDecisions ? [names.CLOSING_SK, { prefix: names.ENTRY_SK_PREFIX }] : []),
        ],
        ...(exportsDecisions && {
          partitions: [{ prefix: `${gitlab.instance}${names.LIMITS_PK_SUFFIX}` }],
        }),
        events: ['INSERT', 'MODIFY'],
        batchSize: 200,
        // Pages show figures of minutes ago, and a fuller batch writes each sum, list and exported object once:
        // this is the largest part of the cost of a job.
        batchSeconds: 300,
        // The recount counts what is given up here, so it may be less than the stream's day.
        retries: 200,
        giveUpAfterHours: 20,
      },
    },
    sweep: {
      id: 'Sweep',
      // A run takes 50 s at most and then ends what it began.
      timeoutSeconds: 90,
      callsGitLab: true,
      use: 'sweep',
      variables: {
        [names.ENV_CHARGE_UNKNOWN]: settings.chargeUnknown,
        [names.ENV_CONTROLLER_ID]: controllerId,
      },
      secrets: gitlabToken,
      schedule: { everyMinutes: 1 },
    },
    directory: {
      id: 'DirectorySync',
      // A run asks GitLab for 150 s at most, and writes after that.
      timeoutSeconds: 240,
      callsGitLab: true,
      use: 'keepDirectory',
      secrets: {
        ...gitlabToken,
        [names.ENV_HOOK_TOKEN_PARAMETER]: parameters.hookToken,
        // A GitLab that cannot sign gets a secret token.
        [names.ENV_WEBHOOK_SECRETS_PARAMETER]:
          parameters.hookToken && (parameters.webhookTokens ?? parameters.webhookSecrets),
      },
      schedule: { everyMinutes: 5 },
    },
    doctor: {
      id: 'Doctor',
      timeoutSeconds: 240,
      callsGitLab: true,
      use: 'examine',
      variables: {
        ...usageZone,
        [names.ENV_CONTROLLER_ID]: controllerId,
        [names.ENV_DESCRIPTORS_VERSION]: gitlab.descriptors.version,
      },
      secrets: gitlabToken,
      schedule: { minute: '41' },
    },
    drift: {
      id: 'DriftCheck',
      // Holds sums of some hundred thousand counters; the CPU reads several segments in parallel.
      memoryMiB: 1769,
      // Lambda's longest. Each run reads the part of the table that is due, and the next run goes on.
      timeoutSeconds: 900,
      use: 'recount',
      variables: usageZone,
      schedule: { minute: '8' },
    },
    'ssm-limits': {
      id: 'SsmLimits',
      memoryMiB: 1024,
      // A run begins no import after 200 s, and ends the one it has begun.
      timeoutSeconds: 290,
      use: 'takeLimits',
      variables: { [names.ENV_LIMITS_PATH]: limitsPath(settings) },
      // For parameters whose change events were lost.
      schedule: { everyMinutes: 5 },
    },
    requeue: {
      id: 'Requeue',
      timeoutSeconds: 90,
      isDeployed: parameters.requeueTokens !== undefined,
      callsGitLab: true,
      use: 'requeue',
      secretPaths: { [names.ENV_REQUEUE_TOKENS_PATH]: parameters.requeueTokens },
      schedule: { everyMinutes: 1 },
    },
    notices: {
      id: 'Notices',
      // 200 messages take ten seconds, the groups of a large instance as long, chats and merge requests twenty each.
      timeoutSeconds: 90,
      isDeployed: notices.everyMinutes > 0,
      callsGitLab: parameters.noteTokens !== undefined,
      use: 'notifyOwners',
      notifies: true,
      variables: usageZone,
      secrets: {
        [names.ENV_APPROVAL_KEY_PARAMETER]: console && parameters.approvalKey,
        [names.ENV_CHAT_WEBHOOKS_PARAMETER]: parameters.chatWebhooks,
      },
      secretPaths: { [names.ENV_NOTE_TOKENS_PATH]: parameters.noteTokens },
      schedule: { everyMinutes: notices.everyMinutes || 1 },
    },
    /** Public, because browsers cannot sign AWS requests. Without sign-in it serves the sign-in page, a style sheet and errors. */
    console: {
      id: 'Console',
      timeoutSeconds: 15,
      // At 100 ms each this is a hundred pages a second. More is a flood, which must not cost more than this.
      concurrencyMax: 10,
      isDeployed: console !== undefined,
      callsGitLab: true,
      use: 'serveConsole',
      notifies: true,
      variables: {
        ...usageZone,
        [names.ENV_SIGNIN_CLIENT_ID]: console?.clientId,
        [names.ENV_SIGNIN_DEVICE_CLIENT_ID]: console?.deviceClientId,
        [names.ENV_ADMIN_GROUP_ID]: console && String(console.adminGroupId),
        [names.ENV_FINANCE_GROUP_ID]: console && String(console.financeGroupId),
        [names.ENV_OWNERS_FROM]: console?.ownersFrom,
        [names.ENV_VIEWERS_FROM]: console?.viewersFrom,
        [names.ENV_TRUSTED_PROXIES]: console?.trustedProxies.join(',') || undefined,
      },
      secrets: {
        [names.ENV_APPROVAL_KEY_PARAMETER]: parameters.approvalKey,
        [names.ENV_SIGNIN_SECRET_PARAMETER]: parameters.signInSecret,
        [names.ENV_GITLAB_TOKEN_PARAMETER]: parameters.consoleToken,
      },
    },
    /** Disarms the controller if no relay sent a heartbeat for two minutes. It is separate because it serves when others fail. */
    watchdog: {
      id: 'Watchdog',
      memoryMiB: 256,
      // 12 s to read GitLab's state, 5 s to change it, the rest for the table and the page.
      timeoutSeconds: 45,
      isDeployed: settings.watchdog && controllerId !== undefined,
      callsGitLab: true,
      variables: {
        [names.ENV_CONTROLLER_ID]: controllerId,
        [names.ENV_DISARM_AFTER_FAILED_JOB]: settings.disarmAfterFailedJob ? 'yes' : undefined,
      },
      secrets: { [names.ENV_CONTROLLER_TOKEN_PARAMETER]: parameters.controllerToken },
      schedule: { everyMinutes: 1 },
    },
  };
}

/** Parameters right below it have limits: `/tollgate/prod/limits`. */
export const limitsPath = ({ stage }: Settings): string => `/tollgate/${stage}/limits`;

/** A scheduled program runs once at a time, because a second run would do its work twice. */
export const concurrencyOf = ({ schedule, concurrencyMax }: ProgramRow): number | undefined =>
  schedule === undefined ? concurrencyMax : 1;

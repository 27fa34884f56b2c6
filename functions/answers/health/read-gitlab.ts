import { withoutAbsent } from '../../../policies/without-absent.ts';
import { atOnce } from '../../core/environment/environment.ts';
import type { AdminAnswer } from '../../core/gitlab/admin-calls.ts';
import {
  type AdminController,
  CANARY_DESCRIPTION,
  createGitLabAdministration,
  type GitLabAdministration,
  type GroupHook,
} from '../../core/gitlab/administration.ts';
import { groupHookUrl } from '../../core/gitlab/group-hooks.ts';
import type { RestCallDeps } from '../../core/gitlab/rest-call.ts';
import { WEBHOOK_PATH } from '../../names.ts';
import type { ReadResult, Unread } from './evidence.ts';

interface GitLabHealthDeps {
  readonly calls: RestCallDeps;
  /** Undefined: the only one there is. */
  readonly controllerId: number | undefined;
  /** Address of webhooks. Undefined: any address with Tollgate's path. */
  readonly webhookUrl: string | undefined;
}

/** A look is repeated: it does not wait for as long as GitLab would like it to. */
const WAIT_MS_MAX = 1_000;
const AT_ONCE = 4;
/** Two calls for each group; what is left is counted. */
const WEBHOOKS_MS_MAX = 120_000;
const FAILED_DELIVERIES = 3;

export interface BrokenWebhook {
  readonly group: string;
  /** `off`: it does not send job events; `rewritten`: a template changes what it sends. */
  readonly state: 'missing' | 'off' | 'disabled' | 'failing' | 'rewritten';
}

export type GitLabEvidence = Awaited<ReturnType<typeof readParts>> & {
  /** GitLab's clock less ours, ms. */
  readonly gitlabAheadMs: ReadResult<number>;
};

export const gitlabUnknown = (why: string, cause?: Unread['cause']): GitLabEvidence => {
  const unread: Unread = { known: false, why, ...withoutAbsent({ cause }) };
  return {
    ...{ accessToken: unread, gitlabVersion: unread, licence: unread, controller: unread },
    ...{ controllerTokens: unread, webhooks: unread, gitlabAheadMs: unread },
  };
};

/**
 * Reads GitLab's side of the set-up; refusals are values. @throws {Error} if the address is not plain http
 * or https.
 */
export async function readGitLabHealth(deps: GitLabHealthDeps): Promise<GitLabEvidence> {
  const { clock, fetch } = deps.calls;
  let gitlabAheadMs: ReadResult<number> = { known: false, why: 'its answers have no date' };
  const gitlab = createGitLabAdministration({
    ...deps.calls,
    clock: {
      nowMs: () => clock.nowMs(),
      monotonicMs: () => clock.monotonicMs(),
      sleep: (delayMs) => clock.sleep(Math.min(delayMs, WAIT_MS_MAX)),
    },
    fetch: async (...request) => {
      const answer = await fetch(...request);
      const date = Date.parse(answer.headers.get('date') ?? '');
      // Dates are whole seconds, cut off.
      if (!Number.isNaN(date)) gitlabAheadMs = { known: true, value: date + 500 - clock.nowMs() };
      return answer;
    },
  });
  const self = await gitlab.self();
  // The other reads would fail as well.
  const isRefused = !self.ok && (self.refusal.code === 'unauthorised' || self.refusal.code === 'unavailable');
  const parts = isRefused
    ? gitlabUnknown(self.refusal.says, self.refusal.code)
    : await readParts(self, gitlab, deps);
  return { ...parts, gitlabAheadMs };
}

async function readParts(
  self: Awaited<ReturnType<GitLabAdministration['self']>>,
  gitlab: GitLabAdministration,
  deps: GitLabHealthDeps,
) {
  const [metadata, licence, controller] = await Promise.all([
    gitlab.metadata(),
    gitlab.licence(),
    readController(deps.controllerId, gitlab),
  ]);
  return {
    /** The token in use; without `expiresAtMs` it does not expire. */
    accessToken: read(self, ({ active, expires_at }) => ({ active, ...expiry(expires_at) })),
    gitlabVersion: read(metadata, ({ version }) => version),
    licence: read(licence, (found) =>
      found == null
        ? undefined
        : { plan: found.plan, expired: found.expired ?? false, ...expiry(found.expires_at) },
    ),
    ...controller,
    webhooks: await readWebhooks(gitlab, deps),
  };
}

const expiry = (day: string | null | undefined): { readonly expiresAtMs?: number } =>
  day == null ? {} : { expiresAtMs: Date.parse(day) };

const read = <Sent, Value>(answer: AdminAnswer<Sent>, pick: (sent: Sent) => Value): ReadResult<Value> =>
  answer.ok
    ? { known: true, value: pick(answer.value) }
    : { known: false, why: answer.refusal.says, cause: answer.refusal.code };

async function readController(wanted: number | undefined, gitlab: GitLabAdministration) {
  const all = read(await gitlab.controllers(), (found) =>
    found.filter(({ description }) => description !== CANARY_DESCRIPTION),
  );
  if (!all.known) return { controller: all, controllerTokens: all };
  const ours = all.value;
  const id = wanted ?? (ours.length === 1 ? ours[0]?.id : undefined);
  if (id === undefined || !ours.some((each) => each.id === id)) {
    const unread = controllerMissing(id, ours);
    return { controller: unread, controllerTokens: unread };
  }
  const [controller, scopes, tokens] = await Promise.all([
    gitlab.controller(id),
    gitlab.scopes(id),
    gitlab.tokens(id),
  ]);
  const hasScope = read(
    scopes,
    ({ instance_level_scopings, runner_level_scopings = [] }) =>
      instance_level_scopings.length + runner_level_scopings.length > 0,
  );
  return {
    controller: hasScope.known
      ? read(controller, ({ id, state, connected }) => ({
          ...{ id, state, hasScope: hasScope.value, others: othersEnabled(ours, id) },
          ...withoutAbsent({ connected }),
        }))
      : hasScope,
    controllerTokens: read(tokens, (found) => found.map(({ createdAtMs }) => ({ createdAtMs }))),
  };
}

/** GitLab asks all enabled controllers, and runs a job that all of them admit. @returns their ids and names */
export const othersEnabled = (controllers: readonly AdminController[], ours: number): readonly string[] =>
  controllers.flatMap(({ id, description, state }) =>
    id !== ours && state === 'enabled' && description !== CANARY_DESCRIPTION
      ? [`${id} "${description}"`]
      : [],
  );

function controllerMissing(id: number | undefined, ours: readonly AdminController[]): Unread {
  const there = ours.map((each) => `${each.id} "${each.description}" ${each.state}`).join(', ');
  if (id === undefined && ours.length > 0)
    return { known: false, why: `--controller is needed: GitLab has ${there}` };
  const missing = id === undefined ? 'runner controller' : `controller ${id}`;
  return { known: false, cause: 'absent', why: `GitLab has no ${missing}: it has ${there || 'none'}` };
}

/** Counts top-level groups that were looked at, and those that were not: GitLab did not say, or time ran out. */
async function readWebhooks(
  gitlab: GitLabAdministration,
  { calls: { clock }, webhookUrl }: GitLabHealthDeps,
) {
  const roots = read(await gitlab.topLevelGroups(), (groups) => groups);
  if (!roots.known) return roots;
  const untilMs = clock.monotonicMs() + WEBHOOKS_MS_MAX;
  const broken: BrokenWebhook[] = [];
  let refused: Unread | undefined;
  let looked = 0;
  await atOnce(roots.value, AT_ONCE, async ({ id, full_path: group }) => {
    // A token that may not read one group's hooks may read none.
    if (refused?.cause === 'forbidden' || clock.monotonicMs() >= untilMs) return;
    const ours = read(await gitlab.hooks(id), (hooks) =>
      hooks.find(({ url }) =>
        webhookUrl === undefined
          ? URL.parse(url)?.pathname.endsWith(groupHookUrl(WEBHOOK_PATH, id)) === true
          : url === groupHookUrl(webhookUrl, id),
      ),
    );
    if (!ours.known) {
      refused = ours;
      return;
    }
    looked += 1;
    const state = await findWebhookFault(ours.value, id, gitlab);
    if (state !== undefined) broken.push({ group, state });
  });
  if (looked === 0 && refused !== undefined) return refused;
  const unread = roots.value.length - looked;
  return { known: true as const, value: { groups: looked, unread, broken } };
}

/** Undefined: it is correct, or unknown. */
async function findWebhookFault(
  hook: GroupHook | undefined,
  groupId: number,
  gitlab: Pick<GitLabAdministration, 'deliveries'>,
): Promise<BrokenWebhook['state'] | undefined> {
  if (hook === undefined) return 'missing';
  if (!hook.job_events) return 'off';
  if (hook.custom_webhook_template !== '') return 'rewritten';
  if (hook.alert_status !== undefined && hook.alert_status !== 'executable') return 'disabled';
  const sent = await gitlab.deliveries(groupId, hook.id);
  const newest = sent.ok ? sent.value.slice(0, FAILED_DELIVERIES) : [];
  const fails = newest.every(({ response_status }) => !/^[23]/.test(response_status));
  return newest.length === FAILED_DELIVERIES && fails ? 'failing' : undefined;
}

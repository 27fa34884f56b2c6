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
import type { BrokenWebhookEvidence, GitLabEvidence, ReadResult, WebhooksEvidence } from './evidence.ts';

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
/** As many in a row that failed are no bad luck. */
const FAILED_DELIVERIES = 3;

/** Evidence without access to GitLab. */
export const gitlabUnknown = (why: string, cause?: 'no_token'): GitLabEvidence => {
  const unasked: Extract<ReadResult<never>, { known: false }> = {
    ...{ known: false, why },
    ...(cause !== undefined && { cause }),
  };
  return {
    accessToken: unasked,
    gitlabVersion: unasked,
    licence: unasked,
    controller: unasked,
    controllerTokens: unasked,
    webhooks: unasked,
    gitlabAheadMs: unasked,
  };
};

/**
 * Reads GitLab's side of the set-up; refusals are values. @throws {Error} if the address is not plain http
 * or https.
 */
export async function readGitLabHealth(deps: GitLabHealthDeps): Promise<GitLabEvidence> {
  const { clock } = deps.calls;
  let aheadMs: number | undefined;
  const gitlab = createGitLabAdministration({
    ...deps.calls,
    clock: {
      nowMs: () => clock.nowMs(),
      monotonicMs: () => clock.monotonicMs(),
      sleep: (delayMs) => clock.sleep(Math.min(delayMs, WAIT_MS_MAX)),
    },
    fetch: async (...request) => {
      const answer = await deps.calls.fetch(...request);
      const date = Date.parse(answer.headers.get('date') ?? '');
      // Dates are whole seconds, cut off.
      if (!Number.isNaN(date)) aheadMs = date + 500 - clock.nowMs();
      return answer;
    },
  });
  const self = await gitlab.self();
  const said = (): GitLabEvidence['gitlabAheadMs'] =>
    aheadMs === undefined
      ? { known: false, why: 'its answers have no date' }
      : { known: true, value: aheadMs };
  if (!self.ok && (self.refusal.code === 'unauthorised' || self.refusal.code === 'unavailable')) {
    // The other reads would fail as well.
    const refused = read(self, (value): never => value as never);
    return {
      accessToken: refused,
      gitlabVersion: refused,
      licence: refused,
      controller: refused,
      controllerTokens: refused,
      webhooks: refused,
      gitlabAheadMs: said(),
    };
  }
  const [metadata, licence, controller] = await Promise.all([
    gitlab.metadata(),
    gitlab.licence(),
    readController(deps.controllerId, gitlab),
  ]);
  const webhooks = await readWebhooks(gitlab, deps);
  return {
    accessToken: read(self, ({ active, expires_at }) => ({ active, ...expiry(expires_at) })),
    gitlabVersion: read(metadata, ({ version }) => version),
    licence: read(licence, (found) =>
      found == null
        ? undefined
        : { plan: found.plan, expired: found.expired ?? false, ...expiry(found.expires_at) },
    ),
    ...controller,
    webhooks,
    gitlabAheadMs: said(),
  };
}

const expiry = (day: string | null | undefined): { readonly expiresAtMs?: number } =>
  day == null ? {} : { expiresAtMs: Date.parse(day) };

function read<Said, Value>(answer: AdminAnswer<Said>, told: (said: Said) => Value): ReadResult<Value> {
  return answer.ok
    ? { known: true, value: told(answer.value) }
    : { known: false, why: answer.refusal.says, cause: answer.refusal.code };
}

async function readController(
  wanted: number | undefined,
  gitlab: GitLabAdministration,
): Promise<Pick<GitLabEvidence, 'controller' | 'controllerTokens'>> {
  const all = await gitlab.controllers();
  const both = (unread: Extract<ReadResult<never>, { known: false }>) => ({
    controller: unread,
    controllerTokens: unread,
  });
  if (!all.ok) return both({ known: false, why: all.refusal.says, cause: all.refusal.code });
  const ours = all.value.filter(({ description }) => description !== CANARY_DESCRIPTION);
  const asked = wanted ?? (ours.length === 1 ? ours[0]?.id : undefined);
  if (asked === undefined)
    return both(
      ours.length === 0
        ? { known: false, why: 'GitLab has no runner controller', cause: 'absent' }
        : { known: false, why: `nobody said which one: GitLab has ${namesOf(ours)}` },
    );
  if (!ours.some(({ id }) => id === asked))
    return both({
      ...{ known: false, cause: 'absent' },
      why: `GitLab has no controller ${asked}: it has ${namesOf(ours)}`,
    });
  const [controller, scopes, tokens] = await Promise.all([
    gitlab.controller(asked),
    gitlab.scopes(asked),
    gitlab.tokens(asked),
  ]);
  return {
    controller: scopes.ok
      ? read(controller, ({ id, state, connected }) => ({
          ...{ id, state },
          hasScope:
            scopes.value.instance_level_scopings.length > 0 ||
            (scopes.value.runner_level_scopings ?? []).length > 0,
          ...withoutAbsent({ connected }),
        }))
      : { known: false, why: scopes.refusal.says, cause: scopes.refusal.code },
    controllerTokens: read(tokens, (found) => found.map(({ createdAtMs }) => ({ createdAtMs }))),
  };
}

const namesOf = (controllers: readonly AdminController[]): string =>
  controllers.length === 0
    ? 'none'
    : controllers.map(({ id, description, state }) => `${id} "${description}" ${state}`).join(', ');

async function readWebhooks(
  gitlab: GitLabAdministration,
  { calls: { clock }, webhookUrl }: GitLabHealthDeps,
): Promise<ReadResult<WebhooksEvidence>> {
  const roots = await gitlab.topLevelGroups();
  if (!roots.ok) return { known: false, why: roots.refusal.says, cause: roots.refusal.code };
  const untilMs = clock.monotonicMs() + WEBHOOKS_MS_MAX;
  const isOurs = ({ url }: GroupHook, groupId: number): boolean =>
    webhookUrl === undefined
      ? URL.parse(url)?.pathname.endsWith(groupHookUrl(WEBHOOK_PATH, groupId)) === true
      : url === groupHookUrl(webhookUrl, groupId);
  const broken: BrokenWebhookEvidence[] = [];
  let refused: Extract<ReadResult<never>, { known: false }> | undefined;
  let looked = 0;
  await atOnce(roots.value, AT_ONCE, async ({ id, full_path: group }) => {
    // A token that may not read one group's hooks may read none.
    if (refused?.cause === 'forbidden' || clock.monotonicMs() >= untilMs) return;
    const hooks = await gitlab.hooks(id);
    if (!hooks.ok) {
      refused = { known: false, why: hooks.refusal.says, cause: hooks.refusal.code };
      return;
    }
    looked += 1;
    const ours = hooks.value.find((hook) => isOurs(hook, id));
    const standing = await standingOf(ours, id, gitlab);
    if (standing !== undefined) broken.push({ group, standing });
  });
  if (looked === 0 && refused !== undefined) return refused;
  return { known: true, value: { groups: looked, unread: roots.value.length - looked, broken } };
}

/** Undefined: it is correct, or unknown. */
async function standingOf(
  hook: GroupHook | undefined,
  groupId: number,
  gitlab: Pick<GitLabAdministration, 'deliveries'>,
): Promise<BrokenWebhookEvidence['standing'] | undefined> {
  if (hook === undefined) return 'missing';
  if (!hook.job_events) return 'off';
  if (hook.custom_webhook_template !== '') return 'rewritten';
  if (hook.alert_status !== undefined && hook.alert_status !== 'executable') return 'disabled';
  const sent = await gitlab.deliveries(groupId, hook.id);
  const newest = sent.ok ? sent.value.slice(0, FAILED_DELIVERIES) : [];
  const fails = ({ response_status }: { readonly response_status: string }) => !/^[23]/.test(response_status);
  return newest.length === FAILED_DELIVERIES && newest.every(fails) ? 'failing' : undefined;
}

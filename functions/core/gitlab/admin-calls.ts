import { z } from 'zod';
import { GitLabError } from './gitlab.ts';
import {
  nextPage,
  pageQuery,
  type RestAnswer,
  type RestCallDeps,
  restCall,
  restOnce,
  retryWhenLimited,
  unreadFields,
} from './rest-call.ts';

/** The subject of a call, if a status means something special there. */
type AdminTopic = 'controllers' | 'scopes' | 'webhooks' | 'deliveries' | 'pipelines' | 'other';

export interface AdminRefusal {
  readonly code:
    | 'unauthorised'
    | 'forbidden'
    | 'absent'
    | 'conflict'
    | 'invalid'
    | 'rate_limited'
    | 'unavailable'
    | 'unreadable';
  readonly says: string;
  readonly remedy: string;
}

export type AdminAnswer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: AdminRefusal };

type Words = readonly [says: string, remedy: string];

const TOPIC_WORDS: Readonly<Record<string, Words>> = {
  'controllers absent': [
    'GitLab has no runner controllers here, or none of this number',
    'they need GitLab 18.9 or newer and an Ultimate licence; if it has both, check the number of the controller',
  ],
  'scopes absent': [
    'GitLab knows no such controller, runner or kind of scope',
    'scopes of single runners need GitLab 18.10; check the numbers, and that the licence is Ultimate',
  ],
  'scopes conflict': [
    'the controller has a scope already that excludes this one',
    'a controller has the whole instance or single runners, never both: remove one (glab runner-controller scope delete)',
  ],
  'scopes invalid': [
    'GitLab takes no such runner',
    'only runners of the instance can be scoped, none of a group or project',
  ],
  'webhooks absent': [
    'GitLab has no webhooks of groups here, or the group is gone',
    'they need a Premium or Ultimate licence; check that the group still exists',
  ],
  'webhooks invalid': [
    'GitLab takes no such webhook',
    'check its address; for one in the local network an administrator allows "requests to the local network from webhooks"; a group has 50 webhooks at most',
  ],
  'deliveries invalid': [
    'the receiver did not answer with success, or the group has no job to send',
    'look at the webhook’s recent events in GitLab and at the log of the receiver',
  ],
  'pipelines invalid': [
    'GitLab starts no pipeline there',
    'the .gitlab-ci.yml of the default branch needs jobs for pipelines of source api: docs/platform.md has them',
  ],
};
const WORDS: Readonly<Record<Exclude<AdminRefusal['code'], 'unavailable'>, Words>> = {
  unauthorised: ['GitLab does not take the token', 'it is wrong, revoked or expired: make another one'],
  forbidden: [
    'GitLab does not let the token do this',
    "it needs an administrator's token of scope api, with admin_mode where Admin Mode is on; to look, read_api is enough",
  ],
  absent: ['GitLab has nothing there', "check the number or path, and GitLab's address and version"],
  conflict: ['another user changed the same', 'run the command again'],
  invalid: ['GitLab does not take what was sent', 'is this GitLab newer than Tollgate knows?'],
  rate_limited: [
    'GitLab asks to wait, again and again',
    'run the command again later; GITLAB_THROTTLE_USER_ALLOWLIST frees a user of limits',
  ],
  unreadable: [
    'the answer is not what GitLab documents',
    "check GitLab's address, which must be the one of the web pages, without /api/v4, and its version",
  ],
};

const CODES: Readonly<Record<number, keyof typeof WORDS>> = {
  ...{ 401: 'unauthorised', 403: 'forbidden', 404: 'absent', 405: 'absent', 409: 'conflict' },
  ...{ 400: 'invalid', 412: 'invalid', 422: 'invalid', 429: 'rate_limited' },
};

interface AdminCall {
  readonly topic: AdminTopic;
  readonly call: string;
  readonly baseUrl: string;
}

function describeStatus({ topic, call, baseUrl }: AdminCall, status: number): AdminRefusal {
  const code = CODES[status] ?? 'unreadable';
  const [says, remedy] = TOPIC_WORDS[`${topic} ${code}`] ?? WORDS[code];
  return { code, says: `${says} (${call} at ${baseUrl}: ${status})`, remedy };
}

function describeFailure(made: AdminCall, { code, status, says }: GitLabError): AdminRefusal {
  if (code === 'gitlab_unavailable')
    return { code: 'unavailable', says, remedy: 'run the command again: it goes on where it stopped' };
  if (status !== undefined && status >= 400) return describeStatus(made, status);
  const as = code === 'gitlab_refused' ? 'unauthorised' : 'unreadable';
  return { code: as, says, remedy: WORDS[as][1] };
}

/** A person waits, who would only run the command again. GitLab's limiter for single routes names no time: it counts by the minute. */
const PATIENCE = { waitMs: 60_000, waitMsMax: 120_000, waitsMax: 6 };
/** Idempotent calls may be repeated: a state that is set, an item that is deleted. */
const REPEATS_MAX = 3;
const REPEAT_MS = 1_000;
const CHANGE_TIMEOUT_MS = 15_000;
/** 50 000 entries: more than GitLab pages through by number. */
const PAGES_MAX = 500;

const GONE = z.unknown().transform(() => undefined);

export function adminCalls(deps: RestCallDeps) {
  async function repeated<T>(once: () => Promise<AdminAnswer<T>>): Promise<AdminAnswer<T>> {
    for (let tries = 1; ; tries += 1) {
      const answer = await once();
      if (answer.ok || answer.refusal.code !== 'unavailable' || tries === REPEATS_MAX) return answer;
      await deps.clock.sleep(REPEAT_MS * 2 ** tries);
    }
  }

  async function ask<S extends z.ZodType>(
    topic: AdminTopic,
    call: string,
    schema: S,
    statuses: readonly number[],
    send: () => Promise<RestAnswer>,
  ): Promise<AdminAnswer<z.output<S>>> {
    const { baseUrl, clock } = deps;
    const made = { topic, call, baseUrl };
    try {
      const { status, body } = await retryWhenLimited(send, (ms) => clock.sleep(ms), PATIENCE);
      if (!statuses.includes(status)) return { ok: false, refusal: describeStatus(made, status) };
      const read = schema.safeParse(body);
      if (read.success) return { ok: true, value: read.data };
      const refusal = describeStatus(made, 200);
      return { ok: false, refusal: { ...refusal, says: `${refusal.says}: ${unreadFields(read.error)}` } };
    } catch (error) {
      if (!(error instanceof GitLabError)) throw error;
      return { ok: false, refusal: describeFailure(made, error) };
    }
  }

  return {
    read<S extends z.ZodType>(topic: AdminTopic, schema: S, path: string, query = new URLSearchParams()) {
      return ask(topic, `GET ${path}`, schema, [200], () => restCall(path, query, deps));
    },

    /** All pages, sorted by id: GitLab orders some lists in no way at all. */
    async list<T extends { readonly id: number }>(
      topic: AdminTopic,
      schema: z.ZodType<T>,
      path: string,
      fields: Readonly<Record<string, string>> = {},
    ): Promise<AdminAnswer<readonly T[]>> {
      const found: T[] = [];
      let page: string | undefined;
      for (let pages = 0; pages < PAGES_MAX; pages += 1) {
        const entries = await ask(topic, `GET ${path}`, schema.array(), [200], async () => {
          const answer = await restCall(path, pageQuery(fields, page), deps);
          page = nextPage(answer.headers);
          return answer;
        });
        if (!entries.ok) return entries;
        found.push(...entries.value);
        if (page === undefined) break;
      }
      return { ok: true, value: found.toSorted((a, b) => a.id - b.id) };
    },

    /** Sets or makes something; what is made is said once only, because the first time may have worked. */
    change<S extends z.ZodType>(
      topic: AdminTopic,
      schema: S,
      method: 'POST' | 'PUT',
      path: string,
      change?: object,
    ): Promise<AdminAnswer<z.output<S>>> {
      const once = () =>
        ask(topic, `${method} ${path}`, schema, [200, 201], () =>
          restOnce(method, path, change, CHANGE_TIMEOUT_MS, deps),
        );
      return method === 'POST' ? once() : repeated(once);
    },

    /** Deletes; what is gone already is as good. */
    remove(topic: AdminTopic, path: string): Promise<AdminAnswer<undefined>> {
      return repeated(() =>
        ask(topic, `DELETE ${path}`, GONE, [200, 202, 204, 404], () =>
          restOnce('DELETE', path, undefined, CHANGE_TIMEOUT_MS, deps),
        ),
      );
    },
  };
}

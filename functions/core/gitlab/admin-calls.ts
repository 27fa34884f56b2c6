import type { z } from 'zod';
import { GitLabError } from './gitlab.ts';
import {
  nextPage,
  pageQuery,
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

type Change = readonly [method: 'POST' | 'PUT' | 'DELETE', path: string, change?: object];

export class AdminCalls {
  readonly #deps: RestCallDeps;

  constructor(deps: RestCallDeps) {
    this.#deps = deps;
  }

  async read<S extends z.ZodType>(
    topic: AdminTopic,
    schema: S,
    path: string,
    query = new URLSearchParams(),
  ): Promise<AdminAnswer<z.output<S>>> {
    const answer = await this.#get(topic, path, query);
    return answer.ok ? checked(this.#call(topic, `GET ${path}`), schema, answer.value.body) : answer;
  }

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
      const answer = await this.#get(topic, path, pageQuery(fields, page));
      if (!answer.ok) return answer;
      const entries = checked(this.#call(topic, `GET ${path}`), schema.array(), answer.value.body);
      if (!entries.ok) return entries;
      found.push(...entries.value);
      page = nextPage(answer.value.headers);
      if (page === undefined) break;
    }
    return { ok: true, value: found.toSorted((a, b) => a.id - b.id) };
  }

  /** Sets or makes something; what is made is said once only, because the first time may have worked. */
  async change<S extends z.ZodType>(
    topic: AdminTopic,
    schema: S,
    ...request: Change
  ): Promise<AdminAnswer<z.output<S>>> {
    const answer = await this.#changed(topic, request);
    if (!answer.ok) return answer;
    const made = this.#call(topic, `${request[0]} ${request[1]}`);
    const { status, body } = answer.value;
    return status === 200 || status === 201
      ? checked(made, schema, body)
      : { ok: false, refusal: describeStatus(made, status) };
  }

  /** Deletes; what is gone already is as good. */
  async remove(topic: AdminTopic, path: string): Promise<AdminAnswer<undefined>> {
    const answer = await this.#changed(topic, ['DELETE', path]);
    if (!answer.ok) return answer;
    const { status } = answer.value;
    return (status >= 200 && status < 300) || status === 404
      ? { ok: true, value: undefined }
      : { ok: false, refusal: describeStatus(this.#call(topic, `DELETE ${path}`), status) };
  }

  async #get(topic: AdminTopic, path: string, query: URLSearchParams) {
    const made = this.#call(topic, `GET ${path}`);
    const answer = await this.#attempt(made, () => restCall(path, query, this.#deps));
    if (!answer.ok || answer.value.status === 200) return answer;
    return { ok: false, refusal: describeStatus(made, answer.value.status) } as const;
  }

  async #changed(topic: AdminTopic, [method, path, change]: Change) {
    const once = () => restOnce(method, path, change, CHANGE_TIMEOUT_MS, this.#deps);
    for (let tries = 1; ; tries += 1) {
      const answer = await this.#attempt(this.#call(topic, `${method} ${path}`), once);
      const isLost = !answer.ok && answer.refusal.code === 'unavailable';
      if (method === 'POST' || tries === REPEATS_MAX || !isLost) return answer;
      await this.#deps.clock.sleep(REPEAT_MS * 2 ** tries);
    }
  }

  #call(topic: AdminTopic, call: string): AdminCall {
    return { topic, call, baseUrl: this.#deps.baseUrl };
  }

  async #attempt<T>(made: AdminCall, ask: () => Promise<T>): Promise<AdminAnswer<T>> {
    try {
      return { ok: true, value: await retryWhenLimited(ask, (ms) => this.#deps.clock.sleep(ms), PATIENCE) };
    } catch (error) {
      if (!(error instanceof GitLabError)) throw error;
      return { ok: false, refusal: describeFailure(made, error) };
    }
  }
}

function checked<S extends z.ZodType>(made: AdminCall, schema: S, body: unknown): AdminAnswer<z.output<S>> {
  const read = schema.safeParse(body);
  if (read.success) return { ok: true, value: read.data };
  const refusal = describeStatus(made, 200);
  return { ok: false, refusal: { ...refusal, says: `${refusal.says}: ${unreadFields(read.error)}` } };
}

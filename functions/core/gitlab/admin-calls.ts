import type { z } from 'zod';
import { GitLabError } from './gitlab.ts';
import { nextPage, pageQuery, patiently, type RestCallDeps, restCall, restChange } from './rest-call.ts';

/** The subject of a call: a status means different things in different places. */
export type AdminTopic =
  | 'access token'
  | 'metadata'
  | 'licence'
  | 'flags'
  | 'settings'
  | 'controllers'
  | 'scopes'
  | 'controller tokens'
  | 'groups'
  | 'webhooks'
  | 'webhook deliveries'
  | 'runners'
  | 'projects'
  | 'pipelines';

/** GitLab did not do or say what was asked, in words, with what to do about it. */
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
  readonly call: string;
  /** Undefined: no answer, or one that cannot be read. */
  readonly status: number | undefined;
  readonly says: string;
  readonly remedy: string;
}

export type AdminAnswer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: AdminRefusal };

type Words = readonly [says: string, remedy: string];

const WITHOUT_LICENCE: Words = [
  'GitLab has no runner controllers here, or none of this number',
  'they need GitLab 18.9 or newer and an Ultimate licence; if it has both, check the number of the controller',
];
const ABSENT: Partial<Record<AdminTopic, Words>> = {
  controllers: WITHOUT_LICENCE,
  scopes: [
    'GitLab knows no such controller, runner or kind of scope',
    'scopes of single runners need GitLab 18.10; check the numbers, and that the licence is Ultimate',
  ],
  'controller tokens': WITHOUT_LICENCE,
  licence: ['GitLab tells of no licence', 'runner controllers need the Enterprise Edition with Ultimate'],
  flags: ['GitLab offers no feature flags here', 'GitLab Dedicated has none to read; ask its support'],
  settings: [
    'GitLab offers no settings of the instance here',
    'GitLab.com has none to read; send a test of the webhook',
  ],
  webhooks: [
    'GitLab has no webhooks of groups here, or the group is gone',
    'they need a Premium or Ultimate licence; check that the group still exists',
  ],
  'webhook deliveries': [
    'GitLab knows no such webhook or delivery any more',
    'run tollgate gitlab setup again',
  ],
  projects: [
    'GitLab knows no such project, or hides it from this token',
    'check its path or number, and that the token may see it',
  ],
  runners: ['GitLab knows no such runner', 'check its number: tollgate fleet ls'],
};
const CONFLICT: Partial<Record<AdminTopic, Words>> = {
  scopes: [
    'the controller has a scope already that excludes this one',
    'a controller has the whole instance or single runners, never both: remove one of them (glab runner-controller scope delete)',
  ],
};
const INVALID: Partial<Record<AdminTopic, Words>> = {
  scopes: [
    'GitLab takes no such runner',
    'only runners of the instance can be scoped, none of a group or project',
  ],
  webhooks: [
    'GitLab takes no such webhook',
    'check its address; for one in the local network an administrator allows "requests to the local network from webhooks"; a group has 50 webhooks at most',
  ],
  pipelines: [
    'GitLab starts no pipeline there',
    'the .gitlab-ci.yml of the default branch needs jobs for pipelines of source api: docs/platform.md has them',
  ],
  'webhook deliveries': [
    'the receiver did not answer with success, or the group has no job to send',
    'look at the webhook’s recent events in GitLab and at the log of the receiver',
  ],
};

export interface AdminCall {
  readonly topic: AdminTopic;
  readonly call: string;
  readonly baseUrl: string;
}

export function refusalOf(made: AdminCall, status: number): AdminRefusal {
  const [code, [says, remedy]] = wordsOf(made.topic, status);
  return { code, call: made.call, status, says: `${says} ${answer(made, status)}`, remedy };
}

const answer = ({ call, baseUrl }: AdminCall, status: number): string => `(${call} at ${baseUrl}: ${status})`;

function wordsOf(topic: AdminTopic, status: number): readonly [AdminRefusal['code'], Words] {
  if (status === 401) return ['unauthorised', UNAUTHORISED];
  if (status === 403) return ['forbidden', FORBIDDEN];
  if (status === 404 || status === 405)
    return ['absent', ABSENT[topic] ?? ['GitLab has nothing there', "check GitLab's address and version"]];
  if (status === 409)
    return ['conflict', CONFLICT[topic] ?? ['somebody else changed the same', 'run the command again']];
  if (status === 400 || status === 412 || status === 422)
    return [
      'invalid',
      INVALID[topic] ?? ['GitLab does not take what was sent', 'is this GitLab newer than Tollgate knows?'],
    ];
  if (status >= 300 && status < 400)
    return ['unreadable', ['GitLab sends elsewhere', "give the address it leads to as GitLab's own"]];
  return ['unreadable', ['the answer is not what GitLab documents', "check GitLab's address and version"]];
}

const UNAUTHORISED: Words = [
  'GitLab does not take the token',
  'it is wrong, revoked or expired: make another one',
];
const FORBIDDEN: Words = [
  'GitLab does not let the token do this',
  "it needs an administrator's token of scope api, with admin_mode where Admin Mode is on; to look, read_api is enough",
];

export function refusalOfFailure(made: AdminCall, { code, status, says }: GitLabError): AdminRefusal {
  const refusal = (as: AdminRefusal['code'], words: string, remedy: string): AdminRefusal => ({
    ...{ code: as, call: made.call, status, says: words, remedy },
  });
  if (code === 'gitlab_rate_limited')
    return refusal(
      'rate_limited',
      `GitLab asks to wait, again and again ${answer(made, 429)}`,
      'run the command again later; GITLAB_THROTTLE_USER_ALLOWLIST frees a user of limits',
    );
  if (code === 'gitlab_unavailable')
    return refusal('unavailable', says, 'run the command again: it goes on where it stopped');
  if (status !== undefined && status >= 400) return refusalOf(made, status);
  return code === 'gitlab_refused'
    ? refusal('unauthorised', 'the token is empty or no token', 'store it again')
    : refusal(
        'unreadable',
        says,
        "check GitLab's address: it must be the one of the web pages, without /api/v4",
      );
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

/** Calls of the administration: answers as values, checked once, with the waits GitLab asks for. */
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
    return answer.ok ? checked(this.#made(topic, `GET ${path}`), schema, answer.value.body) : answer;
  }

  /** All pages, sorted by id: GitLab orders some lists in no way at all. */
  async list<T extends { readonly id: number }>(
    topic: AdminTopic,
    schema: z.ZodType<T>,
    path: string,
    asked: Readonly<Record<string, string>> = {},
  ): Promise<AdminAnswer<readonly T[]>> {
    const found: T[] = [];
    let page: string | undefined;
    for (let pages = 0; pages < PAGES_MAX; pages += 1) {
      const answer = await this.#get(topic, path, pageQuery(asked, page));
      if (!answer.ok) return answer;
      const entries = checked(this.#made(topic, `GET ${path}`), schema.array(), answer.value.body);
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
    ...said: Change
  ): Promise<AdminAnswer<z.output<S>>> {
    const answer = await this.#changed(topic, said);
    if (!answer.ok) return answer;
    const made = this.#made(topic, `${said[0]} ${said[1]}`);
    const { status, body } = answer.value;
    return status === 200 || status === 201
      ? checked(made, schema, body)
      : { ok: false, refusal: refusalOf(made, status) };
  }

  /** Deletes; what is gone already is as good. */
  async remove(topic: AdminTopic, path: string): Promise<AdminAnswer<undefined>> {
    const answer = await this.#changed(topic, ['DELETE', path]);
    if (!answer.ok) return answer;
    const { status } = answer.value;
    return (status >= 200 && status < 300) || status === 404
      ? { ok: true, value: undefined }
      : { ok: false, refusal: refusalOf(this.#made(topic, `DELETE ${path}`), status) };
  }

  async #get(topic: AdminTopic, path: string, query: URLSearchParams) {
    const made = this.#made(topic, `GET ${path}`);
    const answer = await this.#asked(made, () => restCall(path, query, this.#deps));
    if (!answer.ok || answer.value.status === 200) return answer;
    return { ok: false, refusal: refusalOf(made, answer.value.status) } as const;
  }

  async #changed(topic: AdminTopic, [method, path, change]: Change) {
    const once = () => restChange(method, path, change, CHANGE_TIMEOUT_MS, this.#deps);
    for (let tries = 1; ; tries += 1) {
      const answer = await this.#asked(this.#made(topic, `${method} ${path}`), once);
      const isLost = !answer.ok && answer.refusal.code === 'unavailable';
      if (method === 'POST' || tries === REPEATS_MAX || !isLost) return answer;
      await this.#deps.clock.sleep(REPEAT_MS * 2 ** tries);
    }
  }

  #made(topic: AdminTopic, call: string): AdminCall {
    return { topic, call, baseUrl: this.#deps.baseUrl };
  }

  async #asked<T>(made: AdminCall, ask: () => Promise<T>): Promise<AdminAnswer<T>> {
    try {
      return { ok: true, value: await patiently(ask, (ms) => this.#deps.clock.sleep(ms), PATIENCE) };
    } catch (error) {
      if (!(error instanceof GitLabError)) throw error;
      return { ok: false, refusal: refusalOfFailure(made, error) };
    }
  }
}

/** Names fields in errors, never their values. */
function checked<S extends z.ZodType>(made: AdminCall, schema: S, body: unknown): AdminAnswer<z.output<S>> {
  const read = schema.safeParse(body);
  if (read.success) return { ok: true, value: read.data };
  const fields = [...new Set(read.error.issues.map(({ path }) => path.join('.') || 'the whole'))];
  const refusal = refusalOf(made, 200);
  return { ok: false, refusal: { ...refusal, says: `${refusal.says}: ${fields.slice(0, 3).join(', ')}` } };
}

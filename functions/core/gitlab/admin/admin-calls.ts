import type { z } from 'zod';
import { GitLabError } from '../gitlab.ts';
import { type RestCallDeps, restCall } from '../rest-call.ts';
import { restChange } from '../rest-change.ts';
import { nextPage, pageQuery } from '../rest-pages.ts';
import {
  type AdminAnswer,
  type AdminCall,
  type AdminTopic,
  refusalOf,
  refusalOfFailure,
} from './admin-refusal.ts';

/** A person waits, who would only run the command again. */
const WAITS_MAX = 6;
/** GitLab's limiter for single routes names no time: it counts by the minute. */
const WAIT_MS = 60_000;
const WAIT_MS_MAX = 120_000;
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

  /** All pages. */
  async list<S extends z.ZodType>(
    topic: AdminTopic,
    schema: S,
    path: string,
    asked: Readonly<Record<string, string>> = {},
  ): Promise<AdminAnswer<readonly z.output<S>[]>> {
    const found: z.output<S>[] = [];
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
    return { ok: true, value: found };
  }

  /** Sets or makes something; what is made is said once only, because the first time may have worked. */
  async change<S extends z.ZodType>(
    topic: AdminTopic,
    schema: S,
    ...said: Change
  ): Promise<AdminAnswer<z.output<S>>> {
    const answer = await this.#changed(topic, said);
    if (!answer.ok) return answer;
    const [method, path] = said;
    const { status, body } = answer.value;
    return status === 200 || status === 201
      ? checked(this.#made(topic, `${method} ${path}`), schema, body)
      : { ok: false, refusal: refusalOf(this.#made(topic, `${method} ${path}`), status) };
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
    const answer = await this.#waiting(made, () => restCall(path, query, this.#deps));
    if (!answer.ok || answer.value.status === 200) return answer;
    return { ok: false, refusal: refusalOf(made, answer.value.status) } as const;
  }

  async #changed(topic: AdminTopic, [method, path, change]: Change) {
    const once = () => restChange(method, path, change, CHANGE_TIMEOUT_MS, this.#deps);
    const say = () => this.#waiting(this.#made(topic, `${method} ${path}`), once);
    let answer = await say();
    if (method === 'POST') return answer;
    for (
      let tries = 1;
      tries < REPEATS_MAX && !answer.ok && answer.refusal.code === 'unavailable';
      tries += 1
    ) {
      await this.#deps.clock.sleep(REPEAT_MS * 2 ** tries);
      answer = await say();
    }
    return answer;
  }

  #made(topic: AdminTopic, call: string): AdminCall {
    return { topic, call, baseUrl: this.#deps.baseUrl };
  }

  /** A call answered with 429 was not executed. */
  async #waiting<T>(made: AdminCall, ask: () => Promise<T>): Promise<AdminAnswer<T>> {
    for (let waits = 0; ; waits += 1) {
      try {
        return { ok: true, value: await ask() };
      } catch (error) {
        if (!(error instanceof GitLabError)) throw error;
        if (error.code !== 'gitlab_rate_limited' || waits >= WAITS_MAX)
          return { ok: false, refusal: refusalOfFailure(made, error) };
        await this.#deps.clock.sleep(Math.min(WAIT_MS_MAX, error.retryAfterMs ?? WAIT_MS));
      }
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

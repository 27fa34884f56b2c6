/** Lists runs by GitLab: every job of every runner in a span, in pages. */

export interface RunOfJob {
  readonly jobId: number;
  readonly projectPath: string;
  readonly status: string;
  readonly failureReason: string | undefined;
  /** Unix ms. */
  readonly createdAtMs: number;
  readonly startedAtMs: number | undefined;
  readonly finishedAtMs: number | undefined;
  readonly seconds: number | undefined;
  readonly runnerId: number;
  readonly runnerTags: readonly string[];
}

interface RunsAsk {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly token: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** The first job that the books name: a job may be made long before it is started. */
  readonly downToId: number;
  readonly fetch: typeof globalThis.fetch;
  readonly sleep: (ms: number) => Promise<void>;
  /** Called for each job. */
  readonly onJob?: () => void;
}

const TIMEOUT_MS = 30_000;
const TRIES_MAX = 5;
const PAUSE_MS = 1_000;
const PAUSE_MS_MAX = 60_000;
/** A runner of a large instance has some hundred thousand jobs a month. */
const PAGES_MAX = 100_000;
/** GitLab's longest job: what started later than this before the span cannot end in it. */
const LONGEST_JOB_MS = 35 * 86_400_000;

const REMEDIES: Readonly<Record<number, string>> = {
  401: 'The token is wrong, revoked or has expired.',
  403: 'The token needs the scope read_api and an administrator.',
};

type Fields = Readonly<Record<string, unknown>>;

/** @throws {Error} where GitLab does not answer, or says no. */
export async function* runsOf(ask: RunsAsk): AsyncGenerator<RunOfJob> {
  for await (const runner of pages('/runners/all', ask)) {
    const id = Number(runner.id);
    const [detail] = (await called(`/runners/${id}`, ask)).entries;
    const tags = Array.isArray(detail?.tag_list) ? detail.tag_list.map(String) : [];
    // Newest first: what was created long before the span ends the list.
    for await (const job of pages(`/runners/${id}/jobs?order_by=id&sort=desc&pagination=keyset`, ask)) {
      const run = runOf(job, id, tags);
      if (run.createdAtMs < ask.fromMs - LONGEST_JOB_MS && run.jobId < ask.downToId) break;
      if (run.createdAtMs >= ask.toMs) continue;
      ask.onJob?.();
      yield run;
    }
  }
}

function runOf(job: Fields, runnerId: number, runnerTags: readonly string[]): RunOfJob {
  const project = (job.project ?? {}) as Fields;
  return {
    ...{
      jobId: Number(job.id),
      projectPath: String(project.path_with_namespace ?? ''),
      runnerId,
      runnerTags,
    },
    status: String(job.status),
    failureReason: typeof job.failure_reason === 'string' ? job.failure_reason : undefined,
    createdAtMs: instant(job.created_at) ?? 0,
    startedAtMs: instant(job.started_at),
    finishedAtMs: instant(job.finished_at),
    seconds: typeof job.duration === 'number' ? job.duration : undefined,
  };
}

const instant = (value: unknown): number | undefined =>
  typeof value === 'string' ? Date.parse(value) : undefined;

async function* pages(path: string, ask: RunsAsk): AsyncGenerator<Fields> {
  let next: string | undefined = `${path}${path.includes('?') ? '&' : '?'}per_page=100`;
  for (let page = 0; next !== undefined && page < PAGES_MAX; page += 1) {
    const answer: Page = await called(next, ask);
    yield* answer.entries;
    next = answer.query === undefined ? undefined : `${path.split('?')[0]}?${answer.query}`;
  }
}

interface Page {
  readonly entries: readonly Fields[];
  /** The query of the next page. Nothing else of a link counts, so the token goes nowhere else. */
  readonly query: string | undefined;
}

async function called(path: string, ask: RunsAsk): Promise<Page> {
  for (let tries = 1; ; tries += 1) {
    const { pauseMs, page, why } = await once(path, ask);
    if (page !== undefined) return page;
    if (tries === TRIES_MAX)
      throw new Error(
        `GitLab at ${ask.baseUrl} did not answer after ${TRIES_MAX} tries: ${why}. Try again later.`,
      );
    await ask.sleep(Math.min(PAUSE_MS_MAX, Math.max(pauseMs, PAUSE_MS * 2 ** (tries - 1))));
  }
}

/** Without a page: it is worth another try. */
async function once(
  path: string,
  { baseUrl, token, fetch }: RunsAsk,
): Promise<{ readonly pauseMs: number; readonly page?: Page; readonly why?: string }> {
  let response: Response;
  let body: unknown;
  try {
    response = await fetch(`${baseUrl}/api/v4${path}`, {
      headers: { 'private-token': token },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status === 429 || response.status >= 500)
      return {
        pauseMs: 1_000 * (Number(response.headers.get('retry-after')) || 0),
        why: `it answered ${response.status}`,
      };
    body = await response.json();
  } catch (error) {
    return { pauseMs: 0, why: error instanceof Error ? error.message : String(error) };
  }
  if (!response.ok)
    throw new Error(
      `GitLab at ${baseUrl} answered GET ${path.split('?')[0]} with ${response.status}. ${REMEDIES[response.status] ?? "Check GitLab's address and version."}`,
    );
  const link = /<[^>]*\?([^>]*)>;\s*rel="?next"?/.exec(response.headers.get('link') ?? '')?.[1];
  const entries = (Array.isArray(body) ? body : [body]) as readonly Fields[];
  return { pauseMs: 0, page: { entries, query: link } };
}

/**
 * The local router in a process of its own, so that the bench measures the relay's side alone. Told what to do over
 * IPC: `{ask: n, inFlight: k}` asks n questions k at a time and answers with how long that took and what came back.
 */
import { fileURLToPath } from 'node:url';
import { startLocalRouter } from '../../local/router/local-router.ts';
import { obeyParent, startBenchProcess, tellParent } from './bench-process.ts';
import { benchPlace } from './bench-rules.ts';
import { median } from './figure.ts';

/** The controllers of the bench's router, by id: so many that all sides of a comparison can stay connected. */
export const BENCH_TOKENS = {
  1: 'glrct-bench-1',
  2: 'glrct-bench-2',
  3: 'glrct-bench-3',
  4: 'glrct-bench-4',
} as const;

export type BenchController = keyof typeof BENCH_TOKENS;

interface Ask {
  readonly ask: number;
  readonly inFlight: number;
  /** Streams that must wait before the first question. */
  readonly streams: number;
  readonly firstJobId: number;
  /** The one that is asked; the others wait. @default 1 */
  readonly controller?: BenchController;
  /** The jobs are of so many roots in turn. @default 1 */
  readonly roots?: number;
}

interface Asked {
  readonly seconds: number;
  readonly admitted: number;
  readonly rejected: number;
  readonly failed: number;
  /** From question to answer at the router, ms; half of them took no longer. */
  readonly p50Ms: number;
}

export interface RouterProcess {
  readonly grpcUrl: string;
  readonly wsUrl: string;
  ask(ask: Ask): Promise<Asked>;
  resetConnections(): Promise<void>;
  stop(): void;
}

type Command = { readonly kind: 'ask'; readonly ask: Ask } | { readonly kind: 'reset' };

/** Starts the child and waits until it listens. */
export async function startRouterProcess(): Promise<RouterProcess> {
  const child = startBenchProcess(fileURLToPath(import.meta.url));
  const urls = await child.next<{ grpcUrl: string; wsUrl: string }>();
  return {
    ...urls,
    ask: (ask) => child.send<Asked>({ kind: 'ask', ask }),
    resetConnections: () => child.send<void>({ kind: 'reset' }),
    stop: child.stop,
  };
}

/** A question of a real job's size, about 1.8 KB with 30 variables, under the three limits of the bench's n-th root. */
export const benchQuestion = (jobId: number, { root, group, project } = benchPlace(0)) => ({
  id: jobId,
  job_info: {
    id: jobId,
    name: `integration test: [postgres, ${jobId % 8}]`,
    stage: 'test',
    pipeline_id: 8_000_000 + Math.floor(jobId / 50),
    project_id: project,
    project_full_path: `root-${root}/team-${group}/service`,
    namespace_id: group,
    root_namespace_id: root,
    user_id: 7,
    tags: ['linux', 'docker', 'medium'],
  },
  git_info: { ref: 'main', ref_type: 'branch', protected: true },
  runner_info: { id: 12, timeout: 3600, uuid: 'b7a1c9', tags: ['linux', 'docker', 'medium'] },
  variables: Array.from({ length: 30 }, (_, index) => ({
    key: index < 20 ? (CONTEXT_VARIABLES[index] ?? `APP_SETTING_${index}`) : `APP_SETTING_${index}`,
    value: `a value of some length for variable ${index}`,
    public: index < 20,
  })),
  image: { name: 'registry.example.com/acme/build/node:24' },
  services: [{ name: 'postgres:17', alias: 'db' }],
});

const CONTEXT_VARIABLES = [
  'CI_PIPELINE_SOURCE',
  'CI_COMMIT_REF_NAME',
  'CI_COMMIT_BRANCH',
  'CI_DEFAULT_BRANCH',
  'CI_PROJECT_NAME',
  'CI_JOB_STAGE',
];

async function serve(): Promise<void> {
  const router = await startLocalRouter({
    controllers: CONTROLLERS.map((id) => ({ id, tokens: [BENCH_TOKENS[id]], state: 'disabled' })),
  });

  async function ask({
    ask: count,
    inFlight,
    streams,
    firstJobId,
    controller = 1,
    roots = 1,
  }: Ask): Promise<Asked> {
    for (const id of CONTROLLERS) {
      router.changeController(id, { state: id === controller ? 'enabled' : 'disabled' });
    }
    const questions = Array.from({ length: count }, (_, index) =>
      router.encode(benchQuestion(firstJobId + index, benchPlace(index % roots))),
    );
    await router.until(() => router.waitingStreams(controller) >= streams);
    const results = { admitted: 0, rejected: 0, failed: 0, disabled: 0 };
    const latenciesMs: number[] = [];
    let next = 0;
    const startedMs = performance.now();
    const asker = async (): Promise<void> => {
      for (;;) {
        const bytes = questions[next];
        next += 1;
        if (bytes === undefined) return;
        const askedMs = performance.now();
        results[(await router.admit({}, { bytes })).result] += 1;
        latenciesMs.push(performance.now() - askedMs);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, asker));
    const { admitted, rejected, failed } = results;
    const seconds = (performance.now() - startedMs) / 1000;
    const p50Ms = median(latenciesMs.toSorted((a, b) => a - b));
    return { seconds, admitted, rejected, failed, p50Ms };
  }

  obeyParent((command: Command) => (command.kind === 'ask' ? ask(command.ask) : router.resetConnections()));
  tellParent({ grpcUrl: router.grpcUrl, wsUrl: router.wsUrl });
}

const CONTROLLERS: readonly BenchController[] = [1, 2, 3, 4];

if (import.meta.main) await serve();

/**
 * The local router in a process of its own, so that the bench measures the relay's side alone. Told what to do over
 * IPC: `{ask: n, inFlight: k}` asks n questions k at a time and answers with how long that took and what came back.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startLocalRouter } from '../local-router/local-router.ts';
import { place } from './bench-rules.ts';

export const BENCH_TOKEN = 'glrct-bench';

interface Ask {
  readonly ask: number;
  readonly inFlight: number;
  /** Streams that must wait before the first question. */
  readonly streams: number;
  readonly firstJobId: number;
}

export interface Asked {
  readonly seconds: number;
  readonly admitted: number;
  readonly rejected: number;
  readonly failed: number;
}

export interface RouterProcess {
  readonly grpcUrl: string;
  readonly wsUrl: string;
  ask(ask: Ask): Promise<Asked>;
  resetConnections(): Promise<void>;
  /** Resolves once the last side's streams are gone: questions must not meet them. */
  emptied(): Promise<void>;
  stop(): void;
}

type Command = { readonly kind: 'ask'; readonly ask: Ask } | { readonly kind: 'reset' | 'emptied' };

/** Starts the child and waits until it listens. */
export async function startRouterProcess(): Promise<RouterProcess> {
  const child = fork(fileURLToPath(import.meta.url), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const next = <T>(): Promise<T> =>
    new Promise((resolve, reject) => {
      const ended = (code: number | null): void =>
        reject(new Error(`the router process ended with code ${code}`));
      child.once('exit', ended);
      child.once('message', (message) => {
        child.removeListener('exit', ended);
        resolve(message as T);
      });
    });
  const send = <T>(command: Command): Promise<T> => {
    const answer = next<T>();
    child.send(command);
    return answer;
  };
  const urls = await next<{ grpcUrl: string; wsUrl: string }>();
  return {
    ...urls,
    ask: (ask) => send<Asked>({ kind: 'ask', ask }),
    resetConnections: () => send<void>({ kind: 'reset' }),
    emptied: () => send<void>({ kind: 'emptied' }),
    stop: () => void child.kill(),
  };
}

/** A question of a real job's size, about 1.8 KB with 30 variables, under the three limits of the bench's first root. */
export const benchQuestion = (jobId: number) => ({
  id: jobId,
  job_info: {
    id: jobId,
    name: `integration test: [postgres, ${jobId % 8}]`,
    stage: 'test',
    pipeline_id: 8_000_000 + Math.floor(jobId / 50),
    project_id: place(0).project,
    project_full_path: 'acme/payments/ledger',
    namespace_id: place(0).group,
    root_namespace_id: place(0).root,
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
    controllers: [{ id: 1, tokens: [BENCH_TOKEN], state: 'enabled' }],
  });
  const answer = (message: unknown): void => void process.send?.(message);

  async function ask({ ask: count, inFlight, streams, firstJobId }: Ask): Promise<Asked> {
    const questions = Array.from({ length: count }, (_, index) =>
      router.encode(benchQuestion(firstJobId + index)),
    );
    await router.until(() => router.waitingStreams() >= streams);
    const results = { admitted: 0, rejected: 0, failed: 0, disabled: 0 };
    let next = 0;
    const startedMs = performance.now();
    const asker = async (): Promise<void> => {
      for (;;) {
        const bytes = questions[next];
        next += 1;
        if (bytes === undefined) return;
        results[(await router.admit({}, { bytes })).result] += 1;
      }
    };
    await Promise.all(Array.from({ length: inFlight }, asker));
    const { admitted, rejected, failed } = results;
    return { seconds: (performance.now() - startedMs) / 1000, admitted, rejected, failed };
  }

  const obey = async (command: Command): Promise<unknown> => {
    switch (command.kind) {
      case 'ask':
        return ask(command.ask);
      case 'reset':
        return router.resetConnections();
      case 'emptied':
        return router.until(() => router.waitingStreams() === 0, { what: 'the last side to be gone' });
    }
  };
  process.on('message', (command: Command) => {
    obey(command).then(
      (result) => answer(result ?? {}),
      (error) => {
        console.error(error);
        process.exit(1);
      },
    );
  });
  process.on('disconnect', () => process.exit(0));
  answer({ grpcUrl: router.grpcUrl, wsUrl: router.wsUrl });
}

if (import.meta.main) await serve();

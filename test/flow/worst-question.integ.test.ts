import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { benchMessage } from '../../scripts/proof/bench/bench-message.ts';
import { TOKEN } from '../support/flow/flow.ts';
import { patientRouter } from '../support/flow/patient-router.ts';
import { hostileQuestionBytes } from '../support/relay/hostile-questions.ts';

const ROLES = fileURLToPath(new URL('../../scripts/proof/bench/roles.ts', import.meta.url));
/** Little enough that a question of which every field becomes an object would end the process. */
const HEAP_MEGABYTES = 96;
/** Includes the way of 4 MiB through gRPC and TCP; read in whole, the worst of them cost as much as a thousand. */
const TYPICAL_QUESTIONS_MAX = 120;

/** A whole relay, with the admit function and a ledger in memory inside, in a small heap. */
async function startRelay(url: string) {
  const child = fork(ROLES, ['inline-relay'], {
    env: { ...process.env, BENCH_ROUTER: url, BENCH_TOKEN: TOKEN },
    execArgv: [`--max-old-space-size=${HEAP_MEGABYTES}`],
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  onTestFinished(() => void child.kill());
  const ended = new Promise<never>((_, reject) => {
    child.once('exit', (code) => reject(new Error(`the relay ended with code ${code}`)));
  });
  // The one that ends it after the test is not waited for.
  ended.catch(() => {});
  const said = async (): Promise<unknown> => {
    const [message] = await Promise.race([once(child, 'message'), ended]);
    return message;
  };
  await said();
  return async (): Promise<number> => {
    const answer = said();
    child.send('cpu');
    return (await answer) as number;
  };
}

test('whatever one legal question is full of, it costs its neighbours little, and they are answered', async () => {
  const router = await patientRouter({ controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }] });
  onTestFinished(() => router.close());
  const cpuMicros = await startRelay(router.grpcUrl ?? '');
  await router.until(() => router.waitingStreams() >= 16);
  let jobId = 0;
  const askTypical = async (questions: number): Promise<void> => {
    for (let asked = 0; asked < questions; asked += 1) {
      jobId += 1;
      expect((await router.admit(benchMessage(jobId))).result).toBe('admitted');
    }
  };
  const costOf = async (work: () => Promise<unknown>): Promise<number> => {
    const before = await cpuMicros();
    await work();
    return (await cpuMicros()) - before;
  };

  await askTypical(150);
  const typicalMicros = (await costOf(() => askTypical(150))) / 150;

  for (const [full, bytes] of Object.entries(hostileQuestionBytes(router.schema.request))) {
    const micros = await costOf(async () => {
      const worst = router.admit({}, { bytes });
      await askTypical(2);
      expect(['admitted', 'rejected'], full).toContain((await worst).result);
    });
    expect(micros / typicalMicros, full).toBeLessThan(TYPICAL_QUESTIONS_MAX);
  }
});

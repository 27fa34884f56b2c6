import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const MODULE = fileURLToPath(new URL('../../../../scripts/local/dynamodb-local.ts', import.meta.url));

const answers = async (endpoint: string): Promise<boolean> => {
  try {
    await fetch(endpoint, { signal: AbortSignal.timeout(1000) });
    return true;
  } catch {
    return false;
  }
};

test('the database ends with the program that started it, even one that was killed', async () => {
  const program = `
    const { startDynamoDbLocal } = await import(${JSON.stringify(MODULE)});
    const { endpoint } = await startDynamoDbLocal();
    console.log(endpoint);
    setInterval(() => {}, 1000);
  `;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [endpoint] = (await once(createInterface(parent.stdout), 'line')) as [string];
  expect(await answers(endpoint)).toBe(true);
  parent.kill('SIGKILL');
  // The shell that holds the pipe needs an instant; a database that stays makes the test time out.
  while (await answers(endpoint)) await new Promise((resolve) => setImmediate(resolve));
});

import type { TestProject } from 'vitest/node';
import { type DynamoDbLocal, startDynamoDbLocal } from '../../scripts/local/dynamodb-local.ts';
import { useRunFolder } from './run-folders.ts';

declare module 'vitest' {
  interface ProvidedContext {
    readonly dynamoDbEndpoint: DynamoDbLocal['endpoint'];
  }
}

/** One DynamoDB Local for all files: to start one for each took longer than many of their tests. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const removeFolder = useRunFolder();
  const database = await startDynamoDbLocal();
  provide('dynamoDbEndpoint', database.endpoint);
  return async () => {
    await database.stop();
    removeFolder();
  };
}

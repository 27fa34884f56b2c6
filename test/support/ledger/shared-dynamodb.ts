import { inject } from 'vitest';

/**
 * Where the run's DynamoDB Local answers. Files share it and run at the same time: each uses a table of its own name.
 *
 * @returns `http://127.0.0.1:8000`
 */
export const sharedDynamoDb = (): string => inject('dynamoDbEndpoint');

import type { ConsumedCapacity, DynamoDBClient } from '@aws-sdk/client-dynamodb';

/** Asks the service with every transaction what it took, and adds it up. */
export function consumedUnits(client: DynamoDBClient): () => number {
  let units = 0;
  client.middlewareStack.add(
    (next, context) => async (args) => {
      if (context.commandName === 'TransactWriteItemsCommand') {
        Object.assign(args.input, { ReturnConsumedCapacity: 'INDEXES' });
      }
      const result = await next(args);
      const output = result.output as { readonly ConsumedCapacity?: readonly ConsumedCapacity[] };
      for (const { CapacityUnits = 0 } of Array.isArray(output.ConsumedCapacity)
        ? output.ConsumedCapacity
        : []) {
        units += CapacityUnits;
      }
      return result;
    },
    { step: 'initialize', name: 'consumedUnits' },
  );
  return () => units;
}

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { isRecord } from '../../../policies/document/reading.ts';

/**
 * Makes every write fail that could leave an item without its version, whoever wrote the program that makes it: a put
 * without the attribute, and an update that neither sets it nor insists that the item is there already.
 */
export function refuseUnversionedWrites(client: DynamoDBClient): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      for (const write of writesIn({ ...args.input })) {
        if (!isVersioned(write)) throw new Error(`written without its version: ${JSON.stringify(write)}`);
      }
      return next(args);
    },
    { step: 'initialize', name: 'refuseUnversionedWrites' },
  );
}

type Input = Readonly<Record<string, unknown>>;

function writesIn(input: Input): readonly Input[] {
  const { TransactItems } = input;
  if (!Array.isArray(TransactItems)) return [input];
  return TransactItems.filter(isRecord).flatMap(({ Put, Update }) => [Put, Update].filter(isRecord));
}

function isVersioned({ Item, UpdateExpression, ConditionExpression }: Input): boolean {
  if (isRecord(Item)) return isRecord(Item.v) && Number(Item.v.N) >= 1;
  if (typeof UpdateExpression !== 'string') return true;
  return (
    /#v = if_not_exists\(#v, :\d+\)/.test(UpdateExpression) ||
    (typeof ConditionExpression === 'string' && /^\(?attribute_exists\(#pk\)/.test(ConditionExpression))
  );
}

/** The table as deployed programs ask it, in DynamoDB's calls; what is answered comes from the twin in memory. */
import {
  type Answers,
  type ItemTable,
  MemoryTable,
  type Operations,
  tableOn,
} from '../../../functions/core/store/index.ts';

const TABLE_NAME = 'way';

export function clientTable(): ItemTable {
  const twin = new MemoryTable();
  return {
    tableName: TABLE_NAME,
    send: (name, operation, limit) => {
      const call = async () => CLIENT_ANSWERS[name](await twin.send(name, operation));
      return tableOn(call, TABLE_NAME).send(name, operation, limit);
    },
  };
}

const pageOf = ({ items, next }: Answers['Query']) => ({ Items: items, LastEvaluatedKey: next });

/** @throws {Error} for a write that is refused: no way begins with one. */
function written({ outcome }: Answers['PutItem'] | Answers['TransactWriteItems']): object {
  if (outcome !== 'written') throw new Error(`the table answered ${outcome}`);
  return {};
}

const CLIENT_ANSWERS: { readonly [Name in keyof Operations]: (answer: Answers[Name]) => object } = {
  GetItem: (item) => ({ Item: item }),
  BatchGetItem: ({ items }) => ({ Responses: { [TABLE_NAME]: items } }),
  Query: pageOf,
  Scan: pageOf,
  PutItem: written,
  UpdateItem: written,
  DeleteItem: () => ({}),
  TransactWriteItems: written,
};

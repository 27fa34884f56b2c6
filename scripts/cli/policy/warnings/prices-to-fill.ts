import { entryOf, type Warning, type WrittenDocuments } from './warning.ts';

/** Version of drafted prices, which are all 0 until edited. */
export const PRICES_TO_FILL = 'to-be-filled';

/** Finds unedited prices of tollgate init: money limits count nothing by them. */
export function pricesToFill({ policy, policyDocument }: WrittenDocuments): readonly Warning[] {
  const { prices } = entryOf(policyDocument);
  // A list of versions was edited deliberately.
  if (Array.isArray(prices) || policy.prices.version !== PRICES_TO_FILL) return [];
  return policy.prices.classes.map(({ name }, at) => ({
    path: ['prices', 'classes', at, 'rate_per_minute'],
    message: `the price of class ${name} is still to be filled in, so jobs there cost what is written and nobody meant it; write it, and another version than ${PRICES_TO_FILL} when all are`,
  }));
}

/** What others may use of this folder; its README says what it promises. */
export { createEstimateCache, type EstimateCounts } from './estimate-cache.ts';
export { dynamoEstimateSource, type EstimateSource } from './estimate-source.ts';
export {
  decodeEstimates,
  ESTIMATES_REV,
  encodeEstimates,
  estimatesKey,
  type StoredEstimates,
} from './estimates-item.ts';

/** Public exports of this folder; its README lists its promises. */
export { createEstimateCache, type EstimateCounts } from './estimate-cache.ts';
export { dynamoEstimateSource, type EstimateSource } from './estimate-source.ts';
export {
  decodeEstimates,
  ESTIMATES_REV,
  encodeEstimates,
  estimatesKey,
  type StoredEstimates,
} from './estimates-item.ts';

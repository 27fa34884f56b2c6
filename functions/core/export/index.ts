/** Public exports of this folder; its README lists its promises. */
export { type ExportResult, exportImages, s3Objects } from './export-images.ts';

import { resolve } from 'node:path';
import { pipelineFile } from '../cli/check/pipeline-file.ts';

/**
 * Returns the file to replay: of the pipeline asked for, else of the sample.
 *
 * @throws {UsageError} if the one asked for does not exist, or is a folder without a pipeline.
 */
export const choosePipeline = (asked: string | undefined, root: string): string =>
  asked === undefined
    ? resolve(root, 'scripts/local/pipelines/web-shop')
    : pipelineFile(asked, process.cwd()).file;

/** `micros` are millionths of the deployment's one currency, `bytes` those of memory, `starts` jobs that were started. */
export type Unit = 'micros' | 'seconds' | 'jobs' | 'millicpu' | 'bytes' | 'starts';

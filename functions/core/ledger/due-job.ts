export interface DueJob {
  readonly jobId: number;
  readonly dueAtMs: number;
}

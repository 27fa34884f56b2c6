/** Calls `work` every so often, never twice at once. A failure is told by the next one that works. */
export function repeat(everyMs: number, work: () => Promise<void>): { stop(): Promise<void> } {
  let busy: Promise<void> | undefined;
  const timer = setInterval(() => {
    busy ??= work()
      .catch(() => {})
      .finally(() => {
        busy = undefined;
      });
  }, everyMs);
  return {
    async stop() {
      clearInterval(timer);
      await busy;
    },
  };
}
